import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { admitted, refused, sideEffects, type Targets } from '../plugins/telemetry-duckdb/support/attacks.ts';
import { callTool, countRows, type Called } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

/*
 * Two organizations, one gateway, everything over HTTP with real keys. Whatever the attacker sends, nothing of the
 * victim's, of the file system or of the environment comes back, and the owner finds all of it where it was.
 */

const canary = (): string => `canary-${randomBytes(9).toString('hex')}`;
const rowCanary = canary();
const fileCanary = canary();
const environmentCanary = canary();
const titleCanary = canary();
const victimSpans = 1_237;

const ingest = z.object({ token: z.string() });
const started = z.object({ chat_id: z.string() });

describe('two organizations on one gateway', () => {
  let gateway: RunningGateway;
  let directory = '';
  let [attacker, victim] = ['', ''];
  let victimToken = '';
  let victimChat = '';
  let targets: Targets;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await writeFile(
      join(directory, 'sightline.config.json'),
      '{"limits":{"requestsPerMinute":100000,"queryTimeoutSeconds":1}}',
    );
    await writeFile(join(directory, 'secret.csv'), `secret\n${fileCanary}\n`);
    gateway = await startGateway(directory, {
      args: ['--no-demo', '--config', join(directory, 'sightline.config.json')],
      env: { SIGHTLINE_CANARY: environmentCanary },
    });
    attacker = await exchange(gateway.url, await createKey(directory, 'attacker'));
    victim = await exchange(gateway.url, await createKey(directory, 'victim'));
    const organizations = await sightlineJson(
      directory,
      ['org', 'list'],
      z.array(z.object({ id: z.string(), name: z.string() })),
    );
    const id = organizations.find(({ name }) => name === 'victim')?.id ?? '';
    for (const organization of ['attacker', 'victim']) {
      const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', organization], ingest);
      if (organization === 'victim') victimToken = token;
      const [name, count] = organization === 'victim' ? [rowCanary, victimSpans] : ['own', 1];
      const response = await fetch(`${gateway.url}/v1/traces`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(spans(name, count)),
      });
      expect(response.status).toBe(200);
    }
    await countRows(gateway.url, victim, 'otel.spans', victimSpans);
    await countRows(gateway.url, attacker, 'otel.spans', 1);
    const chat = await callTool(gateway.url, victim, 'start_chat', { message: titleCanary, title: titleCanary });
    victimChat = started.parse(chat.structured).chat_id;
    const incidents = join(directory, 'incidents.json');
    await writeFile(
      incidents,
      JSON.stringify([
        {
          title: titleCanary,
          severity: 'high',
          source: 'test',
          started_at: new Date().toISOString(),
          document: titleCanary,
        },
      ]),
    );
    await sightlineJson(directory, ['incident', 'import', incidents, '--org', 'victim'], z.unknown());
    targets = {
      victim: id,
      victimFile: join(directory, 'telemetry', id, 'telemetry.duckdb'),
      file: join(directory, 'secret.csv'),
      directory,
    };
  });

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  const findings = (sent: string, { raw, status }: Called): string[] => [
    ...[rowCanary, fileCanary, environmentCanary, titleCanary, victimToken, `"${victimSpans}"`, `[${victimSpans}]`]
      .filter((secret) => raw.includes(secret) && !sent.includes(secret))
      .map((secret) => `${sent.slice(0, 200)} → ${secret}`),
    ...(status >= 429 ? [`${sent.slice(0, 200)} → ${status}`] : []),
  ];

  it('hostile statements find nothing, and the owner finds everything', async () => {
    const statements = [...refused(targets), ...sideEffects, ...admitted(targets)];
    expect(statements.length).toBeGreaterThan(150);
    const found: string[] = [];
    for (const sql of statements)
      found.push(...findings(sql, await callTool(gateway.url, attacker, 'query_otel', { sql })));
    expect(found).toEqual([]);

    // The owner, by the same way, on the same gateway process.
    const owner = await callTool(gateway.url, victim, 'query_otel', {
      sql: `SELECT count(*) AS n, count(*) FILTER (WHERE name = '${rowCanary}') AS named FROM otel.spans`,
    });
    expect(owner.structured).toMatchObject({ rows: [[String(victimSpans), String(victimSpans)]] });
    expect(gateway.process.exitCode).toBeNull();
    expect(await countRows(gateway.url, attacker, 'otel.spans', 1)).toBe(1);
  }, 180_000);

  it('another organization’s ids answer exactly as ids that do not exist', async () => {
    const elsewhere = victimChat.slice(0, -1) + (victimChat.endsWith('0') ? '1' : '0');
    const normal = (called: Called, id: string): string =>
      called.text.replaceAll(id, 'ID').replaceAll(/"request_id":"[^"]*"/g, '');
    for (const [tool, args] of [
      ['read_chat', (id: string) => ({ chat_id: id })],
      ['send_chat_reply', (id: string) => ({ chat_id: id, message: 'hello' })],
    ] as const) {
      const theirs = await callTool(gateway.url, attacker, tool, args(victimChat));
      const nobodys = await callTool(gateway.url, attacker, tool, args(elsewhere));
      expect(theirs.isError).toBe(true);
      expect(normal(theirs, victimChat)).toBe(normal(nobodys, elsewhere));
    }
    const incident = await callTool(gateway.url, attacker, 'read_incident', { incident_id: 'INC-1' });
    expect(incident).toMatchObject({ isError: true });
    for (const tool of ['list_chats', 'list_incidents', 'get_ingest_config']) {
      expect(findings(tool, await callTool(gateway.url, attacker, tool, {}))).toEqual([]);
    }
    // The positive control: the owner reads all three.
    for (const [tool, args] of [
      ['read_chat', { chat_id: victimChat }],
      ['read_incident', { incident_id: 'INC-1' }],
      ['list_chats', {}],
    ] as const) {
      expect((await callTool(gateway.url, victim, tool, args)).raw).toContain(titleCanary);
    }
  });

  it('an ingest token is for ingest alone, and an access token is not for ingest', async () => {
    expect((await callTool(gateway.url, victimToken, 'query_otel', { sql: 'SELECT 1' })).status).toBe(401);
    const response = await fetch(`${gateway.url}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${victim}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(401);
  });
});

function spans(name: string, count: number): object {
  const start = BigInt(Date.now() - 60_000) * 1_000_000n;
  return {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: name } }] },
        scopeSpans: [
          {
            spans: Array.from({ length: count }, (_, index) => ({
              traceId: randomBytes(16).toString('hex'),
              spanId: randomBytes(8).toString('hex'),
              name,
              kind: 2,
              startTimeUnixNano: String(start + BigInt(index)),
              endTimeUnixNano: String(start + BigInt(index) + 1_000_000n),
              attributes: [{ key: 'secret', value: { stringValue: name } }],
            })),
          },
        ],
      },
    ],
  };
}

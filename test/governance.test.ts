import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

/* A gateway whose config rules what keys may read and how far back a query reads, from outside, on the embedded engine. */

const secret = `canary-${randomBytes(9).toString('hex')}`;
const email = `${secret}@example.org`;

const config = {
  limits: { defaultWindowHours: 2, requestsPerMinute: 100_000 },
  governance: {
    rules: [
      { roles: ['key'], tables: ['logs'], columns: ['body'], action: 'deny' },
      { roles: ['key'], columns: ['event_name'], action: 'mask' },
      { roles: ['member'], attributes: ['user.email'], action: 'hash' },
      { attributes: ['http.request.header.*'], action: 'deny' },
    ],
  },
  costGuard: { mode: 'enforce', dailyBytes: '50GB' },
};

const answer = z.object({
  columns: z.array(z.object({ name: z.string() })),
  rows: z.array(z.array(z.unknown())),
  window: z.object({ start: z.string().optional(), end: z.string().optional(), source: z.string() }).optional(),
  warnings: z.array(z.string()),
});

describe('a gateway with rules', () => {
  let gateway: RunningGateway;
  let directory = '';
  const tokens: Record<string, string> = {};
  const text = async (sql: string, more: object = {}, organization = 'acme'): Promise<string> =>
    (await callTool(gateway.url, tokens[organization] ?? '', 'query_otel', { sql, ...more })).raw;
  const query = async (sql: string, more: object = {}, organization = 'acme') => {
    const called = await callTool(gateway.url, tokens[organization] ?? '', 'query_otel', { sql, ...more });
    if (called.isError) throw new Error(called.text);
    return answer.parse(called.structured);
  };

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const file = join(directory, 'sightline.config.json');
    await writeFile(file, JSON.stringify(config));
    gateway = await startGateway(directory, { args: ['--no-demo', '--config', file] });
    for (const organization of ['acme', 'globex']) {
      tokens[organization] = await exchange(gateway.url, await createKey(directory, organization));
      const ingest = await sightlineJson(
        directory,
        ['ingest', 'show', '--org', organization],
        z.object({ token: z.string() }),
      );
      const response = await fetch(`${gateway.url}/v1/logs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ingest.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(logs()),
      });
      expect(response.status).toBe(200);
      for (let attempt = 0; attempt < 100; attempt += 1) {
        const { rows } = await query('SELECT count(*) FROM otel.logs', { start: 'now-1d' }, organization);
        if (rows[0]?.[0] === '2') break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }, 240_000);

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  it('reads as far back as the config, the statement or the arguments say, and tells which', async () => {
    const all = 'SELECT count(*) FROM otel.logs';
    const byDefault = await query(all);
    expect(byDefault).toMatchObject({ rows: [['1']], window: { source: 'default' } });
    expect(byDefault.warnings).toEqual([expect.stringContaining('2 hours are read')]);
    const named = await query(`${all} WHERE time > now() - INTERVAL '4 hours'`);
    expect(named).toMatchObject({ rows: [['2']], window: { source: 'predicates' }, warnings: [] });
    const asked = await query(all, { start: 'now-4h' });
    expect(asked).toMatchObject({ rows: [['2']], window: { source: 'argument' }, warnings: [] });
    expect(await query('SELECT 1')).not.toHaveProperty('window');
  });

  it('says whose fault it is that a column is missing', async () => {
    const told = await text('SELECT l.body FROM otel.logs l');
    expect(told).toContain('Your role may not read the column');
    expect(told).toContain('unknown_column');
    expect(await text('SELECT bodi FROM otel.logs')).not.toMatch(/\bbody\b/);
  });

  it('masks, hashes and leaves out', async () => {
    const read = `SELECT event_name, attributes['user.email'], attributes['http.request.header.cookie'] FROM otel.logs`;
    const { rows } = await query(read);
    expect(rows).toEqual([['***', expect.stringMatching(/^[0-9a-f]{16}$/), null]]);
    // The same value is the same hash, so that what belongs together can be counted; elsewhere it is another.
    expect((await query(read)).rows).toEqual(rows);
    const theirs = await query(read, {}, 'globex');
    expect(theirs.rows[0]?.[1]).toMatch(/^[0-9a-f]{16}$/);
    expect(theirs.rows[0]?.[1]).not.toBe(rows[0]?.[1]);
  });

  it.each([
    'SELECT * FROM otel.logs',
    'SELECT l FROM otel.logs l',
    'SELECT to_json(l) FROM otel.logs l',
    "SELECT COLUMNS('bo.*') FROM otel.logs",
    'SELECT COLUMNS(*) FROM otel.logs',
    'SELECT * REPLACE (body AS severity_text) FROM otel.logs',
    'SELECT "BODY" FROM otel.logs',
    'FROM otel.logs',
    'SELECT attributes FROM otel.logs',
    'SELECT map_values(attributes) FROM otel.logs',
    'SELECT unnest(map_entries(attributes)) FROM otel.logs',
    `SELECT * FROM otel.logs l, LATERAL (SELECT l.body) AS x(b)`,
    'WITH logs AS (SELECT * FROM otel.logs) SELECT body FROM logs',
    'SELECT (SELECT body FROM otel.logs LIMIT 1)',
    'SELECT count(*) FROM otel.logs WHERE body::INT = 1',
    'SELECT 1 FROM otel.logs ORDER BY body',
    'SELECT event_name::INT FROM otel.logs',
    "SELECT attributes['event.name'] FROM otel.logs",
    "SELECT attributes['user.email']::INT FROM otel.logs",
    'SHOW ATTRIBUTES FROM otel.logs',
    "SHOW ATTRIBUTES FROM otel.logs LIKE 'http%'",
    'DESCRIBE otel.logs',
  ])('shows nothing of what is ruled to: %s', async (sql) => {
    const told = await text(sql, { start: 'now-1d' });
    expect(told).not.toContain(secret);
    expect(told).not.toContain('http.request.header.cookie');
  });

  it('shows the agent no more, since all read what it finds', async () => {
    const token = tokens['acme'] ?? '';
    const { structured } = await callTool(gateway.url, token, 'start_chat', { message: 'Why do logs show errors?' });
    const { chat_id } = z.object({ chat_id: z.string() }).parse(structured);
    const chat = await callTool(gateway.url, token, 'read_chat', { chat_id, wait_seconds: 25 });
    expect(chat.isError).toBe(false);
    expect(chat.raw).not.toContain(secret);
  });
});

/** One record now and one three hours ago. */
function logs(): object {
  const text = (value: string) => ({ stringValue: value });
  return {
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: text('checkout') }] },
        scopeLogs: [
          {
            logRecords: [60_000, 3 * 3_600_000].map((age) => ({
              timeUnixNano: String(BigInt(Date.now() - age) * 1_000_000n),
              severityNumber: 17,
              severityText: 'ERROR',
              eventName: secret,
              body: text(`payment failed for ${secret}`),
              attributes: [
                { key: 'event.name', value: text(secret) },
                { key: 'user.email', value: text(email) },
                { key: 'http.request.header.cookie', value: text(secret) },
              ],
            })),
          },
        ],
      },
    ],
  };
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { callTool, countRows } from './support/call.ts';
import { credentials, exchange, main, removeDirectory, root, startOne, temporaryDirectory } from './support/gateway.ts';
import { installOlder, olderFile } from './support/older-version.ts';

/*
 * From 0.1.0 to this version: its own code, installed from git with its own dependencies, makes a workspace and serves it,
 * and then this code starts on the same directory.
 */

const run = promisify(execFile);
const minutes = 60_000;

/** Of 0.1.0 what people set, none as by default. */
const config = `
publicUrl: https://mcp.example.com
authUrl: https://login.example.com
trustProxy: 1
listen: { host: 127.0.0.1, port: 0, leaveSeconds: 0 }
allowedHosts: [127.0.0.1]
allowedOrigins: [https://app.example.com]
log: { level: debug }
limits:
  requestsPerMinute: 900
  organizationRequestsPerMinute: 9000
  toolCallsPerMinute: { query_otel: 300 }
  callsAtOnce: 64
  toolCallsAtOnce: { query_otel: 16 }
  requestsAtOnce: 128
  queriesAtOnce: 16
  organizationQueriesAtOnce: 4
  queryTimeoutSeconds: 20
  maxCellBytes: 8192
  defaultWindowHours: 12
governance: { rules: [{ roles: [member], tables: [logs], columns: [body], action: mask }, { attributes: [user.email], action: deny }] }
costGuard: { mode: enforce, maxQueryBytes: 50GB, dailyBytes: 2TB }
ingest: { enabled: true, retentionDays: 60 }
audit: { statements: true }
ownTelemetry: { prometheus: { enabled: false, host: 127.0.0.1, port: 9465 } }
retention: { auditDays: 300, chatDays: 200, incidentDays: 365 }
storage: { plugin: knex, filename: workspace.sqlite }
issuer: { plugin: builtin, signingKeyDays: 45 }
telemetry: { plugin: duckdb, memoryLimitMb: 512, openEngines: 4, idleSeconds: 120, threads: 1 }
agent: { plugin: playbook }
alerts: [{ plugin: generic }, { plugin: alertmanager }]
`;

/** Keys of 0.1.0 that are none today, and why. `alerts` was a list all along; its schema said so beside this. */
const gone = new Set(['alerts.plugin']);

const lists = [
  ['org', 'list'],
  ['user', 'list'],
  ['key', 'list'],
  ['alert-source', 'list'],
  ['webhook', 'list'],
  ['incident', 'list'],
] as const;

const statements = ['spans', 'metrics', 'logs'].map(
  (table) =>
    `SELECT count(*) AS n, min(time) AS first, max(time) AS last, sum(length(CAST(attributes AS VARCHAR))) AS size FROM otel.${table} WHERE time > now() - INTERVAL 3 HOUR`,
);

const demo = z.object({ spans: z.number(), points: z.number(), logs: z.number() });
const chats = z.object({ chats: z.array(z.looseObject({ id: z.string(), title: z.string().nullable() })) });
const messages = z.object({ messages: z.array(z.object({ id: z.string(), role: z.string(), content: z.string() })) });
const incident = z.object({
  incident: z.object({ key: z.string(), status: z.string(), title: z.string() }),
  // 0.1.0 showed the SQL of each finding in the document, and had room for less; now it stands in the steps alone.
  document: z.object({ markdown: z.string().transform((text) => text.match(/^(##|\*\*E\d+\*\*) .*$/gm) ?? []) }),
  investigation: z.object({ status: z.string(), conclusion: z.object({ root_cause: z.string() }) }),
});

/** What a client with a token is shown. */
async function shown(url: string, token: string) {
  const call = async (name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { isError, structured, text } = await callTool(url, token, name, args);
    if (isError) throw new Error(`${name}: ${text}`);
    return structured;
  };
  const asked = await Promise.all(statements.map((sql) => call('query_otel', { sql })));
  const listed = chats.parse(await call('list_chats', {}));
  const read = await Promise.all(listed.chats.map(({ id }) => call('read_chat', { chat_id: id })));
  return {
    rows: asked.map((answer) => z.object({ rows: z.array(z.array(z.unknown())) }).parse(answer).rows),
    chats: listed.chats.map(({ id, title }) => ({ id, title })),
    messages: read.map((answer) => messages.parse(answer)),
    incident: incident.parse(
      await call('read_incident', { incident_id: 'INC-1', include: ['document', 'investigation'] }),
    ),
  };
}

type Shown = Awaited<ReturnType<typeof shown>>;

describe('an upgrade from 0.1.0', () => {
  let directory = '';
  let data = '';
  let file = '';
  let isHere = false;
  let key = { client_id: '', client_secret: '' };
  let token = '';
  let senders: Readonly<Record<string, string>> = {};
  let before: { shown: Shown; lists: readonly unknown[] } | undefined;

  /** @param program of the version that is asked. */
  async function sightline(program: string, ...args: string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [program, '--data', data, '--config', file, ...args], {
      cwd: directory,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    return stdout;
  }
  const listsOf = async (program: string): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    for (const list of lists) found.push(JSON.parse(await sightline(program, ...list, '--json')));
    return found;
  };

  beforeAll(async () => {
    isHere = (await olderFile('package.json')) !== undefined;
    if (!isHere) return;
    directory = await temporaryDirectory();
    data = join(directory, 'data');
    file = join(directory, 'sightline.config.yaml');
    await writeFile(file, config);
    const older = await installOlder(join(directory, 'older'));
    await sightline(older, 'org', 'create', 'acme');
    await sightline(older, 'user', 'create', '--email', 'ada@example.com', '--org', 'acme', '--role', 'admin');
    await sightline(older, 'alert-source', 'add', '--plugin', 'alertmanager', '--name', 'prometheus');
    await sightline(older, 'webhook', 'add', 'https://hooks.example.com/sightline');
    const made = await sightline(older, 'key', 'create', '--org', 'acme', '--name', 'ci', '--json');
    key = credentials.parse(JSON.parse(made));
    const args = ['--no-demo', '--config', file];
    const gateway = await startOne(data, { program: older, workers: 1, args });
    try {
      const sent = demo.parse(JSON.parse(await sightline(older, 'demo', '--minutes', '30', '--json')));
      token = await exchange(gateway.url, key);
      await countRows(gateway.url, token, 'otel.spans', sent.spans);
      await countRows(gateway.url, token, 'otel.metrics', sent.points);
      await countRows(gateway.url, token, 'otel.logs', sent.logs);
      const chat = await callTool(gateway.url, token, 'start_chat', {
        message: 'Why do orders fail?',
        incident_id: 'INC-1',
      });
      expect(chat).toMatchObject({ isError: false });
      await concluded(gateway.url, token);
      before = { shown: await shown(gateway.url, token), lists: [] };
    } finally {
      await gateway.stop();
    }
    before = { ...before, lists: await listsOf(older) };
    const sent = z.object({ headers: z.record(z.string(), z.string()) });
    senders = sent.parse(JSON.parse(await sightline(older, 'ingest', 'show', '--json'))).headers;
  }, 5 * minutes);

  afterAll(() => removeDirectory(directory));

  it('accepts every key of its config', async () => {
    const text = await olderFile('config/sightline.schema.json');
    if (text === undefined) return;
    const now = keysOf(JSON.parse(await readFile(join(root, 'config/sightline.schema.json'), 'utf8')));
    const older = keysOf(JSON.parse(text));
    expect(older.size).toBeGreaterThan(200);
    expect([...older].filter((path) => !now.has(path))).toEqual([...gone]);
    await expect(sightline(main, 'config', 'check')).resolves.toContain('is valid.');
  });

  it(
    'keeps people, keys, tokens, chats, incidents, telemetry and the audit',
    async () => {
      if (!isHere || before === undefined) return;
      expect(await sightline(main, 'migrate', '--plan')).toMatch(/^To be applied: \d{4}-/);
      const began = performance.now();
      expect(await sightline(main, 'migrate')).toMatch(/^Applied: \d{4}-/);
      process.stdout.write(`migrate: ${((performance.now() - began) / 1_000).toFixed(2)} s, the process with it\n`);
      expect(await listsOf(main)).toMatchObject(before.lists);
      const starting = performance.now();
      const gateway = await startOne(data, { workers: 1, args: ['--no-demo', '--config', file] });
      process.stdout.write(`first start: ${((performance.now() - starting) / 1_000).toFixed(2)} s until ready\n`);
      try {
        const { incident: found, ...rest } = before.shown;
        const markdown = expect.arrayContaining(found.document.markdown);
        // The token of before the upgrade, and a new one for the key of before.
        for (const each of [token, await exchange(gateway.url, key)]) {
          expect(await shown(gateway.url, each)).toEqual({ ...rest, incident: { ...found, document: { markdown } } });
        }
        const sent = await fetch(`${gateway.url}/v1/logs`, {
          method: 'POST',
          headers: { ...senders, 'content-type': 'application/json' },
          body: JSON.stringify({ resourceLogs: [] }),
        });
        expect(sent.status).toBe(200);
        const asked = await callTool(gateway.url, token, 'start_chat', { message: 'And now?' });
        expect(asked).toMatchObject({ isError: false });
      } finally {
        expect(await gateway.stop()).toBe(0);
      }
      await expect(sightline(main, 'audit', 'verify')).resolves.toMatch(/./);
      await expect(sightline(main, 'doctor')).resolves.not.toMatch(/^\S* *fail/m);
    },
    5 * minutes,
  );
});

/** The agent writes its last step after the demo has ended. */
async function concluded(url: string, token: string): Promise<void> {
  let said = '';
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const { structured, text } = await callTool(url, token, 'read_incident', { incident_id: 'INC-1' });
    const read = z.object({ investigation: z.object({ status: z.string() }) }).safeParse(structured);
    if (read.data?.investigation.status === 'completed') return;
    said = text;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`INC-1 was not investigated within half a minute: ${said}`);
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** The paths of all keys that a JSON Schema knows, each recursion once. */
function keysOf(schema: Node): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (node: unknown, path: string, chain: readonly string[]): void => {
    if (Array.isArray(node)) for (const each of node) walk(each, path, chain);
    if (!isNode(node)) return;
    const reference = node['$ref'];
    if (typeof reference === 'string' && !chain.includes(reference)) {
      const target = reference.split('/').slice(1);
      const below = target.reduce<unknown>((at, step) => (isNode(at) ? at[step] : undefined), schema);
      walk(below, path, [...chain, reference]);
    }
    for (const word of ['anyOf', 'oneOf', 'allOf', 'if', 'then', 'else']) walk(node[word], path, chain);
    const { properties, items, additionalProperties } = node;
    for (const [name, value] of Object.entries(isNode(properties) ? properties : {})) {
      const key = path === '' ? name : `${path}.${name}`;
      found.add(key);
      walk(value, key, chain);
    }
    walk(items, `${path}[]`, chain);
    walk(additionalProperties, `${path}.*`, chain);
  };
  walk(schema, '', []);
  return found;
}

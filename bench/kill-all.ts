import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from '../test/support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../test/support/gateway.ts';
import { findProcesses } from './support/process.ts';

/*
 * kill -9 of everything at once, the gateway and its engines, while spans are sent and chats started on SQLite and DuckDB, and a
 * start over what is left. Ends with 1 where something acknowledged is lost, something is there twice, or a file is damaged.
 * Usage: node bench/kill-all.ts [cycles, 50]
 */

const cycles = Number(process.argv[2] ?? 50);
const loadMs = [500, 2_500] as const;
const spansARequest = 25;
const patienceMs = 30_000;
const round = (ms: number): number => Math.round(ms);

const directory = await temporaryDirectory();
const config = join(directory, 'sightline.config.json');
await writeFile(
  config,
  JSON.stringify({
    limits: { requestsPerMinute: 1_000_000, organizationRequestsPerMinute: 1_000_000 },
    agent: { plugin: join(import.meta.dirname, 'chaos/agent.ts'), steps: 3, stepMs: 50 },
  }),
);
const start = (): Promise<RunningGateway> => startGateway(directory, { args: ['--no-demo', '--config', config] });
/** As a service manager does, where a busy machine lets a start take longer than it waits for its storage. */
const startAgain = (): Promise<RunningGateway> =>
  start().catch(async () => {
    restarts += 1;
    await sleep(1_000);
    return start();
  });
let restarts = 0;
let gateway = await start();
const key = await createKey(directory, 'bench');
const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', 'bench'], z.object({ token: z.string() }));
let bearer = await exchange(gateway.url, key);

/** What was sent and what was acknowledged: spans by the name that all of one request have, chats by their title. */
const requests = { sent: 0, acknowledged: new Set<string>() };
const chats = { asked: new Map<string, string>(), acknowledged: new Map<string, string>(), repeated: 0 };
const wrong: string[] = [];
const started = z.object({ chat_id: z.string() });

async function sendSpans(name: string): Promise<void> {
  requests.sent += 1;
  const startTimeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  const span = { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8), name, startTimeUnixNano };
  const spans = Array.from({ length: spansARequest }, () => span);
  const response = await fetch(`${gateway.url}/v1/traces`, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  if (response.status === 200) requests.acknowledged.add(name);
  await response.arrayBuffer();
}

async function startChat(title: string): Promise<void> {
  const idempotencyKey = chats.asked.get(title) ?? randomUUID();
  chats.asked.set(title, idempotencyKey);
  const { structured, isError } = await callTool(gateway.url, bearer, 'start_chat', {
    message: title,
    title,
    idempotency_key: idempotencyKey,
  });
  if (isError) return;
  const { chat_id: id } = started.parse(structured);
  const before = chats.acknowledged.get(title);
  if (before !== undefined && before !== id) wrong.push(`chat ${title} is ${before} and ${id}`);
  chats.acknowledged.set(title, id);
}

/** Each asks as fast as it is answered, until it is stopped or the gateway is gone. */
function load(cycle: number): () => Promise<void> {
  let stopped = false;
  const line = async (ask: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; !stopped; turn += 1) {
      try {
        await ask(turn);
      } catch {
        // It was killed while it was asked, and promised nothing.
        return;
      }
    }
  };
  const lines = [
    ...[0, 1].map((each) => line((turn) => sendSpans(`${cycle}/${each}/${turn}`))),
    ...[2, 3].map((each) => line((turn) => startChat(`${cycle}/${each}/${turn}`))),
  ];
  return async () => {
    stopped = true;
    await Promise.all(lines);
  };
}

const counted = z.object({ rows: z.array(z.tuple([z.string(), z.coerce.number()])) });

/** Requests of a cycle with the spans that are there, once all that were acknowledged are; the time from the start to that. */
async function untilLoaded(cycle: number, since: number): Promise<number> {
  const sql = `SELECT name, count(*) AS n FROM otel.spans WHERE name LIKE '${cycle}/%' GROUP BY name`;
  const wanted = [...requests.acknowledged].filter((name) => name.startsWith(`${cycle}/`));
  for (;;) {
    const { isError, structured } = await callTool(gateway.url, bearer, 'query_otel', { sql, max_rows: 10_000 });
    const found = new Map(isError ? [] : counted.parse(structured).rows);
    const missing = wanted.filter((name) => !found.has(name));
    const late = performance.now() - since > patienceMs;
    if ((!isError && missing.length === 0) || late) {
      if (late) wrong.push(`cycle ${cycle}: ${missing.length} acknowledged requests of spans are lost`);
      for (const [name, n] of found) if (n !== spansARequest) wrong.push(`${name} has ${n} spans`);
      return performance.now() - since;
    }
    await sleep(20);
  }
}

const [ready, loaded]: [number[], number[]] = [[], []];
let engines = 0;
try {
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const stop = load(cycle);
    await sleep(loadMs[0] + Math.random() * (loadMs[1] - loadMs[0]));
    const pids = await findProcesses('engine/main', directory);
    engines += pids.length;
    const killed = gateway.kill();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await killed;
    await stop();
    const since = performance.now();
    gateway = await startAgain();
    ready.push(performance.now() - since);
    bearer = await exchange(gateway.url, key);
    loaded.push(await untilLoaded(cycle, since));
    // What was not answered is asked again with its key, and so is what was: neither may be there twice.
    const open = [...chats.asked.keys()].filter(
      (title) => title.startsWith(`${cycle}/`) && !chats.acknowledged.has(title),
    );
    const again = [...open, ...[...chats.acknowledged.keys()].slice(-2)];
    chats.repeated += again.length;
    for (const title of again) await startChat(title);
  }
  await sleep(3_000);
} finally {
  await gateway.stop();
}

const database = new DatabaseSync(join(directory, 'sightline.sqlite'));
const titles = database.prepare('SELECT title, id FROM chats').all();
const byTitle = Map.groupBy(titles, (row) => String(row['title']));
for (const [title, id] of chats.acknowledged) {
  const rows = byTitle.get(title) ?? [];
  if (rows.length !== 1 || rows[0]?.['id'] !== id) wrong.push(`chat ${title} is there ${rows.length} times`);
}
for (const title of byTitle.keys()) if (!chats.asked.has(title)) wrong.push(`nobody asked for chat ${title}`);
const open = database.prepare("SELECT count(*) AS n FROM investigations WHERE status IN ('queued', 'running')").get();
const [integrity] = database.prepare('PRAGMA integrity_check').all();
if (integrity?.['integrity_check'] !== 'ok') wrong.push('SQLite finds its file damaged');
database.close();
const audit = await sightline(directory, ['audit', 'verify', '--config', config]);
if (audit.code !== 0) wrong.push(`audit verify: ${audit.stdout}${audit.stderr}`);
await removeDirectory(directory);

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
console.table([
  {
    cycles: cycles,
    'engines killed': engines,
    'started twice': restarts,
    'ready again, ms (median)': round(median(ready)),
    'slowest, ms': round(Math.max(...ready)),
    'all acknowledged spans there, ms (median)': round(median(loaded)),
    'slowest of these, ms': round(Math.max(...loaded)),
  },
]);
console.log(
  `spans: ${requests.acknowledged.size * spansARequest} acknowledged of ${requests.sent * spansARequest}; ` +
    `chats: ${chats.acknowledged.size} acknowledged of ${chats.asked.size}, ${chats.repeated} asked again; ` +
    `investigations open at the end: ${String(open?.['n'])}; audit: ${audit.stdout.trim().replaceAll('\n', ' ')}`,
);
for (const each of wrong) console.log(`broken  ${each}`);
if (wrong.length === 0) console.log('Nothing acknowledged was lost, nothing is there twice, no file is damaged.');
process.exit(wrong.length === 0 ? 0 : 1);

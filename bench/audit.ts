import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedServer } from '../test/support/postgres.ts';
import { watchRecords, type Written } from './audit/watch.ts';
import { lines, requestOf } from './peers/lines.ts';
import { findGenerator } from './peers/load.ts';
import { startSightline } from './peers/sightline.ts';
import { quantile } from './support/raw-load.ts';
import { makeTenants, mint } from './support/tenants.ts';

/*
 * How long the record of a tool call takes to the disk, from the end of the call, while as many calls come as are answered: all
 * `select 1`, of one organization, whose records wait for each other, and of many in turn, of which each has a chain of its own.
 * Ends with 1 when a call has no record, or when of the batches more than one in a hundred had a record of over 100 ms.
 * Usage: node bench/audit.ts [seconds a round, 5] [rounds, 5]
 */

const [seconds = 5, rounds = 5] = process.argv.slice(2).map(Number);
const barMs = 100;
const many = 300;

const directory = await mkdtemp(join(tmpdir(), 'sl-audit-'));
const server = await embeddedServer();
try {
  const generator = await findGenerator(directory);
  const rows = [];
  let kept = true;
  const gateway = await startSightline(server, { storage: 'embedded', workers: 1 });
  const records = watchRecords(gateway.dataDirectory);
  try {
    const tenants = await makeTenants({ data: gateway.dataDirectory, config: gateway.config }, many);
    await mint(new URL(gateway.url).origin, tenants, many);
    const tokens = tenants.flatMap((tenant) => tenant.tokens);
    const ones = lines.filter(({ name, era }) => name === 'select 1' && era === '2025-11-25');
    for (const [line, bearing] of [undefined, tokens].flatMap((some) => ones.map((line) => [line, some] as const))) {
      const request = requestOf(line, gateway.speech, gateway.token);
      const load = () => generator.load(gateway.url, request, line.connections, seconds, bearing);
      await load();
      await records.take();
      const batches: Written[] = [];
      let calls = 0;
      for (let round = 0; round < rounds; round += 1) {
        calls += (await load()).answers;
        batches.push(...(await records.take()));
      }
      const written = batches.reduce((sum, { count }) => sum + count, 0);
      const oldest = batches.map(({ oldestMs }) => oldestMs);
      kept &&= written >= calls && quantile(oldest, 0.99) <= barMs;
      rows.push({
        organizations: bearing?.length ?? 1,
        connections: line.connections,
        'calls/s': Math.round(calls / seconds / rounds),
        'without a record': Math.max(0, calls - written),
        batches: batches.length,
        'oldest p50 ms': quantile(oldest, 0.5),
        'oldest p99 ms': quantile(oldest, 0.99),
        'oldest of all ms': Math.max(...oldest),
      });
    }
  } finally {
    await records.stop();
    await gateway.stop();
  }
  console.table(rows);
  console.log(`Of the oldest record of each batch, p99: bar ${barMs} ms`);
  console.log(`Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}`);
  process.exitCode = kept ? 0 : 1;
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { otelTables, tableNames, type TableName } from '../../src/contract/telemetry/index.ts';
import { createOtlpReceiver } from '../../src/telemetry/ingest/receiver.ts';
import { silentLogger } from '../../test/contract/host.ts';
import { firstFrame, firstRecords, firstTables } from '../../test/support/otlp/first-version.ts';
import { Harness, newOrganization } from './support/harness.ts';

/*
 * A data directory of the first version: two organizations whose files lack the columns that came later, and batches of both
 * that were acknowledged and not loaded. All of it must be there after the upgrade, once, whatever is killed in between.
 */

const organizations = [newOrganization(), newOrganization()] as const;
const [first, second] = organizations;
const log = 'log-0123456789ab';
let harness: Harness;

beforeEach(async () => {
  harness = await Harness.start({}, await mkdtemp(join(tmpdir(), 'sl-upgrade-')));
  for (const organization of organizations) {
    const name = organization === first ? 'first' : 'second';
    await writeFirstFile(join(harness.directory, 'telemetry', organization, 'telemetry.duckdb'), name);
    const folder = join(harness.directory, 'ingest', organization, log);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, '000000000001.log'), Buffer.concat(tableNames.map(acknowledged)));
  }
});
afterEach(() => harness.stop());

async function writeFirstFile(file: string, name: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const instance = await DuckDBInstance.create(file, { storage_compatibility_version: 'latest' });
  const connection = await instance.connect();
  for (const statement of firstTables) await connection.run(statement);
  const time = "TIMESTAMP '2026-11-20 11:00:00'";
  const map = "MAP {'a': 'b'}";
  await connection.run(`INSERT INTO otel.spans ("time", "name", attributes) VALUES (${time}, '${name}', ${map})`);
  await connection.run(`INSERT INTO otel.logs ("time", body) VALUES (${time}, '${name}')`);
  await connection.run(
    `INSERT INTO otel.metrics ("time", "name", "type", is_monotonic, "value") VALUES (${time}, '${name}', 'gauge', false, 1), (${time}, '${name}', 'sum', false, 2)`,
  );
  connection.closeSync();
  instance.closeSync();
}

function acknowledged(table: TableName): Buffer {
  const frame = firstFrame(table);
  return firstRecords([{ table, rows: frame[12] ?? 0, frame }]);
}

async function withReceiver<T>(work: () => Promise<T>): Promise<T> {
  const receiver = createOtlpReceiver({
    directory: { ingestTokenByHash: async () => undefined, organizations: async () => [] },
    sink: harness.telemetry.sink,
    dataDirectory: harness.directory,
    retentionDays: () => 30,
    logger: silentLogger,
    now: () => new Date(),
  });
  await receiver.start(new AbortController().signal);
  try {
    return await work();
  } finally {
    await receiver.stop();
  }
}

async function names(organization = first): Promise<unknown> {
  const { rows } = await harness.query(
    organization,
    'SELECT name FROM otel.spans UNION ALL SELECT name FROM otel.metrics UNION ALL SELECT body FROM otel.logs ORDER BY 1',
  );
  return rows.map(([name]) => name);
}

const loaded = ['hello', 'level', 'requests', 'span 1', 'span 2'];

async function untilLoaded(): Promise<void> {
  for (const organization of organizations) {
    for (let tries = 0; tries < 100; tries += 1) {
      const found = await names(organization).catch(() => []);
      if (Array.isArray(found) && loaded.every((name) => found.includes(name))) break;
      await sleep(100);
    }
  }
}

async function enginePids(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const line = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : '';
    if (line.includes('engine/main') && line.includes(harness.directory)) found.push(Number(name));
  }
  return found;
}

describe('a data directory of an earlier version', () => {
  it('is served with the columns it lacks, which are NULL in its rows', async () => {
    for (const table of tableNames) {
      const columns = otelTables[table].columns.map(({ name }) => name);
      const added = otelTables[table].columns.filter((column) => 'added' in column).map(({ name }) => name);
      const { rows, columns: answered } = await harness.query(first, `SELECT * FROM otel.${table} LIMIT 1`);
      expect(answered.map(({ name }) => name)).toEqual(columns);
      expect(added.map((name) => rows[0]?.[columns.indexOf(name)])).toEqual(added.map(() => null));
    }
    expect(await names(first)).toEqual(['first', 'first', 'first', 'first']);
    expect(await names(second)).toEqual(['second', 'second', 'second', 'second']);
    const { rows } = await harness.query(first, 'SELECT type, is_monotonic FROM otel.metrics ORDER BY 1');
    expect(rows).toEqual([
      ['gauge', null],
      ['sum', false],
    ]);
  });

  it('has its acknowledged batches loaded, each organization its own', async () => {
    await withReceiver(untilLoaded);
    expect(await names(first)).toEqual(['first', 'first', 'first', 'first', ...loaded]);
    expect(await names(second)).toEqual([...loaded.slice(0, 3), ...Array(4).fill('second'), ...loaded.slice(3)]);
    const { rows } = await harness.query(
      first,
      `SELECT name, is_monotonic, as_int, exemplars, otlp_fields FROM otel.metrics WHERE name <> 'first' ORDER BY name`,
    );
    expect(rows).toEqual([
      ['level', null, null, [], {}],
      ['requests', true, null, [], {}],
    ]);
    const folder = join(harness.directory, 'ingest', first, log);
    expect(existsSync(folder) ? (await readdir(folder)).filter((file) => file.startsWith('refused')) : []).toEqual([]);
  });

  it('loses and doubles nothing when the engines are killed while they upgrade and load', async () => {
    for (let round = 0; round < 6; round += 1) {
      await withReceiver(async () => {
        await sleep(150 + Math.random() * 500);
        for (const pid of await enginePids()) process.kill(pid, 'SIGKILL');
      });
    }
    await withReceiver(untilLoaded);
    expect(await names(first)).toEqual(['first', 'first', 'first', 'first', ...loaded]);
    expect(await names(second)).toEqual([...loaded.slice(0, 3), ...Array(4).fill('second'), ...loaded.slice(3)]);
  });
});

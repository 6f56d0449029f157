import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { loadShop } from '../../src/lab/eval/shop.ts';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { DemoOptions } from '../../src/lab/demo/index.ts';
import type { Laboratory } from '../../src/lab/eval/laboratory.ts';

/** Visitors' requests a minute in the shop that is generated; what is more comes from copies of them. */
const generatedRate = 60;

export interface BusyShop {
  readonly organizationId: OrganizationId;
  /** Within the shop's own minutes. */
  readonly spans: number;
}

/**
 * One shop's telemetry with at least so many spans, in a laboratory on `directory`: generated once, then every trace copied,
 * each copy under ids of its own and moved as a whole by less than a second. So there is more traffic, not more time, and one
 * fault begins once. Metrics are those of the pods, which do not grow in number.
 */
export async function loadBusyShop(
  { telemetry }: Laboratory,
  directory: string,
  options: Omit<DemoOptions, 'rate'>,
  spans: number,
): Promise<BusyShop> {
  const organizationId = await loadShop(telemetry, { ...options, rate: generatedRate });
  await telemetry.stop();
  const file = join(directory, 'telemetry', organizationId, 'telemetry.duckdb');
  const instance = await DuckDBInstance.create(file, {
    threads: '2',
    memory_limit: '2GB',
    preserve_insertion_order: 'false',
  });
  const connection = await instance.connect();
  try {
    const copies = Math.ceil(spans / (await count(connection, options)));
    for (const table of ['spans', 'logs'] as const) await copyTraces(connection, table, copies);
    const counted = await count(connection, options);
    if (counted < spans) throw new Error(`there are ${counted} spans in place of ${spans}`);
    return { organizationId, spans: counted };
  } finally {
    connection.closeSync();
    instance.closeSync();
    await telemetry.start(AbortSignal.timeout(30_000));
  }
}

async function count(
  connection: DuckDBConnection,
  { end, minutes }: Pick<DemoOptions, 'end' | 'minutes'>,
): Promise<number> {
  const last = `make_timestamp(${end.getTime()} * 1000)`;
  const counted = await connection.runAndReadAll(
    `SELECT count(*)::INTEGER FROM otel.spans WHERE "time" >= ${last} - INTERVAL ${minutes} MINUTE AND "time" < ${last}`,
  );
  return Number(counted.getRows()[0]?.[0]);
}

/** In one statement, which writes whole blocks of rows past the log; by time, as it would have come in. */
async function copyTraces(connection: DuckDBConnection, table: keyof typeof changed, copies: number): Promise<void> {
  await connection.run(`CREATE TEMP TABLE first AS SELECT * FROM otel.${table} ORDER BY "time"`);
  await connection.run(`TRUNCATE otel.${table}`);
  // Else the old rows lie in the log still, and are written with the new ones.
  await connection.run('CHECKPOINT');
  await connection.run(`INSERT INTO otel.${table} SELECT * EXCLUDE (copy) REPLACE (${changed[table]})
    FROM temp.first CROSS JOIN range(${copies}) AS copies(copy)`);
  await connection.run('DROP TABLE temp.first');
  await connection.run('CHECKPOINT');
}

/** What belongs to no trace is moved by what it says. */
const moved = (column: string, text: string) =>
  `${column} + to_milliseconds(CAST(hash(CASE WHEN trace_id = '' THEN ${text} ELSE trace_id END, copy) % 1000 AS BIGINT))`;
const renamed = (column: string, length: number) =>
  `CASE WHEN ${column} = '' OR copy = 0 THEN ${column} ELSE substr(md5(${column} || copy), 1, ${length}) END`;
/** Of a list of structures. */
const each = (column: string, fields: string) =>
  `CASE WHEN len(${column}) = 0 THEN ${column} ELSE list_transform(${column}, lambda x: struct_update(x, ${fields})) END`;
const changed = {
  spans: [
    ...['"time"', 'start_time', 'end_time'].map((column) => `${moved(column, 'name')} AS ${column}`),
    ...['span_id', 'parent_span_id'].map((column) => `${renamed(column, 16)} AS ${column}`),
    `${renamed('trace_id', 32)} AS trace_id`,
    `${each('events', `"time" := ${moved('x."time"', 'name')}`)} AS events`,
    `${each('links', `trace_id := ${renamed('x.trace_id', 32)}, span_id := ${renamed('x.span_id', 16)}`)} AS links`,
  ].join(', '),
  logs: [
    ...['"time"', 'observed_time'].map((column) => `${moved(column, 'body')} AS ${column}`),
    `${renamed('span_id', 16)} AS span_id`,
    `${renamed('trace_id', 32)} AS trace_id`,
  ].join(', '),
} as const;

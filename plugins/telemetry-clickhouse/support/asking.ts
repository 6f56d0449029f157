import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Cursor, QueryLimits, StatementLabel } from '../../../src/contract/telemetry/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import type { ClickHouseServer } from '../../../test/support/clickhouse/server.ts';
import { Endpoints } from '../client/endpoint.ts';
import { Warehouse } from '../client/warehouse.ts';

const limits: QueryLimits = { maxRows: 1_000, maxBytes: 1_000_000, maxCellBytes: 16_384, timeoutMs: 10_000 };
export const endless = 'SELECT count() FROM numbers(1000000000000) WHERE number % 7 = sipHash64(number)';
export const trickle = 'SELECT number, repeat(toString(number), 20) FROM numbers(1000000000)';
export const never = new AbortController().signal;

export function connect(
  urls: readonly string[],
  options: { compression?: boolean; settings?: Record<string, number> } = {},
) {
  const { compression = false, settings = {} } = options;
  return new Warehouse({
    endpoints: new Endpoints({ urls, username: 'default', password: '', maxConnections: 2, compression }),
    settings,
    requestTimeoutMs: 5_000,
    explaining: { helpers: sqlHelpers, functions: ['count', 'toStartOfHour'] },
  });
}

export interface Asking {
  readonly limits?: Partial<QueryLimits>;
  readonly signal?: AbortSignal;
  readonly label?: StatementLabel;
  readonly queryId?: string;
}

export function open(warehouse: Warehouse, sql: string, asking: Asking = {}): Promise<Cursor> {
  return warehouse.open({
    sql,
    queryId: asking.queryId ?? `acme:${crypto.randomUUID()}`,
    role: undefined,
    label: asking.label,
    limits: { ...limits, ...asking.limits },
    signal: asking.signal ?? never,
    tables: ['spans'],
  });
}

export async function rowsOf(cursor: Cursor): Promise<readonly (readonly unknown[])[]> {
  const parts: string[] = [];
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) {
    parts.push(Buffer.from(chunk.json).toString('utf8'));
  }
  return JSON.parse(`[${parts.join(',')}]`);
}

export const ask = async (warehouse: Warehouse, sql: string, asking: Asking = {}) =>
  await rowsOf(await open(warehouse, sql, asking));

/** Statements that the engine still works on. */
async function running(server: ClickHouseServer): Promise<number> {
  return Number(
    await server.run(
      "SELECT count() FROM system.processes WHERE is_cancelled = 0 AND query NOT LIKE '%system.processes%'",
    ),
  );
}

export async function expectIdle(server: ClickHouseServer): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await running(server)) === 0) return;
    await sleep(50);
  }
  expect(await running(server)).toBe(0);
}

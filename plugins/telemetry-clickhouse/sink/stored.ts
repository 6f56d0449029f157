import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TelemetryBatch, Tenant } from '../../../src/contract/telemetry/index.ts';
import type { Warehouse } from '../client/warehouse.ts';
import { literal } from '../quote.ts';
import { batchColumn, logColumn, organizationColumn } from '../setup/own-tables.ts';

export interface Numbered {
  readonly batch: TelemetryBatch;
  readonly number: number;
}

export interface LogRows {
  readonly account: Warehouse;
  readonly path: string;
  readonly tenant: Tenant;
  readonly log: string;
  readonly signal: AbortSignal;
}

/** Begins the query id of every insert of this log, so that one of a gateway that died is known. */
export function insertIdPrefix(tenant: Tenant, log: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([tenant, log]))
    .digest('hex')
    .slice(0, 24);
  return `sightline-load-${name}-`;
}

/** An insert outlives the gateway that sent it; what it still writes would be there a second time. */
export async function afterOthers({ account, tenant, log, signal }: Omit<LogRows, 'path'>): Promise<void> {
  for (;;) {
    const running = await account.rows(
      `SELECT 1 FROM system.processes WHERE startsWith(query_id, ${literal(insertIdPrefix(tenant, log))}) LIMIT 1`,
      signal,
    );
    if (running.length === 0) return;
    await sleep(200, undefined, { signal });
  }
}

/** How many rows are there of each batch from this number on: what a load left behind whose position was never written. */
export async function rowsByBatch(rows: LogRows, from: number): Promise<ReadonlyMap<number, number>> {
  const found = await rows.account.rows(
    `SELECT ${batchColumn} AS number, count() AS rows FROM ${rows.path}
       WHERE ${whereOf(rows)} AND ${batchColumn} >= ${from} GROUP BY number`,
    rows.signal,
  );
  return new Map(found.map(({ number, rows: count }) => [Number(number), Number(count)]));
}

/**
 * Of these batches those that are not there. Each day is a partition, which is written whole or not at all, so that a batch
 * of two days may be there by half: that half is deleted.
 */
export async function missing(
  rows: LogRows,
  batches: readonly Numbered[],
  there: ReadonlyMap<number, number>,
): Promise<readonly Numbered[]> {
  const lacking = batches.filter(({ batch, number }) => there.get(number) !== batch.rows);
  const halves = lacking.filter(({ number }) => there.has(number)).map(({ number }) => number);
  if (halves.length > 0) {
    const where = `${whereOf(rows)} AND ${batchColumn} IN (${halves.join(', ')})`;
    await rows.account.run(`ALTER TABLE ${rows.path} DELETE WHERE ${where}`, {
      settings: { mutations_sync: 1 },
      signal: rows.signal,
    });
  }
  return lacking;
}

function whereOf({ tenant, log }: LogRows): string {
  return `${organizationColumn} = ${literal(tenant)} AND ${logColumn} = ${literal(log)}`;
}

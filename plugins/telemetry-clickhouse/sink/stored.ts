import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TelemetryBatch, Tenant } from '../../../src/contract/index.ts';
import type { Warehouse } from '../client/warehouse.ts';
import { literal } from '../quote.ts';
import { batchColumn, logColumn, organizationColumn } from '../setup/own-tables.ts';

/** A batch with its number in its log. */
export interface Numbered {
  readonly batch: TelemetryBatch;
  readonly number: number;
}

export interface Comparing {
  readonly account: Warehouse;
  readonly path: string;
  readonly tenant: Tenant;
  readonly log: string;
  readonly batches: readonly Numbered[];
  readonly signal: AbortSignal;
}

/** Begins the query id of every insert of this log, so that one of a gateway that died is known. */
export function insertIdPrefix(tenant: Tenant, log: string): string {
  return `sightline-load-${createHash('sha256')
    .update(JSON.stringify([tenant, log]))
    .digest('hex')
    .slice(0, 24)}-`;
}

/**
 * Of batches that were perhaps loaded before, those that are not there. Rows lie in a partition a day and each of these is
 * written whole or not at all, so that a batch of two days may be there by half: that half is deleted.
 */
export async function missing(comparing: Comparing): Promise<readonly Numbered[]> {
  await afterOthers(comparing);
  const { account, path, batches, signal } = comparing;
  const where = whereOf(comparing, `${batchColumn} IN (${batches.map(({ number }) => number).join(', ')})`);
  const found = await account.rows(
    `SELECT ${batchColumn} AS number, count() AS rows FROM ${path} WHERE ${where} GROUP BY number`,
    signal,
  );
  const rowsOf = new Map(found.map(({ number, rows }) => [Number(number), Number(rows)]));
  const halves = batches.filter(({ batch, number }) => rowsOf.has(number) && rowsOf.get(number) !== batch.rows);
  if (halves.length > 0) {
    const numbers = halves.map(({ number }) => number).join(', ');
    await account.run(`ALTER TABLE ${path} DELETE WHERE ${whereOf(comparing, `${batchColumn} IN (${numbers})`)}`, {
      settings: { mutations_sync: 1 },
      signal,
    });
  }
  return batches.filter(({ batch, number }) => rowsOf.get(number) !== batch.rows);
}

function whereOf({ tenant, log }: Comparing, batches: string): string {
  return `${organizationColumn} = ${literal(tenant)} AND ${logColumn} = ${literal(log)} AND ${batches}`;
}

/** An insert outlives the gateway that sent it; what it writes would be there a second time. */
async function afterOthers({ account, tenant, log, signal }: Comparing): Promise<void> {
  for (;;) {
    const running = await account.rows(
      `SELECT 1 FROM system.processes WHERE startsWith(query_id, ${literal(insertIdPrefix(tenant, log))}) LIMIT 1`,
      signal,
    );
    if (running.length === 0) return;
    await sleep(200, undefined, { signal });
  }
}

import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { LogPosition } from '../../../src/contract/telemetry/index.ts';
import { literal } from '../quote.ts';
import type { Rows } from '../quote.ts';

/** How far a log is loaded. */
export interface Loaded {
  readonly position: LogPosition | undefined;
  /** How many batches that were: the next one is numbered so. */
  readonly batches: number;
}

/** The position table's word; rows of it are only ever added. */
export async function readLoaded(
  rows: Rows,
  table: string,
  organizationId: OrganizationId,
  log: string,
): Promise<Loaded> {
  const [row] = await rows(
    `SELECT segment, offset, batches FROM ${table}
       WHERE organization = ${literal(organizationId)} AND log = ${literal(log)}
       ORDER BY segment DESC, offset DESC LIMIT 1`,
  );
  if (row === undefined) return { position: undefined, batches: 0 };
  const { segment, offset, batches } = row;
  return { position: { segment: Number(segment), offset: Number(offset) }, batches: Number(batches) };
}

export function isAfter(a: LogPosition, b: LogPosition | undefined): boolean {
  return b === undefined || a.segment > b.segment || (a.segment === b.segment && a.offset > b.offset);
}

import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { z } from 'zod';
import {
  alertStatuses,
  auditEvents,
  incidentStatuses,
  resolutions,
  severities,
  waitingParties,
  webhookEvents,
} from '../../src/contract/storage/index.ts';
import type { DbBoolean, DbInteger } from './tables.ts';
import { foldCase, SightlineError } from '../../src/contract/core/index.ts';

/** Rows one call may ask for. Throws `invalid_argument` for anything but a whole number from 1 to 1,000. */
export function pageSize(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw new SightlineError('invalid_argument', 'limit must be a whole number from 1 to 1000.');
}

/** How many rows there are. */
export async function countOf(query: Knex.QueryBuilder): Promise<number> {
  const [counted] = await query.count<{ readonly rows: DbInteger }[]>({ rows: '*' });
  return integer(counted?.rows ?? 0);
}

/** For statements that name ids or keys: SQLite takes 32,766 bound values. */
export function* inChunks<Item>(items: readonly Item[], size = 1_000): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** A short text of a column with a length. Throws `invalid_argument` when it is blank, too long or has control characters. */
export function shortText(what: string, value: string, maximum: number): string {
  // eslint-disable-next-line no-control-regex
  if (value.trim() !== '' && value.length <= maximum && !/[\u0000-\u001f\u007f]/.test(value)) return value;
  throw new SightlineError('invalid_argument', `${what} must have 1 to ${maximum} printable characters.`);
}

/** The text as it is compared, which for a few scripts is longer than what was typed. */
export function comparable(what: string, value: string, maximum: number): string {
  const key = foldCase(value);
  if (key.length <= maximum) return key;
  throw new SightlineError('invalid_argument', `${what} is too long.`);
}

/** Words a column may hold. One that is not among them is damage, and reading it throws. */
export const roleColumn = z.enum(['admin', 'member']);
export const incidentStatusColumn = z.enum(incidentStatuses);
export const severityColumn = z.enum(severities);
export const alertStatusColumn = z.enum(alertStatuses);
export const resolutionColumn = z.enum(resolutions);
export const waitingPartyColumn = z.enum(waitingParties);
export const chatStatusColumn = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']);
export const messageRoleColumn = z.enum(['user', 'agent', 'system']);
export const investigationStatusColumn = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled']);
export const signingStateColumn = z.enum(['next', 'current', 'retired']);
export const webhookEventColumn = z.enum(webhookEvents);
export const auditEventColumn = z.enum(auditEvents);

/** Between what columns hold and what the contract speaks. */

export function integer(value: DbInteger): number {
  return typeof value === 'number' ? value : Number(value);
}

export function boolean(value: DbBoolean): boolean {
  return value === true || value === 1;
}

export function date(value: DbInteger): Date {
  return new Date(integer(value));
}

/** Spread into an object: the property, or nothing where the column is NULL. */
export function optional<Key extends string, Value, Read>(
  key: Key,
  value: Value | null | undefined,
  read: (value: Value) => Read,
): { [K in Key]?: Read } {
  if (value === null || value === undefined) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript widens a computed key to string
  return { [key]: read(value) } as { [K in Key]: Read };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

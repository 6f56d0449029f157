import { createHash } from 'node:crypto';
import type { DbBoolean, DbInteger } from './rows.ts';

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

import { createHash } from 'node:crypto';
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
import type { DbBoolean, DbInteger } from './tables/table.ts';

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

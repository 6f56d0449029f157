import { z } from 'zod';
import type { Desk } from './tool.ts';

/** Not zod's own, whose pattern would be sent with each tool in each request. */
const time = z
  .string()
  .max(40)
  .refine((text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)), 'must be RFC 3339');

export const timeRange = { start: time.describe('RFC 3339, inclusive'), end: time.describe('RFC 3339, exclusive') };

const longestDays = 31;

/** The stretch, or what is wrong with it in words for the model. */
export function readRange(
  { start, end }: { readonly start: string; readonly end: string },
  { assignment }: Desk,
): { readonly start: Date; readonly end: Date } | string {
  const range = { start: new Date(start), end: new Date(end) };
  if (range.start >= range.end) return 'start must be before end.';
  if (range.end.getTime() - range.start.getTime() > longestDays * 86_400_000) {
    return `The stretch is longer than ${longestDays} days: narrow it.`;
  }
  if (range.start > assignment.askedAt) return `start is in the future: it is ${assignment.askedAt.toISOString()}.`;
  return range;
}

import { SightlineError } from '../../contract/core/index.ts';
import type { CheckedStatement, TimePoint } from '../../contract/telemetry/index.ts';
import type { QueryWindow } from './result.ts';

/** From inclusive, to exclusive; both optional. */
export interface TimeBounds {
  readonly start?: Date;
  readonly end?: Date;
}

export interface StatementWindow {
  /** As reported to the caller. */
  readonly window: QueryWindow;
  /** As it is bound beneath the statement: wider where the statement counts from the warehouse's clock. */
  readonly bound: TimeBounds & { readonly start: Date };
}

const minuteMs = 60_000;
/** What the clocks of gateway and warehouse may be apart. */
const skewMs = 60_000;
/** The last millisecond that still fits a 64-bit count of nanoseconds, which is what some warehouses keep times in. */
const latest = 9_223_372_036_854;

/** The window a request asks for; undefined when it has neither bound. */
export function windowOf({ start, end }: TimeBounds = {}): QueryWindow | undefined {
  if (start === undefined && end === undefined) return undefined;
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }), source: 'argument' };
}

/** Throws invalid_argument for a window that holds nothing. */
export function checkWindow(window: TimeBounds | undefined): void {
  if (window?.start !== undefined && window.end !== undefined && window.start >= window.end) {
    throw new SightlineError('invalid_argument', 'start must be before end.', {
      hint: 'start is inclusive, end exclusive; leave end out for now.',
    });
  }
}

/**
 * What of the tables a statement is shown: what was asked for, else what its own predicates leave, else the last
 * `defaultMs`. A window wide enough for every place that reads a table, so that no row is hidden which the statement
 * names; undefined for a statement that reads none.
 */
export function statementWindow(
  { tables, reaches }: Pick<CheckedStatement, 'tables' | 'reaches'>,
  asked: TimeBounds | undefined,
  { now, defaultMs }: { readonly now: number; readonly defaultMs: number },
): StatementWindow | undefined {
  if (tables.length === 0) return undefined;
  if (asked?.start !== undefined) {
    const bounds = { start: asked.start, ...(asked.end === undefined ? {} : { end: asked.end }) };
    return { window: { ...bounds, source: 'argument' }, bound: bounds };
  }
  const until = asked?.end?.getTime();
  let start = { told: latest, bound: latest };
  let end: Edge | undefined = until === undefined ? { told: 0, bound: 0 } : { told: until, bound: until };
  let tookDefault = false;
  for (const reach of reaches.length === 0 ? [{}] : reaches) {
    const to = edgeOf(reach.end, now, 'end');
    let from = edgeOf(reach.start, now, 'start');
    if (from === undefined) {
      tookDefault = true;
      // An end ahead of now is no reason to read less of what has happened.
      const newest = Math.min(now, to?.told ?? now, until ?? now);
      // To the minute, so that the same statement is the same SQL for a while.
      const earliest = Math.max(0, floorMinute(newest - defaultMs));
      from = { told: earliest, bound: earliest };
    }
    start = { told: Math.min(start.told, from.told), bound: Math.min(start.bound, from.bound) };
    if (until !== undefined || end === undefined) continue;
    end = to && { told: Math.max(end.told, to.told), bound: Math.max(end.bound, to.bound) };
  }
  return {
    window: {
      start: new Date(start.told),
      ...(end === undefined ? {} : { end: new Date(end.told) }),
      source: tookDefault ? 'default' : until === undefined ? 'predicates' : 'argument',
    },
    bound: { start: new Date(start.bound), ...(end === undefined ? {} : { end: new Date(end.bound) }) },
  };
}

/** Says that the default took part, and how to see more. */
export function defaultWindowWarning({ start }: QueryWindow, defaultMs: number): string {
  const hours = Math.round((defaultMs / 3_600_000) * 10) / 10;
  return `Rows before ${start?.toISOString() ?? ''} were not read: where neither start nor a predicate on time says otherwise, ${hours === 1 ? 'one hour is' : `${hours} hours are`} read. Send start, such as "now-7d", to look further back.`;
}

/** Milliseconds since 1970. */
interface Edge {
  readonly told: number;
  readonly bound: number;
}

/** Undefined for what is open, is no moment, or is an end that no row can lie behind. */
function edgeOf(point: TimePoint | undefined, now: number, side: 'start' | 'end'): Edge | undefined {
  if (point === undefined) return undefined;
  const relative = 'fromNowMs' in point;
  const told = relative ? now + point.fromNowMs : point.at.getTime();
  if (Number.isNaN(told)) return undefined;
  const bound = relative ? loosened(told, side) : told;
  if (side === 'end' && bound > latest) return undefined;
  return { told: within(told), bound: within(bound) };
}

/** Outward, and on to the minute, so that the same statement is the same SQL for a while. */
function loosened(time: number, side: 'start' | 'end'): number {
  return side === 'start' ? floorMinute(time - skewMs) : -floorMinute(-(time + skewMs));
}

function floorMinute(time: number): number {
  return Math.floor(time / minuteMs) * minuteMs;
}

function within(time: number): number {
  return Math.min(Math.max(0, time), latest);
}

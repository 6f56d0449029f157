import type { Assignment } from '../../../src/contract/agent/index.ts';
import type { TableName } from '../../../src/contract/telemetry/index.ts';
import { lengthOf, type Windows } from '../notebook.ts';
import type { Coverage } from '../steps/coverage.ts';
import { moment } from '../sql.ts';
import type { Question } from './asks.ts';
import type { TimeRange } from './time-range.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Earlier telemetry shorter than this, or than half of the stretch, says nothing about what is usual. */
const shortestBefore = 3 * minute;

/** Telemetry comes in late by less; what is looked at ends where it does, once that is longer ago. */
const delay = minute;

/** Once the telemetry ended so long ago, that is said. */
const silence = 2 * minute;

/** Where the stretch came from: what was not asked for may be moved to where the telemetry is. */
export interface Asked {
  readonly range: TimeRange;
  readonly source: 'named' | 'incident' | 'default';
}

/** The stretch that is looked at: named in the question, else around the incident's start, else the last hour. */
export function askedRange(question: Pick<Question, 'range'>, assignment: Assignment): Asked {
  const { incident, askedAt } = assignment;
  const { range } = question;
  if (range && !(range.rough && incident && isMeant(range, incident))) {
    return { range, source: range.rough ? 'default' : 'named' };
  }
  const source = incident === undefined || incident.startedAt > askedAt ? 'default' : 'incident';
  return { range: unnamedRange(assignment, askedAt), source };
}

/** "Since about half an hour" means the incident's start where the two roughly agree; once it is resolved, now is later. */
function isMeant({ start, end }: TimeRange, { startedAt, resolvedAt }: NonNullable<Assignment['incident']>): boolean {
  const since = end.getTime() - startedAt.getTime();
  const length = lengthOf({ start, end });
  return resolvedAt === undefined && since >= length / 4 && since <= length;
}

/** The default range, without a time in the question. */
export function unnamedRange({ incident }: Pick<Assignment, 'incident'>, now: Date): TimeRange {
  if (incident === undefined || incident.startedAt > now) {
    return { start: new Date(now.getTime() - hour), end: now };
  }
  const began = incident.startedAt.getTime();
  const end = Math.min(now.getTime(), incident.resolvedAt?.getTime() ?? Infinity, began + 2 * hour);
  return { start: new Date(began - minute), end: new Date(Math.max(end, began + 5 * minute)) };
}

/** How far the first look goes: a day before the question, or as long before the stretch as the stretch is. */
export function lookedAt({ range }: Asked, askedAt: Date, days = 1): TimeRange {
  const length = lengthOf(range);
  const start = Math.min(range.start.getTime() - length, askedAt.getTime() - days * 24 * hour);
  return { start: new Date(start), end: askedAt > range.end ? askedAt : range.end };
}

/**
 * Fits the stretch to the telemetry that there is, and puts as long a stretch before it. Undefined when the stretch was
 * named and holds nothing, and when the incident began after the telemetry ends. The notes are what the reader has to know
 * about the choice.
 */
export function placeWindows(
  asked: Asked,
  coverage: Coverage,
  question: Pick<Question, 'references' | 'beganAt'>,
  incident?: Pick<NonNullable<Assignment['incident']>, 'startedAt'>,
): { readonly windows: Windows; readonly notes: readonly string[] } | undefined {
  const { first, last } = coverage;
  if (first === undefined || last === undefined) return undefined;
  const notes: string[] = [];
  let { range } = asked;
  const isEmpty = coverage.services.every(({ recent }) => recent === 0);
  if (isEmpty && asked.source !== 'default') return undefined;
  if (asked.source !== 'named' && incident !== undefined && isOver(last, incident.startedAt)) return undefined;
  // Minutes without telemetry would be compared as minutes in which nothing happens, and each service would seem to have stopped.
  if (range.end.getTime() - last.getTime() > delay) {
    if (isOver(last, range.end)) {
      notes.push(endOf(coverage.table, last));
    }
    const end = new Date(last.getTime() + 1);
    range = { start: asked.source === 'default' ? new Date(end.getTime() - lengthOf(range)) : range.start, end };
  }
  if (question.references.length > 0) return { windows: besides(range, first, question), notes };
  // An alert fires some minutes after what it is about: these are not what is usual.
  const gap = asked.source === 'incident' ? 10 * minute : 0;
  return { windows: compare(range, first, { gap, isNamed: question.beganAt !== undefined }), notes };
}

/** So much from before is enough where a person says when it began, however long ago that is. */
const enoughBefore = 30 * minute;

interface Comparing {
  /** Left out right before. */
  readonly gap?: number;
  /** A person said that it began with the stretch. */
  readonly isNamed?: boolean;
}

/** The stretch, begun no earlier than the telemetry, and as much of the time before it as there is, after a gap. */
export function compare(range: TimeRange, first: Date, { gap = 0, isNamed = false }: Comparing = {}): Windows {
  const start = later(range.start, first);
  const length = Math.min(24 * hour, Math.max(10 * minute, lengthOf(range)));
  const end = new Date(start.getTime() - gap);
  const before = { start: later(new Date(end.getTime() - length), first), end };
  const now = { start, end: range.end };
  const least = Math.min(lengthOf(now) / 2, isNamed ? enoughBefore : Infinity);
  if (lengthOf(before) >= Math.max(shortestBefore, least)) return { now, before, references: [] };
  return gap === 0 ? { now, before: undefined, references: [] } : compare(range, first, { isNamed });
}

/** So long before what a person says to be the beginning is compared with, beside what they name as usual. */
const rightBefore = 2 * minute;

/** The stretch against what a person names as usual, and against what came right before where it is said when it began. */
export function besides(
  range: TimeRange,
  first: Date,
  { references, beganAt }: Pick<Question, 'references' | 'beganAt'>,
): Windows {
  const start = beganAt && later(new Date(beganAt.getTime() - rightBefore), first);
  return { now: range, before: start && beganAt && start < beganAt ? { start, end: beganAt } : undefined, references };
}

/** The stretch cut in two where things changed, for when there is nothing before it; in the middle when a part would be tiny. */
export function split({ start, end }: TimeRange, at: Date | undefined): Windows {
  const middle = new Date((start.getTime() + end.getTime()) / 2);
  const least = Math.max(5 * minute, lengthOf({ start, end }) / 8);
  const fits = at !== undefined && lengthOf({ start, end: at }) >= least && lengthOf({ start: at, end }) >= least;
  const cut = fits ? at : middle;
  const windows = { now: { start: cut, end }, before: { start, end: cut }, references: [] };
  return lengthOf(windows.before) >= shortestBefore
    ? windows
    : { now: { start, end }, before: undefined, references: [] };
}

/** Whether telemetry had ended by then, by more than a mere delay. */
export function isOver(last: Date, time: Date): boolean {
  return time.getTime() - last.getTime() > silence;
}

/** One service that stops is said otherwise. */
export function endOf(table: TableName, last: Date): string {
  return `The ${table} of all services end at ${moment(last)}, so what came later is not known.`;
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

import type { DialectWriter } from '../../src/contract/telemetry/index.ts';
import type { Focus } from './question/asks.ts';
import type { TimeRange } from './question/time-range.ts';
import { lengthOf, usual, type Windows } from './notebook.ts';
import { ofKinds, type Template } from './templates/drain.ts';
import { code } from '../../src/contract/core/index.ts';

export { code, fenced } from '../../src/contract/core/index.ts';

/** Of metrics: not a counter that only rises. NULL is what it is for anything but a sum. */
export const isLevel = 'COALESCE(is_monotonic, false) = false';

export function percent(share: number): string {
  const value = share * 100;
  // 504 of 505 are not all.
  if (value > 99 && value < 100) return `${Math.floor(value * 10) / 10} %`;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2)} %`;
}

export function milliseconds(nanoseconds: number): string {
  const value = nanoseconds / 1e6;
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value >= 10 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

/** `2026-11-21 14:05 UTC` */
export function moment(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function between({ start, end }: TimeRange): string {
  return `from ${moment(start)} to ${moment(end)}`;
}

/** Keys of the HTTP status of an answer: of the stable convention, then of the one before it. */
export const httpStatus = ['http.response.status_code', 'http.status_code'];

/** SQL of the first of these attributes that a row has, or of an empty text. */
export function firstAttribute(write: DialectWriter, column: string, keys: readonly string[]): string {
  return `COALESCE(${[...keys.map((key) => `NULLIF(${write.attribute(column, key)}, '')`), "''"].join(', ')})`;
}

/** ` [E3, E4]` */
export function cited(...ids: readonly string[]): string {
  return ids.length === 0 ? '' : ` [${ids.join(', ')}]`;
}

export function names(services: readonly string[]): string {
  return services.map((name) => code(name, 60)).join(', ');
}

/** One service calls another. */
export interface Calling {
  readonly caller: string;
  readonly callee: string;
}

/** Whether one service calls the other, directly or through others; not through itself. */
export function reaches(calls: readonly Calling[], from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const service of seen) {
    for (const { caller, callee } of calls) {
      if (caller !== service) continue;
      if (callee === to) return true;
      seen.add(callee);
    }
  }
  return false;
}

export function within(write: DialectWriter, column: string, { start, end }: TimeRange): string {
  return `(${column} >= ${write.literal(start)} AND ${column} < ${write.literal(end)})`;
}

/** Rows of either side; plain comparisons at the top, so that the service finds the time bounds and the engine prunes. */
export function eitherWindow(write: DialectWriter, column: string, windows: Windows): string {
  return scope(write, column, [windows.now, ...usual(windows)], windows.references.length > 0);
}

/** Rows of what is compared with; as `eitherWindow`. */
export function usualWindow(write: DialectWriter, column: string, windows: Windows): string {
  return scope(write, column, usual(windows), windows.references.length > 0);
}

function scope(write: DialectWriter, column: string, ranges: readonly TimeRange[], apart: boolean): string {
  const start = new Date(Math.min(...ranges.map((range) => range.start.getTime())));
  const end = new Date(Math.max(...ranges.map((range) => range.end.getTime())));
  const bounds = within(write, column, { start, end }).slice(1, -1);
  return apart ? `${bounds} AND (${ranges.map((range) => within(write, column, range)).join(' OR ')})` : bounds;
}

/** True for rows of what is compared with; never true where there is nothing. */
export function isBefore(write: DialectWriter, column: string, windows: Windows): string {
  const [first = '1 = 0', ...rest] = usual(windows).map((range) => within(write, column, range));
  return rest.length === 0 ? first : `(${[first, ...rest].join(' OR ')})`;
}

export function inList(write: DialectWriter, column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => write.literal(value)).join(', ')})`;
}

/** ` AND service_name IN (…)` when only some services are wanted. */
export function onlyFocus(write: DialectWriter, focus: Focus, column = 'service_name'): string {
  return focus.only && focus.services.length > 0 ? ` AND ${inList(write, column, focus.services)}` : '';
}

/** Whether a metric has one of the words in its name. */
export function isNamed(write: DialectWriter, wanted: readonly string[]): string {
  return `(${wanted.map((word) => `lower(name) LIKE ${write.literal(`%${word}%`)}`).join(' OR ')})`;
}

/** The first of these attributes that a row has, else ''. */
export function firstOf(write: DialectWriter, map: string, keys: readonly string[]): string {
  return `COALESCE(${[...keys.map((key) => write.attribute(map, key)), "''"].join(', ')})`;
}

/** What sent a metric, where a service runs several times. */
export function instanceOf(write: DialectWriter): string {
  return firstOf(write, 'resource_attributes', ['service.instance.id', 'k8s.pod.name', 'host.name']);
}

/** What a failed span says. */
export const statusText = 'status_message';

/** The same, where its status has no words: many senders, such as the Java agent, only record an exception. */
export function exceptionText(write: DialectWriter): string {
  return `COALESCE(NULLIF(${statusText}, ''), ${write.exception('events')}, '')`;
}

/** Spans of work that a service did itself; its outgoing calls are counted where they arrive. */
export function ownWork(column = 'kind'): string {
  return `${column} NOT IN ('CLIENT', 'PRODUCER')`;
}

/** What varies from line to line, in the order in which it is masked. RE2, PCRE and POSIX read these alike. */
const masks: readonly (readonly [pattern: string, mask: string])[] = [
  ['[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}', '<uuid>'],
  ['[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+', '<email>'],
  ['[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}(:[0-9]+)?', '<ip>'],
  ['0x[0-9a-fA-F]+|[0-9a-fA-F]*[0-9][0-9a-fA-F]{10,}', '<hex>'],
  ['[0-9]+([.,:][0-9]+)*', '<n>'],
];

/** The beginning of a text with its variable parts masked, so that lines of one kind are counted together. */
export function masked(write: DialectWriter, column: string, length: number): string {
  return masks.reduce(
    (text, [pattern, mask]) => write.replaceRegexp(text, pattern, mask),
    `substr(${column}, 1, ${length})`,
  );
}

/** What is left of a date as C and Java print it, `Sun Jan 29 …`, when its numbers are taken out: else Monday's lines are new. */
const dayAndMonth = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';

/**
 * A log line's template as Drain preprocesses it: values behind `=` and words with a digit in them are variables. Coarser
 * and cheaper than `masked`, for lines of every kind and not only warnings. Then by what Drain found among them.
 */
export function logTemplate(write: DialectWriter, column: string, templates: readonly Template[]): string {
  const values = write.replaceRegexp(`substr(${column}, 1, 300)`, '=[^] ,;)}]*', '=<*>');
  const dates = write.replaceRegexp(values, dayAndMonth, '<*>');
  const words = write.replaceRegexp(dates, '[^ ]*[0-9][^ ]*', '<*>');
  return ofKinds(write, `substr(${write.replaceRegexp(words, '(<[*]> )+', '<*> ')}, 1, 120)`, templates);
}

/** Most parts that a stretch is cut into: a step keeps fifty rows. */
const parts = 48;

const widths = [10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];

/** Seconds of the parts into which so many milliseconds are cut. */
export function partWidth(milliseconds: number): number {
  return widths.find((candidate) => milliseconds / 1_000 / candidate <= parts) ?? 14_400;
}

/** The part of the baseline that a row falls into: the spread between parts is the natural variation. */
export function chunk(write: DialectWriter, column: string, windows: Windows): string {
  return write.bucket(column, partWidth(usual(windows).reduce((sum, range) => sum + lengthOf(range), 0)));
}

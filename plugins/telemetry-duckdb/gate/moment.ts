import { byNames, isList, isNode, text, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { fold } from './relations.ts';

/** A moment that a constant expression means: somewhere from `low` to `high`, in ms since 1970 or from now. */
export interface Moment {
  readonly fromNow: boolean;
  readonly low: number;
  readonly high: number;
}

interface Span {
  readonly low: number;
  readonly high: number;
}

const second = 1_000;
const day = 86_400 * second;

/** What a unit of an interval or of date_trunc may last; `days` and shorter are exact, since all times are UTC. */
const units: Readonly<Record<string, Span>> = {
  microsecond: { low: 0.001, high: 0.001 },
  millisecond: exactly(1),
  second: exactly(second),
  minute: exactly(60 * second),
  hour: exactly(3_600 * second),
  day: exactly(day),
  week: exactly(7 * day),
  month: { low: 28 * day, high: 31 * day },
  quarter: { low: 84 * day, high: 93 * day },
  year: { low: 365 * day, high: 366 * day },
};

const shortUnits = byNames(
  Object.entries({
    microsecond: 'us',
    millisecond: 'ms',
    second: 's sec secs',
    minute: 'm min mins',
    hour: 'h hr hrs',
    day: 'd',
    week: 'w',
    month: 'mon mons',
    year: 'y yr yrs',
  }),
);

const nowFunctions: ReadonlySet<string> = new Set([
  'now',
  'get_current_timestamp',
  'transaction_timestamp',
  'current_localtimestamp',
]);

/** Written without brackets they look like columns, and are ones where there is a column of that name. */
export const bareMoments: ReadonlySet<string> = new Set(['current_timestamp', 'localtimestamp', 'current_date']);

/** Undefined for whatever is not surely a moment. */
export function momentOf(expression: Json | undefined): Moment | undefined {
  if (!isNode(expression)) return undefined;
  switch (expression['class']) {
    case 'CONSTANT':
      return writtenMoment(constantText(expression), true);
    case 'COLUMN_REF':
      return bareMoment(expression);
    case 'CAST':
      return castMoment(expression);
    case 'FUNCTION':
      return functionMoment(expression);
    default:
      return undefined;
  }
}

function bareMoment(reference: Node): Moment | undefined {
  const names = reference['column_names'];
  const name = isList(names) && names.length === 1 ? fold(text(names[0])) : '';
  if (!bareMoments.has(name)) return undefined;
  return name === 'current_date' ? startOf(now, exactly(day)) : now;
}

function castMoment(cast: Node): Moment | undefined {
  const type = isNode(cast['cast_type']) ? text(cast['cast_type']['id']) : '';
  if (type !== 'TIMESTAMP' && type !== 'TIMESTAMP WITH TIME ZONE' && type !== 'DATE') return undefined;
  const child = cast['child'];
  const literal = constantText(child);
  const moment = literal === undefined ? momentOf(child) : writtenMoment(literal, type !== 'DATE');
  const isDay = literal !== undefined && /^\s*[\d-]+\s*$/.test(literal);
  return moment && type === 'DATE' && !isDay ? startOf(moment, exactly(day)) : moment;
}

function functionMoment(call: Node): Moment | undefined {
  const name = fold(text(call['function_name']));
  const children = isList(call['children']) ? call['children'] : [];
  const [first, last] = children;
  if (children.length === 0) {
    if (name === 'today' || name === 'current_date') return startOf(now, exactly(day));
    return nowFunctions.has(name) ? now : undefined;
  }
  if (children.length !== 2) return undefined;
  if (name === 'timezone') return constantText(first) === 'UTC' ? momentOf(last) : undefined;
  if (name === 'date_trunc' || name === 'datetrunc') {
    const unit = unitOf(constantText(first) ?? '');
    const moment = momentOf(last);
    return unit && moment && startOf(moment, unit);
  }
  if (name === '-') return shifted(momentOf(first), negated(durationOf(last)));
  if (name === '+') return shifted(momentOf(first), durationOf(last)) ?? shifted(momentOf(last), durationOf(first));
  return undefined;
}

/** Functions of a time that count from 1970, by the milliseconds of what they count in. */
const epochs: Readonly<Record<string, number>> = { epoch: second, epoch_ms: 1, epoch_us: 0.001, epoch_ns: 0.000_001 };

/** `epoch(time)`: what is counted, and in how many milliseconds; undefined for anything else. */
export function epochOf(expression: Json | undefined): { readonly of: Json; readonly scale: number } | undefined {
  if (!isNode(expression) || expression['class'] !== 'FUNCTION') return undefined;
  const name = fold(text(expression['function_name']));
  const [of, another] = isList(expression['children']) ? expression['children'] : [];
  const scale = Object.hasOwn(epochs, name) ? epochs[name] : undefined;
  return of === undefined || another !== undefined || scale === undefined ? undefined : { of, scale };
}

/** `1767225600`, `epoch(now()) - 3600`, counted so. */
export function countedMoment(expression: Json | undefined, scale: number): Moment | undefined {
  const count = wholeNumber(expression);
  if (count !== undefined) return { fromNow: false, low: count * scale, high: count * scale + 1 };
  const counted = epochOf(expression);
  if (counted !== undefined) return counted.scale === scale ? momentOf(counted.of) : undefined;
  if (!isNode(expression) || expression['class'] !== 'FUNCTION') return undefined;
  const [first, last] = isList(expression['children']) ? expression['children'] : [];
  const steps = wholeNumber(last);
  if (steps === undefined || (expression['function_name'] !== '-' && expression['function_name'] !== '+'))
    return undefined;
  const span = exactly((expression['function_name'] === '-' ? -steps : steps) * scale);
  return shifted(countedMoment(first, scale), span);
}

/** A whole number of days is what a date takes; with anything else the engine refuses it. */
export function durationOf(expression: Json | undefined): Span | undefined {
  const days = wholeNumber(expression);
  return days === undefined ? intervalOf(expression) : times(exactly(day), days);
}

function intervalOf(expression: Json | undefined): Span | undefined {
  if (!isNode(expression)) return undefined;
  if (expression['class'] === 'CAST') {
    const type = isNode(expression['cast_type']) ? expression['cast_type']['id'] : undefined;
    return type === 'INTERVAL' ? writtenInterval(constantText(expression['child'])) : undefined;
  }
  if (expression['class'] !== 'FUNCTION') return undefined;
  const name = fold(text(expression['function_name']));
  const children = isList(expression['children']) ? expression['children'] : [];
  const [first, last] = children;
  if (name === '-' && children.length === 1) return negated(intervalOf(first));
  if (name === '*' && children.length === 2) {
    return times(intervalOf(last), wholeNumber(first)) ?? times(intervalOf(first), wholeNumber(last));
  }
  if (!name.startsWith('to_') || children.length !== 1) return undefined;
  return times(unitOf(name.slice(3)), wholeNumber(first));
}

function writtenInterval(literal: string | undefined): Span | undefined {
  if (literal === undefined || !/^\s*(?:[+-]?\d{1,9}\s*[a-zA-Z]+\s*)+$/.test(literal)) return undefined;
  let sum: Span | undefined = exactly(0);
  for (const [, count, unit] of literal.matchAll(/([+-]?\d+)\s*([a-zA-Z]+)/g)) {
    const part = times(unitOf(unit ?? ''), Number(count));
    sum = sum && part && { low: sum.low + part.low, high: sum.high + part.high };
  }
  return sum;
}

export function unitOf(name: string): Span | undefined {
  const folded = fold(name);
  const short = Object.hasOwn(shortUnits, folded) ? shortUnits[folded] : undefined;
  const unit = short ?? folded.replace(/s$/, '');
  return Object.hasOwn(units, unit) ? units[unit] : undefined;
}

/** `INTERVAL 1 HOUR` comes as `to_hours(CAST(trunc(CAST(1 AS DOUBLE)) AS BIGINT))`. */
export function wholeNumber(expression: Json | undefined): number | undefined {
  if (!isNode(expression)) return undefined;
  if (expression['class'] === 'CAST') {
    const type = isNode(expression['cast_type']) ? text(expression['cast_type']['id']) : '';
    if (!['DOUBLE', 'BIGINT', 'INTEGER'].includes(type)) return undefined;
    const literal = constantText(expression['child']);
    return literal === undefined ? wholeNumber(expression['child']) : whole(literal);
  }
  if (expression['class'] === 'CONSTANT') {
    const constant = isNode(expression['value']) ? expression['value'] : {};
    const { type, value } = constant;
    // Of a decimal the tree has the digits alone: 1.5 comes as 15.
    const isInteger = isNode(type) && (type['id'] === 'INTEGER' || type['id'] === 'BIGINT');
    return isInteger && typeof value === 'number' ? whole(String(value)) : undefined;
  }
  const children = expression['children'];
  if (expression['class'] !== 'FUNCTION' || !isList(children) || children.length !== 1) return undefined;
  if (expression['function_name'] === '-') return opposite(wholeNumber(children[0]));
  return expression['function_name'] === 'trunc' ? wholeNumber(children[0]) : undefined;
}

function whole(digits: string): number | undefined {
  return /^-?\d{1,16}$/.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : undefined;
}

function opposite(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

const timestamp =
  /^\s*(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|([+-])(\d{2})(?::?(\d{2}))?)?\s*$/;

/** The engine leaves out the offset of a date, so that it is not relied on; in other texts the gate writes UTC (./offsets.ts). */
function writtenMoment(literal: string | undefined, hasZone: boolean): Moment | undefined {
  const match = literal === undefined ? null : timestamp.exec(literal);
  if (match === null) return undefined;
  const part = (index: number) => Number(match[index] ?? '0');
  const [, , , , , , , fraction = '', , sign] = match;
  const year = part(1);
  if (sign !== undefined && !hasZone) return undefined;
  const offset = (part(10) * 60 + part(11)) * (sign === '-' ? -1 : 1);
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const written = Date.UTC(year, part(2) - 1, part(3), part(4), part(5), part(6), milliseconds);
  const base = written - offset * 60 * second;
  // Before the year 100 JavaScript means the twentieth century.
  if (!Number.isFinite(base) || year < 100) return undefined;
  return { fromNow: false, low: base, high: /[1-9]/.test(fraction.slice(3)) ? base + 1 : base };
}

const now: Moment = { fromNow: true, low: 0, high: 0 };

function startOf(moment: Moment, unit: Span): Moment {
  return { ...moment, low: moment.low - unit.high };
}

function shifted(moment: Moment | undefined, by: Span | undefined): Moment | undefined {
  return moment && by && { ...moment, low: moment.low + by.low, high: moment.high + by.high };
}

function negated(span: Span | undefined): Span | undefined {
  return span && { low: -span.high, high: -span.low };
}

function times(span: Span | undefined, count: number | undefined): Span | undefined {
  if (span === undefined || count === undefined) return undefined;
  const ends = [span.low * count, span.high * count];
  return { low: Math.min(...ends), high: Math.max(...ends) };
}

function exactly(ms: number): Span {
  return { low: ms, high: ms };
}

export function constantText(expression: Json | undefined): string | undefined {
  if (!isNode(expression) || expression['class'] !== 'CONSTANT') return undefined;
  const constant = expression['value'];
  if (!isNode(constant) || constant['is_null'] !== false || typeof constant['value'] !== 'string') return undefined;
  const { type } = constant;
  return isNode(type) && type['id'] === 'VARCHAR' ? constant['value'] : undefined;
}

import {
  byNames,
  calendar,
  dayMs,
  isList,
  isNode,
  list,
  Moment,
  RoundedColumn,
  secondMs,
  Span,
  text,
  type Counted,
  type Json,
  type Node,
} from '../../../src/contract/telemetry/index.ts';
import { fold } from './relations.ts';

/** A quarter is three months of any length. */
const units: Readonly<Record<string, Span>> = { ...calendar, quarter: new Span(84 * dayMs, 93 * dayMs) };

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
  const names = list(reference['column_names']);
  const name = names.length === 1 ? fold(text(names[0])) : '';
  if (!bareMoments.has(name)) return undefined;
  return name === 'current_date' ? Moment.now.roundedDown(dayMs) : Moment.now;
}

function castMoment(cast: Node): Moment | undefined {
  const type = isNode(cast['cast_type']) ? text(cast['cast_type']['id']) : '';
  if (type !== 'TIMESTAMP' && type !== 'TIMESTAMP WITH TIME ZONE' && type !== 'DATE') return undefined;
  const child = cast['child'];
  const literal = constantText(child);
  const moment = literal === undefined ? momentOf(child) : writtenMoment(literal, type !== 'DATE');
  const isDay = literal !== undefined && /^\s*[\d-]+\s*$/.test(literal);
  return type === 'DATE' && !isDay ? moment?.roundedDown(dayMs) : moment;
}

function functionMoment(call: Node): Moment | undefined {
  const name = fold(text(call['function_name']));
  const children = list(call['children']);
  const [first, last] = children;
  if (children.length === 0) {
    if (name === 'today' || name === 'current_date') return Moment.now.roundedDown(dayMs);
    return nowFunctions.has(name) ? Moment.now : undefined;
  }
  if (children.length !== 2) return undefined;
  if (name === 'timezone') return constantText(first) === 'UTC' ? momentOf(last) : undefined;
  if (name === 'date_trunc' || name === 'datetrunc') {
    return momentOf(last)?.roundedDown(unitOf(constantText(first) ?? '')?.most);
  }
  if (name === '-') return momentOf(first)?.shifted(durationOf(last)?.times(-1));
  if (name === '+') return momentOf(first)?.shifted(durationOf(last)) ?? momentOf(last)?.shifted(durationOf(first));
  return undefined;
}

/** Undefined for whatever is not surely a column, or one rounded down. */
export function columnOf(expression: Json | undefined): RoundedColumn | undefined {
  if (!isNode(expression)) return undefined;
  if (expression['class'] === 'COLUMN_REF') {
    return new RoundedColumn(list(expression['column_names']).map((part) => fold(text(part))));
  }
  if (expression['class'] === 'CAST') {
    const isDate = isNode(expression['cast_type']) && expression['cast_type']['id'] === 'DATE';
    return isDate ? columnOf(expression['child'])?.roundedDown(dayMs) : undefined;
  }
  const name = expression['class'] === 'FUNCTION' ? fold(text(expression['function_name'])) : '';
  const [first, second, ...more] = list(expression['children']);
  if (more.length > 0) return undefined;
  if (name === 'date' && second === undefined) return columnOf(first)?.roundedDown(dayMs);
  if (name === 'date_trunc' || name === 'datetrunc') {
    return columnOf(second)?.roundedDown(unitOf(constantText(first) ?? '')?.most);
  }
  return name === 'time_bucket' ? columnOf(second)?.roundedDown(durationOf(first)?.most) : undefined;
}

/** Functions of a time that count from 1970, by the milliseconds of what they count in. */
const epochs: Readonly<Record<string, number>> = { epoch: secondMs, epoch_ms: 1, epoch_us: 0.001, epoch_ns: 0.000_001 };

/** `epoch(time)`: in whole units, so that it lies up to one before. */
export function countedOf(expression: Json | undefined): Counted<Json> | undefined {
  if (!isNode(expression) || expression['class'] !== 'FUNCTION') return undefined;
  const name = fold(text(expression['function_name']));
  const [of, another] = list(expression['children']);
  const scale = Object.hasOwn(epochs, name) ? epochs[name] : undefined;
  if (of === undefined || another !== undefined || scale === undefined) return undefined;
  return { of, scale, width: Math.max(1, scale) };
}

/** `1767225600`, `epoch(now()) - 3600`, counted so. */
export function countedMoment(expression: Json | undefined, scale: number): Moment | undefined {
  const count = wholeNumber(expression);
  if (count !== undefined) return new Moment('epoch', count * scale, count * scale + 1);
  const counted = countedOf(expression);
  if (counted !== undefined) return counted.scale === scale ? momentOf(counted.of) : undefined;
  if (!isNode(expression) || expression['class'] !== 'FUNCTION') return undefined;
  const [first, last] = list(expression['children']);
  const steps = wholeNumber(last);
  if (steps === undefined || (expression['function_name'] !== '-' && expression['function_name'] !== '+'))
    return undefined;
  const span = new Span((expression['function_name'] === '-' ? -steps : steps) * scale);
  return countedMoment(first, scale)?.shifted(span);
}

/** A whole number of days is what a date takes; with anything else the engine refuses it. */
function durationOf(expression: Json | undefined): Span | undefined {
  const days = wholeNumber(expression);
  return days === undefined ? intervalOf(expression) : new Span(dayMs * days);
}

function intervalOf(expression: Json | undefined): Span | undefined {
  if (!isNode(expression)) return undefined;
  if (expression['class'] === 'CAST') {
    const type = isNode(expression['cast_type']) ? expression['cast_type']['id'] : undefined;
    return type === 'INTERVAL' ? writtenInterval(constantText(expression['child'])) : undefined;
  }
  if (expression['class'] !== 'FUNCTION') return undefined;
  const name = fold(text(expression['function_name']));
  const children = list(expression['children']);
  const [first, last] = children;
  if (name === '-' && children.length === 1) return intervalOf(first)?.times(-1);
  if (name === '*' && children.length === 2) {
    return intervalOf(last)?.times(wholeNumber(first)) ?? intervalOf(first)?.times(wholeNumber(last));
  }
  if (!name.startsWith('to_') || children.length !== 1) return undefined;
  return unitOf(name.slice(3))?.times(wholeNumber(first));
}

function writtenInterval(literal: string | undefined): Span | undefined {
  if (literal === undefined || !/^\s*(?:[+-]?\d{1,9}\s*[a-zA-Z]+\s*)+$/.test(literal)) return undefined;
  let sum: Span | undefined = new Span(0);
  for (const [, count, unit] of literal.matchAll(/([+-]?\d+)\s*([a-zA-Z]+)/g)) {
    sum = sum?.plus(unitOf(unit ?? '')?.times(Number(count)));
  }
  return sum;
}

function unitOf(name: string): Span | undefined {
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
  const at = written - offset * 60 * secondMs;
  // Before the year 100 JavaScript means the twentieth century.
  if (!Number.isFinite(at) || year < 100) return undefined;
  return new Moment('epoch', at, /[1-9]/.test(fraction.slice(3)) ? at + 1 : at);
}

export function constantText(expression: Json | undefined): string | undefined {
  if (!isNode(expression) || expression['class'] !== 'CONSTANT') return undefined;
  const constant = expression['value'];
  if (!isNode(constant) || constant['is_null'] !== false || typeof constant['value'] !== 'string') return undefined;
  const { type } = constant;
  return isNode(type) && type['id'] === 'VARCHAR' ? constant['value'] : undefined;
}

import { isNode, type Json, list, type Node, text } from '../../../src/contract/telemetry/index.ts';
import { constantNumber, exactNumber } from './names.ts';
import { namesOf, only } from './tree.ts';

/** A constant moment of a statement, between two bounds in milliseconds: since 1970, or from the moment it runs. */
export interface Moment {
  readonly from: 'epoch' | 'now';
  readonly earliest: number;
  readonly latest: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How long the unit of date_trunc may be; a day has 25 hours where clocks are put back. */
const units: Readonly<Record<string, number>> = {
  microseconds: 1,
  milliseconds: 1,
  second: 1_000,
  minute: 60_000,
  hour: hourMs,
  day: 25 * hourMs,
  week: 7 * dayMs + hourMs,
  month: 31 * dayMs + hourMs,
  quarter: 92 * dayMs + hourMs,
  year: 366 * dayMs + hourMs,
};

const runNow: Moment = { from: 'now', earliest: 0, latest: 0 };

/**
 * What a constant expression compared with `time` comes to, loosened outward where it is not known exactly; undefined
 * where nothing certain is. The session's time zone is UTC.
 */
export function momentOf(value: Json | undefined, depth = 0): Moment | undefined {
  if (depth > 20) return undefined;
  const constant = only('A_Const', value);
  if (constant !== undefined) return literal(constant, 'timestamptz');
  const cast = only('TypeCast', value);
  if (cast !== undefined) return castOf(cast, depth);
  const clock = only('SQLValueFunction', value);
  if (clock !== undefined) return clockOf(text(clock['op']));
  const call = only('FuncCall', value);
  if (call !== undefined) return called(call, depth);
  const operation = only('A_Expr', value);
  return operation === undefined ? undefined : moved(operation, depth);
}

function clockOf(op: string): Moment | undefined {
  if (/^SVFOP_(?:CURRENT_|LOCAL)TIMESTAMP$/.test(op)) return runNow;
  return op === 'SVFOP_CURRENT_DATE' ? { from: 'now', earliest: -dayMs, latest: 0 } : undefined;
}

function castOf(cast: Node, depth: number): Moment | undefined {
  const type = typeOf(cast['typeName']);
  if (type === undefined) return undefined;
  const constant = only('A_Const', cast['arg']);
  if (constant !== undefined) return literal(constant, type);
  const inner = momentOf(cast['arg'], depth + 1);
  return inner && type === 'date' ? { ...inner, earliest: inner.earliest - dayMs } : inner;
}

/** Without modifiers, which round. */
function typeOf(value: Json | undefined): 'timestamptz' | 'timestamp' | 'date' | undefined {
  if (!isNode(value) || value['typmods'] !== undefined || value['arrayBounds'] !== undefined) return undefined;
  const name = namesOf(value['names']).at(-1);
  return name === 'timestamptz' || name === 'timestamp' || name === 'date' ? name : undefined;
}

const written =
  /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?(?: ?(Z|UTC|[+-]\d\d(?::?\d\d)?))?$/i;

/** Only forms that every reader reads alike. */
function literal(constant: Node, type: 'timestamptz' | 'timestamp' | 'date'): Moment | undefined {
  const string = constant['sval'];
  const match = isNode(string) ? written.exec(text(string['sval'])) : null;
  if (match === null) return undefined;
  const [, year, month, day, hour, minute = '0', second = '0', fraction = '0', zone] = match;
  // A plain timestamp ignores its zone, and a date its time.
  if (zone !== undefined && type !== 'timestamptz') return undefined;
  if (type === 'date' && hour !== undefined) return undefined;
  if (Number(hour ?? 0) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (midnight.getUTCDate() !== Number(day) || midnight.getUTCFullYear() !== Number(year)) return undefined;
  const seconds = (Number(hour ?? 0) * 60 + Number(minute)) * 60 + Number(second);
  const whole = midnight.getTime() + seconds * 1_000 - offsetOf(zone);
  const exact = whole + Number(fraction) * 1_000;
  return { from: 'epoch', earliest: Math.floor(exact), latest: Math.ceil(exact) };
}

function offsetOf(zone = ''): number {
  const match = /^([+-])(\d\d):?(\d\d)?$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -1 : 1) * minutes * 60_000;
}

function called(call: Node, depth: number): Moment | undefined {
  const name = namesOf(call['funcname']).at(-1) ?? '';
  const args = list(call['args']);
  if (name === 'now' || name === 'transaction_timestamp') return args.length === 0 ? runNow : undefined;
  if (name === 'to_timestamp' && args.length === 1) {
    const seconds = exactNumber(args[0]);
    if (seconds === undefined || !Number.isFinite(seconds)) return undefined;
    return { from: 'epoch', earliest: Math.floor(seconds * 1_000), latest: Math.ceil(seconds * 1_000) };
  }
  if (name !== 'date_trunc' || args.length > 3) return undefined;
  const length = truncationOf(args[0]);
  // A bare literal could be an interval as well, and would be refused by the server.
  const inner = only('A_Const', args[1]) === undefined ? momentOf(args[1], depth + 1) : undefined;
  return inner && length !== undefined ? { ...inner, earliest: inner.earliest - length } : undefined;
}

/** How long the unit that date_trunc is given may be. */
export function truncationOf(value: Json | undefined): number | undefined {
  const string = only('A_Const', value)?.['sval'];
  const unit = isNode(string) ? text(string['sval']).toLowerCase() : '';
  return Object.hasOwn(units, unit) ? units[unit] : undefined;
}

/** `1767225600`, `extract(epoch FROM now()) - 3600`: seconds since 1970. */
export function secondsOf(
  value: Json | undefined,
  epochOf: (value: Json | undefined) => Json | undefined,
): Moment | undefined {
  const count = exactNumber(value);
  if (count !== undefined)
    return { from: 'epoch', earliest: Math.floor(count * 1_000), latest: Math.ceil(count * 1_000) };
  const counted = epochOf(value);
  if (counted !== undefined) return momentOf(counted);
  const operation = only('A_Expr', value);
  const sign = namesOf(operation?.['name']).at(-1);
  const steps = exactNumber(operation?.['rexpr']);
  if (operation?.['kind'] !== 'AEXPR_OP' || steps === undefined || (sign !== '+' && sign !== '-')) return undefined;
  const base = secondsOf(operation['lexpr'], epochOf);
  const by = (sign === '-' ? -steps : steps) * 1_000;
  return base && { ...base, earliest: Math.floor(base.earliest + by), latest: Math.ceil(base.latest + by) };
}

function moved(operation: Node, depth: number): Moment | undefined {
  if (operation['kind'] !== 'AEXPR_OP') return undefined;
  const sign = namesOf(operation['name']).at(-1);
  if (sign !== '+' && sign !== '-') return undefined;
  const { lexpr, rexpr } = operation;
  const forward = sumOf(lexpr, rexpr, sign, depth);
  return forward ?? (sign === '+' ? sumOf(rexpr, lexpr, sign, depth) : undefined);
}

function sumOf(base: Json | undefined, step: Json | undefined, sign: '+' | '-', depth: number): Moment | undefined {
  // `'2026-01-01' + INTERVAL …`: a literal there is read as an interval.
  if (only('A_Const', base) !== undefined) return undefined;
  const days = text(only('SQLValueFunction', base)?.['op']) === 'SVFOP_CURRENT_DATE' ? exactNumber(step) : undefined;
  const span: Span | undefined = days === undefined ? intervalOf(step) : { least: days * dayMs, most: days * dayMs };
  const moment = momentOf(base, depth + 1);
  if (moment === undefined || span === undefined) return undefined;
  const { least, most } = sign === '+' ? span : scaled(span, -1);
  return { ...moment, earliest: moment.earliest + least, latest: moment.latest + most };
}

/** Of an interval, in milliseconds: months and years are not all of one length. */
interface Span {
  readonly least: number;
  readonly most: number;
}

const exactly = (ms: number): Span => ({ least: ms, most: ms });

const lengths: readonly (readonly [RegExp, Span])[] = [
  [/^(?:us|usecs?|microseconds?)$/, exactly(0.001)],
  [/^(?:ms|msecs?|milliseconds?)$/, exactly(1)],
  [/^(?:s|secs?|seconds?)$/, exactly(1_000)],
  [/^(?:m|mins?|minutes?)$/, exactly(60_000)],
  [/^(?:h|hrs?|hours?)$/, exactly(3_600_000)],
  [/^(?:d|days?)$/, exactly(dayMs)],
  [/^(?:w|weeks?)$/, exactly(7 * dayMs)],
  [/^(?:mons?|months?)$/, { least: 28 * dayMs, most: 31 * dayMs }],
  [/^(?:y|yrs?|years?)$/, { least: 365 * dayMs, most: 366 * dayMs }],
];

/** PostgreSQL's masks of INTERVAL '1' DAY and the like. */
const masks: Readonly<Record<number, string>> = { 8: 'day', 1024: 'hour', 2048: 'minute', 4096: 'second' };

function scaled({ least, most }: Span, factor: number): Span {
  return factor < 0 ? { least: most * factor, most: least * factor } : { least: least * factor, most: most * factor };
}

/** Undefined for what is not a constant interval in units that everybody reads alike. */
export function intervalOf(value: Json | undefined): Span | undefined {
  const cast = only('TypeCast', value);
  if (cast !== undefined) {
    const type = cast['typeName'];
    if (!isNode(type) || type['arrayBounds'] !== undefined) return undefined;
    if (namesOf(type['names']).at(-1) !== 'interval') return undefined;
    const string = only('A_Const', cast['arg'])?.['sval'];
    if (!isNode(string)) return undefined;
    const modifiers = list(type['typmods']);
    if (modifiers.length === 0) return spanOf(text(string['sval']));
    const unit = masks[constantNumber(modifiers[0]) ?? 0];
    const amount = text(string['sval']).trim();
    if (modifiers.length > 1 || unit === undefined || !/^-?\d{1,6}$/.test(amount)) return undefined;
    return spanOf(`${amount} ${unit}`);
  }
  const product = only('A_Expr', value);
  if (product === undefined || product['kind'] !== 'AEXPR_OP' || namesOf(product['name']).at(-1) !== '*') {
    return undefined;
  }
  const times = (interval: Json | undefined, factor: Json | undefined) => {
    const span = intervalOf(interval);
    const number = exactNumber(factor);
    return span && number !== undefined && Number.isInteger(number) ? scaled(span, number) : undefined;
  };
  return times(product['lexpr'], product['rexpr']) ?? times(product['rexpr'], product['lexpr']);
}

function spanOf(written: string): Span | undefined {
  const term = /\s*([+-]?\d{1,9}(?:\.\d{1,6})?)\s*([a-z]+)\s*/gy;
  const source = written.toLowerCase();
  let total = exactly(0);
  let read = 0;
  for (const [whole, amount = '', unit = ''] of source.matchAll(term)) {
    const length = lengths.find(([pattern]) => pattern.test(unit))?.[1];
    if (length === undefined || (length.least !== length.most && amount.includes('.'))) return undefined;
    const { least, most } = scaled(length, Number(amount));
    total = { least: total.least + least, most: total.most + most };
    read += whole.length;
  }
  return read === source.length && read > 0 ? total : undefined;
}

import {
  byNames,
  calendar,
  type Counted,
  dayMs,
  hourMs,
  isNode,
  type Json,
  list,
  Moment,
  type Node,
  RoundedColumn,
  Span,
  text,
} from '../../../src/contract/telemetry/index.ts';
import { constantNumber, exactNumber } from './names.ts';
import { namesOf, only } from './tree.ts';

/** A day has 25 hours where clocks are put back. */
const longestDayMs = dayMs + hourMs;

/** How long the unit of date_trunc may be. */
const truncations: Readonly<Record<string, number>> = {
  microseconds: 1,
  milliseconds: 1,
  second: calendar.second.most,
  minute: calendar.minute.most,
  hour: hourMs,
  day: longestDayMs,
  week: calendar.week.most + hourMs,
  month: calendar.month.most + hourMs,
  quarter: calendar.quarter.most + hourMs,
  year: calendar.year.most + hourMs,
};

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
  if (/^SVFOP_(?:CURRENT_|LOCAL)TIMESTAMP$/.test(op)) return Moment.now;
  return op === 'SVFOP_CURRENT_DATE' ? Moment.now.roundedDown(dayMs) : undefined;
}

function castOf(cast: Node, depth: number): Moment | undefined {
  const type = typeOf(cast['typeName']);
  if (type === undefined) return undefined;
  const constant = only('A_Const', cast['arg']);
  if (constant !== undefined) return literal(constant, type);
  const inner = momentOf(cast['arg'], depth + 1);
  return type === 'date' ? inner?.roundedDown(dayMs) : inner;
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
  return new Moment('epoch', exact).loosened();
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
  if (name === 'now' || name === 'transaction_timestamp') return args.length === 0 ? Moment.now : undefined;
  if (name === 'to_timestamp' && args.length === 1) {
    const seconds = exactNumber(args[0]);
    return seconds !== undefined && Number.isFinite(seconds) ? secondsAt(seconds) : undefined;
  }
  if (name !== 'date_trunc' || args.length > 3) return undefined;
  const length = truncationOf(args[0]);
  // A bare literal could be an interval as well, and would be refused by the server.
  const inner = only('A_Const', args[1]) === undefined ? momentOf(args[1], depth + 1) : undefined;
  return inner?.roundedDown(length);
}

/** How long the unit that date_trunc is given may be. */
function truncationOf(value: Json | undefined): number | undefined {
  const string = only('A_Const', value)?.['sval'];
  const unit = isNode(string) ? text(string['sval']).toLowerCase() : '';
  return Object.hasOwn(truncations, unit) ? truncations[unit] : undefined;
}

function secondsAt(count: number): Moment {
  return new Moment('epoch', count * 1_000).loosened();
}

/** Undefined for whatever is not surely a column, or one rounded down. */
export function columnOf(value: Json | undefined): RoundedColumn | undefined {
  const column = only('ColumnRef', value);
  if (column !== undefined) return new RoundedColumn(namesOf(column['fields']).map((name = '') => name));
  const cast = only('TypeCast', value);
  if (cast !== undefined) {
    const type = cast['typeName'];
    const isDate = isNode(type) && namesOf(type['names']).at(-1) === 'date' && type['arrayBounds'] === undefined;
    return isDate ? columnOf(cast['arg'])?.roundedDown(longestDayMs) : undefined;
  }
  const call = only('FuncCall', value);
  const name = namesOf(call?.['funcname']).at(-1);
  const [first, second, third, more] = list(call?.['args']);
  if (name === 'date' && second === undefined) return columnOf(first)?.roundedDown(longestDayMs);
  if (name === 'date_trunc' && third === undefined) return columnOf(second)?.roundedDown(truncationOf(first));
  if (name !== 'date_bin' || third === undefined || more !== undefined) return undefined;
  return columnOf(second)?.roundedDown(intervalOf(first)?.most);
}

/** `extract(epoch FROM time)`, `date_part('epoch', time)`: seconds, with their fraction. */
export function countedOf(value: Json | undefined): Counted<Json> | undefined {
  const call = only('FuncCall', value);
  const name = namesOf(call?.['funcname']).at(-1);
  const [part, of, more] = list(call?.['args']);
  const unit = only('A_Const', part)?.['sval'];
  if ((name !== 'extract' && name !== 'date_part') || of === undefined || more !== undefined) return undefined;
  return isNode(unit) && text(unit['sval']) === 'epoch' ? { of, scale: 1_000, width: 0 } : undefined;
}

/** `1767225600`, `extract(epoch FROM now()) - 3600`. */
export function countedMoment(value: Json | undefined): Moment | undefined {
  const count = exactNumber(value);
  if (count !== undefined) return secondsAt(count);
  const counted = countedOf(value);
  if (counted !== undefined) return momentOf(counted.of);
  const operation = only('A_Expr', value);
  const sign = namesOf(operation?.['name']).at(-1);
  const steps = exactNumber(operation?.['rexpr']);
  if (operation?.['kind'] !== 'AEXPR_OP' || steps === undefined || (sign !== '+' && sign !== '-')) return undefined;
  const span = new Span((sign === '-' ? -steps : steps) * 1_000);
  return countedMoment(operation['lexpr'])?.shifted(span)?.loosened();
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
  const span = days === undefined ? intervalOf(step) : new Span(days * dayMs);
  return momentOf(base, depth + 1)?.shifted(sign === '+' ? span : span?.times(-1));
}

const units = byNames<Span>([
  [calendar.microsecond, 'us usec usecs microsecond microseconds'],
  [calendar.millisecond, 'ms msec msecs millisecond milliseconds'],
  [calendar.second, 's sec secs second seconds'],
  [calendar.minute, 'm min mins minute minutes'],
  [calendar.hour, 'h hr hrs hour hours'],
  [calendar.day, 'd day days'],
  [calendar.week, 'w week weeks'],
  [calendar.month, 'mon mons month months'],
  [calendar.year, 'y yr yrs year years'],
]);

/** PostgreSQL's masks of INTERVAL '1' DAY and the like. */
const masks: Readonly<Record<number, string>> = { 8: 'day', 1024: 'hour', 2048: 'minute', 4096: 'second' };

/** Undefined for what is not a constant interval in units that everybody reads alike. */
function intervalOf(value: Json | undefined): Span | undefined {
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
    const number = exactNumber(factor);
    return Number.isInteger(number) ? intervalOf(interval)?.times(number) : undefined;
  };
  return times(product['lexpr'], product['rexpr']) ?? times(product['rexpr'], product['lexpr']);
}

function spanOf(written: string): Span | undefined {
  const term = /\s*([+-]?\d{1,9}(?:\.\d{1,6})?)\s*([a-z]+)\s*/gy;
  const source = written.toLowerCase();
  let total: Span | undefined = new Span(0);
  let read = 0;
  for (const [whole, amount = '', unit = ''] of source.matchAll(term)) {
    const length = units[unit];
    if (length?.least !== length?.most && amount.includes('.')) return undefined;
    total = total?.plus(length?.times(Number(amount)));
    read += whole.length;
  }
  return read === source.length && read > 0 ? total : undefined;
}

import {
  calendar,
  dayMs,
  hourMs,
  Moment,
  RoundedColumn,
  secondMs,
  Span,
  type Counted,
} from '../../contract/telemetry/index.ts';
import { foldName } from './scope.ts';
import type { Call, Expression } from './tree.ts';

const minuteMs = 60 * secondMs;

const units: Readonly<Record<string, Span>> = { nanosecond: new Span(1e-6), ...calendar };

function unitOf(name = ''): Span | undefined {
  const unit = foldName(name);
  return Object.hasOwn(units, unit) ? units[unit] : undefined;
}

/** How far before its argument a rounding function may answer. */
const rounding: Readonly<Record<string, number>> = {
  tostartofsecond: secondMs,
  tostartofminute: minuteMs,
  tostartoffiveminutes: 5 * minuteMs,
  tostartoftenminutes: 10 * minuteMs,
  tostartoffifteenminutes: 15 * minuteMs,
  tostartofhour: hourMs,
  tostartofday: dayMs,
  todatetime: secondMs,
};

/** Undefined for whatever is not surely a column, or one rounded down. */
export function columnOf(expression: Expression, fold: (name: string) => string): RoundedColumn | undefined {
  const rounded = (inner: Expression, by: number | undefined) => columnOf(inner, fold)?.roundedDown(by);
  if (expression.kind === 'name') return new RoundedColumn(expression.parts.map(({ text }) => fold(text)));
  if (expression.kind === 'cast') {
    const { type, operand } = expression;
    return /^date$/i.test(type.name) && type.arguments.length === 0 ? rounded(operand, dayMs) : undefined;
  }
  if (expression.kind !== 'call' || isSpecial(expression)) return undefined;
  const name = expression.name.toLowerCase();
  const [first, second, ...more] = expression.arguments;
  if (first === undefined || more.length > 0) return undefined;
  if (second === undefined) return rounded(first, name === 'todate' || name === 'date' ? dayMs : roundingOf(name));
  if (name === 'tostartofinterval') return rounded(first, spanOf(second)?.most);
  if (name === 'date_trunc' && first.kind === 'string') return rounded(second, unitOf(first.value)?.most);
  const isTruncation = name === 'timestamp_trunc' || name === 'date_trunc';
  return isTruncation && second.kind === 'name' ? rounded(first, unitOf(second.parts[0]?.text)?.most) : undefined;
}

function roundingOf(name: string): number | undefined {
  return Object.hasOwn(rounding, name) ? rounding[name] : undefined;
}

function isSpecial({ filter, over, parameters, order, distinct }: Call): boolean {
  return filter !== undefined || over !== undefined || parameters !== undefined || order.length > 0 || distinct;
}

/** Functions of a time that count from 1970, by the milliseconds of what they count in. */
const epochs: Readonly<Record<string, number>> = {
  tounixtimestamp: secondMs,
  unix_seconds: secondMs,
  unix_millis: 1,
  tounixtimestamp64milli: 1,
};

/** `toUnixTimestamp(time)`, in whole units. */
export function countedOf(expression: Expression): Counted<Expression> | undefined {
  if (expression.kind !== 'call' || expression.arguments.length !== 1) return undefined;
  const name = expression.name.toLowerCase();
  const scale = Object.hasOwn(epochs, name) ? epochs[name] : undefined;
  const [of] = expression.arguments;
  return of && scale !== undefined ? { of, scale, width: scale } : undefined;
}

/** `1767225600`, `toUnixTimestamp(now()) - 3600`, counted so. */
export function countedMoment(expression: Expression, scale: number): Moment | undefined {
  const plain = numberMoment(expression, scale);
  if (plain !== undefined) return plain;
  const counted = countedOf(expression);
  if (counted !== undefined) return counted.scale === scale ? momentOf(counted.of)?.roundedDown(scale) : undefined;
  if (expression.kind !== 'binary' || !isSign(expression.operator)) return undefined;
  const steps = numberOf(expression.right);
  return countedMoment(expression.left, scale)?.shifted(signed(new Span(scale).times(steps), expression.operator));
}

function isSign(operator: string): operator is '+' | '-' {
  return operator === '+' || operator === '-';
}

function signed(span: Span | undefined, sign: '+' | '-'): Span | undefined {
  return sign === '+' ? span : span?.times(-1);
}

const zoneless = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?$/;
const zoned = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|UTC|[+-]\d\d:?\d\d)$/;

function daysIn(day: string): number {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate();
}

/** A moment with its zone in the form of a literal of UTC that has none, to the nanosecond; undefined for other texts. */
export function utcText(text: string): string | undefined {
  if (!zoned.test(text)) return undefined;
  const [fraction = ''] = /\.\d+/.exec(text) ?? [];
  const date = new Date(
    text
      .replace(fraction, '')
      .replace(/^(.{10}) /, '$1T')
      .replace(/ ?UTC$/, 'Z')
      .replace(' ', ''),
  );
  // A day beyond its month would be one of the next.
  if (Number.isNaN(date.getTime()) || Number(text.slice(8, 10)) > daysIn(text)) return undefined;
  return date.toISOString().replace('T', ' ').replace('.000Z', fraction);
}

/** Undefined for whatever is not surely a constant that we can compute. */
export function momentOf(expression: Expression): Moment | undefined {
  switch (expression.kind) {
    case 'string':
      return textMoment(expression.value);
    case 'typed':
      return expression.type === 'TIMESTAMP' ? textMoment(expression.value) : undefined;
    case 'cast':
      return /^(?:datetime|datetime64|timestamp)$/i.test(expression.type.name) &&
        expression.type.arguments.every((argument) => argument.kind === 'number' || isUtc(argument))
        ? momentOf(expression.operand)?.roundedDown(secondMs)
        : undefined;
    case 'binary': {
      const { operator, left, right } = expression;
      if (!isSign(operator)) return undefined;
      return momentOf(left)?.shifted(signed(spanOf(right) ?? plainSpan(left, right), operator));
    }
    case 'call':
      return callMoment(expression);
    default:
      return undefined;
  }
}

function textMoment(text: string): Moment | undefined {
  if (!zoneless.test(text) && !zoned.test(text)) return undefined;
  const iso = text.replace(/^(.{10}) /, '$1T').replace(/ ?UTC$/, 'Z');
  const date = Date.parse(zoneless.test(text) && text.length > 10 ? `${iso}Z` : iso.replace(' ', ''));
  // What lies beyond milliseconds is cut off.
  return Number.isNaN(date) ? undefined : new Moment('epoch', date, date + (text.includes('.') ? 1 : 0));
}

function callMoment(call: Call): Moment | undefined {
  if (isSpecial(call)) return undefined;
  const name = call.name.toLowerCase();
  const [first, ...more] = call.arguments;
  if (first === undefined || (name === 'now64' && first.kind === 'number' && more.length === 0)) {
    if (name === 'now' || name === 'now64' || name === 'current_timestamp') return Moment.now.roundedDown(secondMs);
    const today = Moment.now.roundedDown(dayMs);
    if (name === 'today') return today;
    return name === 'yesterday' ? today?.shifted(new Span(-dayMs)) : undefined;
  }
  const scale = epochScale[name];
  if (scale !== undefined && more.length === 0) return numberMoment(first, scale);
  if (name === 'now' || name === 'now64') return undefined;
  const step = shiftFunction(name, first, more);
  if (step !== undefined) return step;
  const isZone = more.every((argument) => argument.kind === 'number' || isUtc(argument));
  if (!isZone) return undefined;
  if (/^parsedatetime(?:32|64)?besteffort$|^timestamp$|^todatetime64$/.test(name)) {
    const moment = momentOf(first) ?? numberMoment(first, secondMs);
    return moment?.roundedDown(name.startsWith('parse') ? secondMs : 1);
  }
  const moment = momentOf(first) ?? (name === 'todatetime' ? numberMoment(first, secondMs) : undefined);
  return moment?.roundedDown(roundingOf(name));
}

const epochScale: Readonly<Record<string, number>> = {
  fromunixtimestamp: secondMs,
  fromunixtimestamp64milli: 1,
  fromunixtimestamp64micro: 1e-3,
  fromunixtimestamp64nano: 1e-6,
  timestamp_seconds: secondMs,
  timestamp_millis: 1,
  timestamp_micros: 1e-3,
};

function numberMoment(expression: Expression, scale: number): Moment | undefined {
  const value = numberOf(expression);
  if (value === undefined) return undefined;
  const at = value * scale;
  return Math.abs(at) < 8e15 ? new Moment('epoch', at).loosened() : undefined;
}

/** `subtractHours(x, 1)`, `TIMESTAMP_SUB(x, INTERVAL 1 HOUR)`, `date_sub(HOUR, 1, x)`. */
function shiftFunction(name: string, first: Expression, more: readonly Expression[]): Moment | undefined {
  const own = /^(add|subtract)([a-z]+)s$/.exec(name);
  const [second, third] = more;
  if (own !== null && second !== undefined && more.length === 1) {
    return momentOf(first)?.shifted(signed(unitSpan(second, own[2]), own[1] === 'add' ? '+' : '-'));
  }
  const verb = /^(?:date|timestamp)_?(add|sub)$/.exec(name)?.[1];
  if (verb === undefined || second === undefined) return undefined;
  const sign = verb === 'add' ? '+' : '-';
  if (third === undefined) return momentOf(first)?.shifted(signed(spanOf(second), sign));
  if (more.length > 2 || first.kind !== 'name' || first.parts.length !== 1) return undefined;
  return momentOf(third)?.shifted(signed(unitSpan(second, first.parts[0]?.text), sign));
}

function spanOf(expression: Expression): Span | undefined {
  if (expression.kind === 'interval') {
    if (expression.unit !== undefined) return unitSpan(expression.amount, expression.unit);
    const written =
      expression.amount.kind === 'string' ? /^(\d{1,9}) ([A-Za-z]+?)s?$/.exec(expression.amount.value) : null;
    return written === null ? undefined : times(Number(written[1]), written[2]);
  }
  const unit = expression.kind === 'call' ? /^tointerval([a-z]+)$/i.exec(expression.name)?.[1] : undefined;
  const amount = expression.kind === 'call' ? expression.arguments[0] : undefined;
  return unit === undefined || amount === undefined ? undefined : unitSpan(amount, unit);
}

/** `now() - 3600`, `today() - 7`: a number counts in what the function counts. */
function plainSpan(moment: Expression, amount: Expression): Span | undefined {
  const name = moment.kind === 'call' ? moment.name.toLowerCase() : '';
  if (name === 'now') return unitSpan(amount, 'second');
  return name === 'today' || name === 'yesterday' ? unitSpan(amount, 'day') : undefined;
}

function unitSpan(amount: Expression, unit: string | undefined): Span | undefined {
  const count = amount.kind === 'string' && /^\d{1,9}$/.test(amount.value) ? Number(amount.value) : numberOf(amount);
  return count === undefined ? undefined : times(count, unit);
}

function times(count: number, unit: string | undefined): Span | undefined {
  return Number.isSafeInteger(count) && count >= 0 ? unitOf(unit)?.times(count) : undefined;
}

/** Whole numbers that a double holds exactly. */
function numberOf(expression: Expression): number | undefined {
  if (expression.kind !== 'number' || !/^\d{1,19}$/.test(expression.text)) return undefined;
  return Number(expression.text);
}

function isUtc(argument: { readonly kind: string; readonly value?: unknown }): boolean {
  return argument.kind === 'string' && argument.value === 'UTC';
}

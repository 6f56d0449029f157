import type { Call, Expression } from './tree.ts';

/**
 * A constant moment of a statement: milliseconds since 1970 in UTC, or from the moment it runs. It lies somewhere from
 * `earliest` to `latest`: `now()` has whole seconds, the length of a month varies.
 */
export interface Moment {
  readonly base: 'epoch' | 'now';
  readonly earliest: number;
  readonly latest: number;
}

type Span = Pick<Moment, 'earliest' | 'latest'>;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const units: Readonly<Record<string, Span>> = {
  NANOSECOND: { earliest: 1e-6, latest: 1e-6 },
  MICROSECOND: { earliest: 1e-3, latest: 1e-3 },
  MILLISECOND: { earliest: 1, latest: 1 },
  SECOND: { earliest: second, latest: second },
  MINUTE: { earliest: minute, latest: minute },
  HOUR: { earliest: hour, latest: hour },
  DAY: { earliest: day, latest: day },
  WEEK: { earliest: 7 * day, latest: 7 * day },
  MONTH: { earliest: 28 * day, latest: 31 * day },
  QUARTER: { earliest: 89 * day, latest: 92 * day },
  YEAR: { earliest: 365 * day, latest: 366 * day },
};

/** How far before its argument a rounding function may answer. */
const rounding: Readonly<Record<string, number>> = {
  tostartofsecond: second,
  tostartofminute: minute,
  tostartoffiveminutes: 5 * minute,
  tostartoftenminutes: 10 * minute,
  tostartoffifteenminutes: 15 * minute,
  tostartofhour: hour,
  tostartofday: day,
  todatetime: second,
};

/** How far before its argument a function of one argument may answer. */
export function roundingOf(name: string): number | undefined {
  if (name === 'todate' || name === 'date') return day;
  return Object.hasOwn(rounding, name) ? rounding[name] : undefined;
}

/** The longest that a unit of time may last. */
export function unitOf(name: string): number | undefined {
  const unit = name.toUpperCase();
  return Object.hasOwn(units, unit) ? units[unit]?.latest : undefined;
}

export function durationOf(expression: Expression): number | undefined {
  return spanOf(expression)?.latest;
}

/** Functions of a time that count from 1970, by the milliseconds of what they count in. */
const epochs: Readonly<Record<string, number>> = {
  tounixtimestamp: second,
  unix_seconds: second,
  unix_millis: 1,
  tounixtimestamp64milli: 1,
};

/** `toUnixTimestamp(time)`: what is counted, and in how many milliseconds; undefined for anything else. */
export function epochOf(expression: Expression): { readonly of: Expression; readonly scale: number } | undefined {
  if (expression.kind !== 'call' || expression.arguments.length !== 1) return undefined;
  const name = expression.name.toLowerCase();
  const scale = Object.hasOwn(epochs, name) ? epochs[name] : undefined;
  const [of] = expression.arguments;
  return of && scale !== undefined ? { of, scale } : undefined;
}

/** `1767225600`, `toUnixTimestamp(now()) - 3600`, counted so. */
export function countedMoment(expression: Expression, scale: number): Moment | undefined {
  const plain = numberMoment(expression, scale);
  if (plain !== undefined) return plain;
  const counted = epochOf(expression);
  // Counted in whole units.
  if (counted !== undefined) return counted.scale === scale ? rounded(momentOf(counted.of), scale) : undefined;
  if (expression.kind !== 'binary' || (expression.operator !== '-' && expression.operator !== '+')) return undefined;
  const steps = numberOf(expression.right);
  const span = steps === undefined ? undefined : { earliest: steps * scale, latest: steps * scale };
  return shifted(countedMoment(expression.left, scale), span, expression.operator === '-' ? -1 : 1);
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
        ? rounded(momentOf(expression.operand), second)
        : undefined;
    case 'binary': {
      const { operator, left, right } = expression;
      if (operator !== '+' && operator !== '-') return undefined;
      return shifted(momentOf(left), spanOf(right) ?? plainSpan(left, right), operator === '+' ? 1 : -1);
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
  return Number.isNaN(date)
    ? undefined
    : { base: 'epoch', earliest: date, latest: date + (text.includes('.') ? 1 : 0) };
}

function callMoment(call: Call): Moment | undefined {
  const { filter, over, parameters, order, distinct } = call;
  if (filter !== undefined || over !== undefined || parameters !== undefined || order.length > 0 || distinct)
    return undefined;
  const name = call.name.toLowerCase();
  const [first, ...more] = call.arguments;
  if (first === undefined || (name === 'now64' && first.kind === 'number' && more.length === 0)) {
    if (name === 'now' || name === 'now64') return { base: 'now', earliest: -second, latest: 0 };
    if (name === 'current_timestamp') return { base: 'now', earliest: -second, latest: 0 };
    if (name === 'today') return { base: 'now', earliest: -day, latest: 0 };
    if (name === 'yesterday') return { base: 'now', earliest: -2 * day, latest: -day };
    return undefined;
  }
  const scale = epochScale[name];
  if (scale !== undefined && more.length === 0) return numberMoment(first, scale);
  if (name === 'now' || name === 'now64') return undefined;
  const step = shiftFunction(name, first, more);
  if (step !== undefined) return step;
  const isZone = more.every((argument) => argument.kind === 'number' || isUtc(argument));
  if (!isZone) return undefined;
  if (/^parsedatetime(?:32|64)?besteffort$|^timestamp$|^todatetime64$/.test(name)) {
    return rounded(momentOf(first) ?? numberMoment(first, second), name.startsWith('parse') ? second : 1);
  }
  const cut = Object.hasOwn(rounding, name) ? rounding[name] : undefined;
  if (cut === undefined) return undefined;
  return rounded(momentOf(first) ?? (name === 'todatetime' ? numberMoment(first, second) : undefined), cut);
}

const epochScale: Readonly<Record<string, number>> = {
  fromunixtimestamp: second,
  fromunixtimestamp64milli: 1,
  fromunixtimestamp64micro: 1e-3,
  fromunixtimestamp64nano: 1e-6,
  timestamp_seconds: second,
  timestamp_millis: 1,
  timestamp_micros: 1e-3,
};

function numberMoment(expression: Expression, scale: number): Moment | undefined {
  const value = numberOf(expression);
  if (value === undefined) return undefined;
  const at = value * scale;
  return Math.abs(at) < 8e15 ? { base: 'epoch', earliest: Math.floor(at), latest: Math.ceil(at) } : undefined;
}

/** `subtractHours(x, 1)`, `TIMESTAMP_SUB(x, INTERVAL 1 HOUR)`, `date_sub(HOUR, 1, x)`. */
function shiftFunction(name: string, first: Expression, more: readonly Expression[]): Moment | undefined {
  const own = /^(add|subtract)([a-z]+)s$/.exec(name);
  const [second_, third] = more;
  if (own !== null && second_ !== undefined && more.length === 1) {
    return shifted(momentOf(first), unitSpan(second_, own[2]?.toUpperCase()), own[1] === 'add' ? 1 : -1);
  }
  const sign = /^(?:date|timestamp)_?(add|sub)$/.exec(name)?.[1];
  if (sign === undefined || second_ === undefined) return undefined;
  const direction = sign === 'add' ? 1 : -1;
  if (third === undefined) return shifted(momentOf(first), spanOf(second_), direction);
  if (more.length > 2 || first.kind !== 'name' || first.parts.length !== 1) return undefined;
  return shifted(momentOf(third), unitSpan(second_, first.parts[0]?.text.toUpperCase()), direction);
}

function spanOf(expression: Expression): Span | undefined {
  if (expression.kind === 'interval') {
    if (expression.unit !== undefined) return unitSpan(expression.amount, expression.unit);
    const written =
      expression.amount.kind === 'string' ? /^(\d{1,9}) ([A-Za-z]+?)s?$/.exec(expression.amount.value) : null;
    return written === null ? undefined : times(Number(written[1]), written[2]?.toUpperCase());
  }
  const unit = expression.kind === 'call' ? /^tointerval([a-z]+)$/i.exec(expression.name)?.[1] : undefined;
  const amount = expression.kind === 'call' ? expression.arguments[0] : undefined;
  return unit === undefined || amount === undefined ? undefined : unitSpan(amount, unit.toUpperCase());
}

/** `now() - 3600`, `today() - 7`: a number counts in what the function counts. */
function plainSpan(moment: Expression, amount: Expression): Span | undefined {
  const name = moment.kind === 'call' ? moment.name.toLowerCase() : '';
  if (name === 'now') return unitSpan(amount, 'SECOND');
  return name === 'today' || name === 'yesterday' ? unitSpan(amount, 'DAY') : undefined;
}

function unitSpan(amount: Expression, unit: string | undefined): Span | undefined {
  const count = amount.kind === 'string' && /^\d{1,9}$/.test(amount.value) ? Number(amount.value) : numberOf(amount);
  return count === undefined ? undefined : times(count, unit);
}

function times(count: number, unit: string | undefined): Span | undefined {
  const span = unit !== undefined && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (span === undefined || !Number.isSafeInteger(count) || count < 0) return undefined;
  return { earliest: count * span.earliest, latest: count * span.latest };
}

function shifted(moment: Moment | undefined, span: Span | undefined, direction: 1 | -1): Moment | undefined {
  if (moment === undefined || span === undefined) return undefined;
  const { base, earliest, latest } = moment;
  return direction === 1
    ? { base, earliest: earliest + span.earliest, latest: latest + span.latest }
    : { base, earliest: earliest - span.latest, latest: latest - span.earliest };
}

function rounded(moment: Moment | undefined, by: number): Moment | undefined {
  return moment && { ...moment, earliest: moment.earliest - by };
}

/** Whole numbers that a double holds exactly. */
function numberOf(expression: Expression): number | undefined {
  if (expression.kind !== 'number' || !/^\d{1,19}$/.test(expression.text)) return undefined;
  return Number(expression.text);
}

function isUtc(argument: { readonly kind: string; readonly value?: unknown }): boolean {
  return argument.kind === 'string' && argument.value === 'UTC';
}

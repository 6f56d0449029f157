import type { DialectWriter } from '../../../contract/telemetry/index.ts';
import {
  callAt,
  closing,
  literalOf,
  write,
  type Argument,
  type Cure,
  type Statement,
  type Token,
  type Translation,
} from './tokens.ts';

type Unit = Parameters<DialectWriter['ago']>[1];

const unitSeconds: Readonly<Record<Unit, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400, week: 604_800 };
const units = ['second', 'minute', 'hour', 'day', 'week'] as const;
const letters: Readonly<Record<string, Unit>> = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' };

function unitNamed(text: string): Unit | undefined {
  const word = text.toLowerCase();
  return letters[word] ?? units.find((unit) => word === unit || word === `${unit}s` || word.startsWith(`${unit} `));
}

/** `INTERVAL 5 MINUTE`, `'5 minutes'`, `5m`, `toIntervalMinute(5)`; undefined for what has more parts, or part of one. */
function spanOf(text: string): { readonly count: number; readonly unit: Unit } | undefined {
  const own = /^tointerval([a-z]+)\s*\(\s*(\d{1,6})\s*\)$/i.exec(text);
  const plain = /^(?:interval\b)?\s*'?\s*(\d{1,6})\s*'?\s*([a-z]+)\s*'?(?:\s*::\s*interval)?$/i;
  const [, count, word] = own === null ? (plain.exec(text.trim()) ?? []) : [own[0], own[2], own[1]];
  const unit = word === undefined ? undefined : unitNamed(word);
  return unit && { count: Number(count), unit };
}

function secondsOf(text: string | undefined): number | undefined {
  const span = text === undefined ? undefined : spanOf(text);
  return span && span.count * unitSeconds[span.unit];
}

const everySeconds =
  (seconds: number): Translation =>
  ({ args: [time] }, writer) =>
    time && writer.bucket(time.text, seconds);

/** Of two arguments, one names a width and the other a time. */
const bucket: Translation = ({ args }, writer) => {
  const width = args.find(({ text }) => secondsOf(text) !== undefined);
  const time = args.find((argument) => argument !== width);
  const seconds = secondsOf(width?.text);
  return time && seconds !== undefined ? writer.bucket(time.text, seconds) : undefined;
};

const truncated: Translation = ({ args }, writer) => {
  const isUnit = (argument: Argument) => unitNamed(literalOf(argument) ?? argument.text) !== undefined;
  const named = args.find(isUnit);
  const time = args.find((argument) => argument !== named);
  const unit = named && unitNamed(literalOf(named) ?? named.text);
  return time && unit ? writer.bucket(time.text, unitSeconds[unit]) : undefined;
};

/** strftime's letters that all warehouses have, as DialectWriter.timeText takes them. */
const allLetters = /^(?:[^%]|%[YymbdjaHIMSp])*$/;
/** %M is a month's name in MySQL, and never meant so here. */
const otherLetters: Readonly<Record<string, string>> = {
  '%T': '%H:%M:%S',
  '%F': '%Y-%m-%d',
  '%R': '%H:%M',
  '%i': '%M',
  '%s': '%S',
};
/** Of PostgreSQL and Oracle, in any case, where HH has twelve hours. */
const wordsOfToChar: Readonly<Record<string, string>> = {
  YYYY: '%Y',
  YY: '%y',
  MM: '%m',
  MON: '%b',
  DD: '%d',
  DDD: '%j',
  DY: '%a',
  HH24: '%H',
  HH12: '%I',
  HH: '%I',
  MI: '%M',
  SS: '%S',
  AM: '%p',
  PM: '%p',
};
/** Of Java, where the case tells months from minutes. */
const wordsOfJava: Readonly<Record<string, string>> = {
  ...wordsOfToChar,
  yyyy: '%Y',
  yy: '%y',
  MMM: '%b',
  dd: '%d',
  EEE: '%a',
  HH: '%H',
  hh: '%I',
  mm: '%M',
  ss: '%S',
};

/** A pattern of any dialect by strftime's letters; undefined where one of its words has none. */
function patternOf(text: string, dialect: 'to_char' | 'java'): string | undefined {
  if (text.includes('%')) {
    const pattern = text.replaceAll(/%[TFRis]/g, (letter) => otherLetters[letter] ?? letter);
    return allLetters.test(pattern) ? pattern : undefined;
  }
  const ofToChar = dialect === 'to_char';
  let pattern = '';
  for (const [part, quoted, apart] of text.matchAll(
    /["']([^"']*)["']|(T(?=HH)|Z$)|HH(?:24|12)|MON|MI|DY|[AP]M|([A-Z])\3*|[^A-Z]/gi,
  )) {
    const word = ofToChar ? wordsOfToChar[part.toUpperCase()] : wordsOfJava[part];
    const written = quoted ?? apart ?? word ?? (/[a-z]/i.test(part) ? undefined : part);
    if (written === undefined) return undefined;
    pattern += written;
  }
  return pattern;
}

const asText: Translation = ({ name, args }, writer) => {
  const pattern = args.find((argument) => literalOf(argument) !== undefined);
  const time = args.find((argument) => argument !== pattern);
  const literal = literalOf(pattern);
  // A third argument is a time zone.
  if (time === undefined || literal === undefined || args.length !== 2) return undefined;
  const letters = patternOf(literal, name === 'to_char' ? 'to_char' : 'java');
  return letters === undefined ? undefined : writer.timeText(time.text, letters);
};

/** Texts are read as times where they are compared with one. */
const moment: Translation = ({ args: [time] }) => time?.text;
const hourOf: Translation = ({ args: [time] }) => time && `EXTRACT(HOUR FROM ${time.text})`;
const part: Translation = ({ args: [named, time] }) =>
  named && time && `EXTRACT(${(literalOf(named) ?? named.text).toUpperCase()} FROM ${time.text})`;
const epoch: Translation = ({ args: [time] }, writer) => time && writer.epochSeconds(time.text);

/** `(unit, from, to)`, and in BigQuery `(to, from, unit)`. */
const difference: Translation = ({ args }, writer) => {
  const at = args.findIndex((argument) => unitNamed(literalOf(argument) ?? argument.text) !== undefined);
  const [first, second] = args.filter((_, index) => index !== at);
  const named = args[at];
  const unit = named && unitNamed(literalOf(named) ?? named.text);
  if (first === undefined || second === undefined || unit === undefined || args.length !== 3) return undefined;
  const [from, to] = at === 0 ? [first, second] : [second, first];
  const seconds = `(${writer.epochSeconds(to.text)} - ${writer.epochSeconds(from.text)})`;
  return unit === 'second' ? seconds : `(${seconds} / ${unitSeconds[unit]})`;
};

/** Each with its names in other dialects. */
export const timeFunctions: readonly (readonly [Translation, string])[] = [
  [everySeconds(1), 'tostartofsecond'],
  [everySeconds(60), 'tostartofminute'],
  [everySeconds(300), 'tostartoffiveminutes'],
  [everySeconds(600), 'tostartoftenminutes'],
  [everySeconds(900), 'tostartoffifteenminutes'],
  [everySeconds(3_600), 'tostartofhour'],
  [everySeconds(86_400), 'tostartofday'],
  [bucket, 'tostartofinterval time_bucket date_bin bin'],
  [truncated, 'timestamp_trunc datetime_trunc date_trunc datetrunc'],
  [moment, 'todatetime todatetime64 parsedatetimebesteffort'],
  [asText, 'date_format formatdatetime to_char strftime format_timestamp'],
  [hourOf, 'hour tohour'],
  [part, 'date_part datepart'],
  [epoch, 'tounixtimestamp unix_seconds epoch'],
  [difference, 'datediff date_diff timestamp_diff timestampdiff'],
];

/** `extract(epoch FROM time)`. */
export function epochPart(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  const time = /^epoch\s+from\s+(.+)$/is.exec(call?.args[0]?.text ?? '')?.[1];
  if (call?.name !== 'extract' || time === undefined || /^(duckdb|postgres)$/.test(statement.dialect.name))
    return undefined;
  return write(statement, call.first, call.last, statement.dialect.write.epochSeconds(time));
}

const subtractions: ReadonlySet<string> = new Set(
  'date_sub datesub timestamp_sub subtractseconds subtractminutes subtracthours subtractdays subtractweeks ago'.split(
    ' ',
  ),
);
const additions: ReadonlySet<string> = new Set(['date_add', 'dateadd', 'timestampadd', 'datetime']);
const clocks: ReadonlySet<string> = new Set('getdate sysdate getutcdate unix_timestamp'.split(' '));

function isNow(word: string): boolean {
  return word === 'now' || word.startsWith('current_') || clocks.has(word);
}

/** So long before now in another dialect's words: `DATE_SUB(NOW(), INTERVAL 1 HOUR)`, `DATEADD(hour, -1, GETDATE())`, `ago(1h)`. */
export function dateArithmetic(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  if (call === undefined) return undefined;
  const { name, args, first, last } = call;
  if (!subtractions.has(name) && !additions.has(name)) return undefined;
  const clock = args.find(isClock);
  if (clock === undefined && name !== 'ago') return undefined;
  const said = args.flatMap((argument) => (argument === clock ? [] : [literalOf(argument) ?? argument.text])).join(' ');
  // The dialect may have a function of this name, with other arguments.
  const isKnown = statement.dialect.functions.some((each) => each.toLowerCase() === name);
  if (isKnown && !/interval/i.test(said) && !clocks.has(clock?.tokens[0]?.text ?? '')) return undefined;
  const [count = ''] = /-?\s*\d{1,6}/.exec(said) ?? [];
  if (additions.has(name) && !count.startsWith('-')) return undefined;
  const word = /\b(second|minute|hour|day|week)s?\b/i.exec(`${said} ${name.replace('subtract', ' ')}`)?.[1];
  const unit = unitNamed(word ?? /\d\s*([smhdw])\b/i.exec(said)?.[1] ?? '');
  const amount = Math.abs(Number(count.replaceAll(/\s/g, '')));
  if (count === '' || unit === undefined) return undefined;
  return write(statement, first, last, statement.dialect.write.ago(amount, unit));
}

/** `now()`, `CURRENT_TIMESTAMP`, `'now'`. */
function isClock({ tokens }: Argument): boolean {
  const [first, open, close, ...more] = tokens;
  if (first === undefined || !isNow(first.text) || more.length > 0) return false;
  return open === undefined || (open.text === '(' && close?.text === ')');
}

/** `now() - 3600`, `now() - '1h'`, `now() - 1h`, `SYSDATE - 1`, and intervals spelt otherwise. */
export function beforeNow(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word' || !isNow(token.text)) return undefined;
  const end = tokens[at + 1]?.text === '(' ? closing(tokens, at + 1) : at;
  const { write: writer, functions } = statement.dialect;
  const isForeign = clocks.has(token.text) || (token.text === 'now' && !functions.some((name) => /^now$/i.test(name)));
  if (tokens[end + 1]?.text !== '-') {
    return isForeign ? write(statement, token, tokens[end], writer.ago(0, 'second')) : undefined;
  }
  const isInterval = tokens[end + 2]?.text === 'interval';
  const from = isInterval ? end + 3 : end + 2;
  const [amount, word] = [tokens[from], tokens[from + 1]];
  // ClickHouse subtracts seconds.
  const isOwn = statement.dialect.name === 'clickhouse' || isInterval;
  if (isOwn && !isForeign && !statement.misfits) return undefined;
  const unit = word?.kind === 'word' ? unitNamed(word.text) : undefined;
  const isDays = token.text === 'current_date' && end === at && amount?.kind === 'number' && unit === undefined;
  // What is right here is not why it failed.
  if (!isForeign && isRight(statement.dialect.name, amount, { isInterval, isDays, isCast: word?.text === '::' }))
    return undefined;
  if (amount?.kind === 'string') {
    const span = spanOf(amount.text);
    return span && write(statement, token, amount, writer.ago(span.count, span.unit));
  }
  // Of `30 * INTERVAL '1 minute'` the number alone is no time.
  if (amount?.kind !== 'number' || word?.text === '*') return undefined;
  if (unit !== undefined) return write(statement, token, word, writer.ago(Number(amount.text), unit));
  const plain = /^(sysdate|getdate|current_date)$/.test(token.text) ? 'day' : 'second';
  return write(statement, token, amount, writer.ago(Number(amount.text), plain));
}

/** `INTERVAL '1 hour'`, `INTERVAL 1 HOUR`, `'1 hour'::interval` and `current_date - 1`, by where they are read. */
function isRight(
  dialect: string,
  amount: Token | undefined,
  { isInterval, isDays, isCast }: Readonly<Record<'isInterval' | 'isDays' | 'isCast', boolean>>,
): boolean {
  const isText = amount?.kind === 'string';
  if (isText && (isInterval || isCast)) return dialect === 'duckdb' || dialect === 'postgres';
  return isInterval ? dialect === 'duckdb' || dialect === 'clickhouse' : isDays && dialect !== 'bigquery';
}

const comparisons: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>=', '<>', '!=']);
const isTimeColumn = /^((start|end|observed)_)?time$/;

/** `time > 'now-1h'`, as the arguments of the tool take it. */
export function relativeTime(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, text] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (!isTimeColumn.test(column?.text ?? '') || text?.kind !== 'string') return undefined;
  const ago = /^now(?:\(\))?\s*(?:-\s*(\d{1,6})\s*([smhdw]))?$/i.exec(text.text);
  if (ago === null || !comparisons.has(sign?.text ?? '')) return undefined;
  const unit = letters[ago[2]?.toLowerCase() ?? ''] ?? 'second';
  return write(statement, text, text, statement.dialect.write.ago(Number(ago[1] ?? 0), unit));
}

/** What a number that a time is compared with counts in, by its digits: seconds, and a thousandth, … of them. */
const scales: Readonly<Record<number, number>> = { 10: 1e3, 13: 1, 16: 1e-3, 19: 1e-6 };

/** `time > 1700000000`. */
export function timeAsNumber(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, number] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  // What lies between two times is none.
  if (!isTimeColumn.test(column?.text ?? '') || number?.kind !== 'number' || tokens[at - 1]?.text === '-')
    return undefined;
  const scale = scales[number.text.length];
  if (scale === undefined || !comparisons.has(sign?.text ?? '')) return undefined;
  const moment = statement.dialect.write.literal(new Date(Number(number.text) * scale));
  return write(statement, number, number, moment, 'Times are timestamps. ');
}

export const nanoseconds: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 };
const wordUnits: Readonly<Record<string, string>> = {
  microsecond: 'us',
  millisecond: 'ms',
  second: 's',
  minute: 'm',
  hour: 'h',
};

/** `duration_nano > '500ms'`, `duration_nano > 500ms`, `duration_nano > INTERVAL '1 second'`. */
export function durationAsText(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, first] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (column?.text !== 'duration_nano' || first === undefined || !comparisons.has(sign?.text ?? '')) return undefined;
  const from = first.text === 'interval' ? at + 3 : at + 2;
  const bare = tokens[from]?.kind === 'number';
  const last = tokens[bare ? from + 1 : from];
  const text = bare ? `${tokens[from]?.text ?? ''} ${last?.text ?? ''}` : last?.kind === 'string' ? last.text : '';
  const [, count, word = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text) ?? [];
  const unit = wordUnits[word.toLowerCase().replace(/s$/, '')] ?? word.toLowerCase();
  const nanos = Number(count) * (nanoseconds[unit] ?? Number.NaN);
  if (!Number.isFinite(nanos)) return undefined;
  return write(statement, first, last, String(Math.round(nanos)), 'duration_nano is a number of nanoseconds. ');
}

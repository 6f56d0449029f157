import type { Holds, LogicalColumn, MomentForm, Unit, ValueReader } from '../../contract/telemetry/index.ts';

type Sql = ValueReader['sql'];

/** A physical column, or a mapped expression, with what was seen of it. */
export interface Seen {
  readonly sql: string;
  /** By which its unit may be known. */
  readonly name: string;
  readonly holds: Holds;
  readonly nullable: boolean;
  readonly cells: readonly (string | null)[];
}

/** Of the same table, by logical column. */
export type SeenColumns = Readonly<Record<string, Seen | undefined>>;

/** How a column differs from what callers expect, and the expression that reads it so; without one it is mapped by hand. */
export interface Fit {
  /** Absent where nothing is wrong yet: a NULL that the type allows. */
  readonly found?: string;
  readonly mend?: string;
}

interface Reading {
  readonly says: string;
  /** Of the column's name, where the values alone would not tell. */
  readonly named?: RegExp;
  readonly prefix?: string;
  /** By value that callers expect, the words that mean it, in lower case. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly rest: string;
}

const truth = { true: ['true', '1', 't'], false: ['false', '0', 'f', ''] };

/** Of columns that hold one of a few values, what else they are found to hold; the first that knows most values is taken. */
const readings: Readonly<Record<string, readonly Reading[]>> = {
  kind: [
    {
      says: 'numbers of OTLP',
      words: {
        INTERNAL: ['1'],
        SERVER: ['2'],
        CLIENT: ['3'],
        PRODUCER: ['4'],
        CONSUMER: ['5'],
        UNSPECIFIED: ['0', ''],
      },
      rest: 'UNSPECIFIED',
    },
    {
      says: 'words in another form',
      prefix: 'span_kind_',
      words: {
        INTERNAL: ['internal', 'local'],
        SERVER: ['server', 'entry'],
        CLIENT: ['client', 'exit'],
        PRODUCER: ['producer'],
        CONSUMER: ['consumer'],
        UNSPECIFIED: ['unspecified', ''],
      },
      rest: 'UNSPECIFIED',
    },
  ],
  status_code: [
    {
      says: 'true where it failed',
      named: /err|fail|exception/i,
      words: { ERROR: truth.true, UNSET: truth.false },
      rest: 'UNSET',
    },
    {
      says: 'false where it failed',
      named: /succe|ok\b/i,
      words: { ERROR: truth.false, UNSET: truth.true },
      rest: 'UNSET',
    },
    { says: 'numbers of OTLP', words: { OK: ['1'], ERROR: ['2'], UNSET: ['0', ''] }, rest: 'UNSET' },
    {
      says: 'words in another form',
      prefix: 'status_code_',
      words: {
        ERROR: ['error', 'err', 'fail', 'failed', 'failure', 'fatal'],
        OK: ['ok', 'success', 'succeeded'],
        UNSET: ['unset', '', 'default', 'debug', 'info', 'warning', 'warn'],
      },
      rest: 'UNSET',
    },
  ],
  severity_number: [
    {
      says: 'numbers of syslog',
      named: /priority|syslog/i,
      words: { 21: ['0', '1', '2'], 17: ['3'], 13: ['4'], 10: ['5'], 9: ['6'], 5: ['7'] },
      rest: '0',
    },
    {
      says: 'numbers in tens',
      words: { 21: ['60'], 17: ['50'], 13: ['40'], 9: ['30'], 5: ['20'], 1: ['10'] },
      rest: '0',
    },
    {
      says: 'words',
      words: {
        21: ['fatal', 'critical', 'crit', 'emergency', 'emerg', 'alert', 'panic'],
        17: ['error', 'err', 'severe'],
        13: ['warn', 'warning'],
        9: ['info', 'information', 'informational', 'notice', 'log'],
        5: ['debug', 'verbose'],
        1: ['trace'],
      },
      rest: '0',
    },
  ],
  type: [
    {
      says: 'words in another form',
      words: {
        gauge: ['gauge'],
        sum: ['sum', 'counter', 'updowncounter'],
        histogram: ['histogram'],
        exponential_histogram: ['exponential_histogram', 'exponentialhistogram'],
        summary: ['summary'],
      },
      rest: 'gauge',
    },
  ],
  aggregation_temporality: [
    { says: 'numbers of OTLP', words: { delta: ['1'], cumulative: ['2'], '': ['0'] }, rest: '' },
    {
      says: 'words in another form',
      prefix: 'aggregation_temporality_',
      words: { delta: ['delta'], cumulative: ['cumulative'], '': ['unspecified', ''] },
      rest: '',
    },
  ],
};

/** In digits of hexadecimal. */
const idLengths: Readonly<Record<string, number>> = { trace_id: 32, span_id: 16, parent_span_id: 16 };
/** Wrapping them would lose their indexes: only where a NULL was seen. */
const indexed: ReadonlySet<string> = new Set(['time', 'trace_id', 'service_name']);
export const nanosIn: Readonly<Record<Unit, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** Undefined where the column is as callers expect it. */
export function fitOf(column: LogicalColumn, seen: Seen, others: SeenColumns, sql: Sql): Fit | undefined {
  const { name, type } = column;
  const given = givenOf(seen.cells);
  if (type === 'timestamp') return momentFit(seen, given, sql);
  if (name === 'duration_nano') return durationFit(seen, others, sql);
  if (name in readings) return wordFit(column, seen, given, sql);
  const digits = idLengths[name];
  if (digits !== undefined) return idFit(name, digits, seen, given, sql);
  if (type === 'map') return mapFit(seen, given, sql);
  if (type === 'string') return textFit(column, seen, sql);
  return seen.cells.includes(null) && column.nullable === undefined && (type === 'int64' || type === 'float64')
    ? { found: 'NULL in some rows', mend: `coalesce(${seen.sql}, 0)` }
    : undefined;
}

/** Of a time, which kind of number or text it is; `time` where it is one already. */
export function momentForm({ holds, cells }: Seen): MomentForm | 'time' | undefined {
  if (holds === 'time' || holds === 'local') return holds;
  const given = givenOf(cells);
  if (holds === 'text')
    return given.length > 0 && given.every((cell) => /^\d{4}-\d\d-\d\d/.test(cell)) ? 'text' : undefined;
  if (holds !== 'integer' && holds !== 'float') return undefined;
  const seconds = median(given.map(Number));
  // From 2001 to 2096, by the unit that puts it there.
  return (['s', 'ms', 'us', 'ns'] as const).find((unit) => {
    const at = (seconds * nanosIn[unit]) / 1e9;
    return at > 1e9 && at < 4e9;
  });
}

function givenOf(cells: Seen['cells']): readonly string[] {
  return cells.flatMap((cell) => (cell === null || cell === '' ? [] : [cell]));
}

/** A time in nanoseconds, row by row. */
function momentsOf(seen: Seen): readonly number[] {
  const form = momentForm(seen);
  const factor =
    form === undefined || form === 'text' ? Number.NaN : form === 'time' || form === 'local' ? 1 : nanosIn[form];
  return seen.cells.map((cell) => (cell === null ? Number.NaN : Number(cell) * factor));
}

function momentFit(seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const form = momentForm(seen);
  if (form === 'time') return undefined;
  if (form === undefined) return given.length === 0 ? undefined : { found: 'no time in a form that is known' };
  const mend = sql.moment(seen.sql, form);
  if (form === 'local') return { found: 'times without a zone, taken for UTC', mend };
  return { found: form === 'text' ? 'times as text' : `times as numbers, in ${unitNames[form]} since 1970`, mend };
}

const unitNames: Readonly<Record<Unit, string>> = {
  ns: 'nanoseconds',
  us: 'microseconds',
  ms: 'milliseconds',
  s: 'seconds',
};

/** By its end and its beginning where both are there, else by its name, else by its size. */
function durationFit(seen: Seen, { time, end_time: end }: SeenColumns, sql: Sql): Fit | undefined {
  if (seen.holds === 'interval') return { found: 'intervals', mend: sql.nanos(seen.sql, 'interval') };
  const known = (time && end && unitBetween(seen, time, end)) ?? unitOfName(seen.name);
  const given = seen.cells.map(Number).filter((cell) => cell > 0);
  if (known === undefined) {
    if (given.length === 0) return undefined;
    const unit = unitOfSize(median(given));
    const mend = unit === 'ns' && seen.holds === 'integer' ? seen.sql : sql.nanos(seen.sql, unit);
    return { found: `durations without a unit, by their size taken for ${unitNames[unit]}`, mend };
  }
  if (known !== 'ns') return { found: unitNames[known], mend: sql.nanos(seen.sql, known) };
  if (seen.holds === 'float') return { found: 'fractions', mend: sql.nanos(seen.sql, 'ns') };
  return seen.cells.includes(null) ? { found: 'NULL in some rows', mend: `coalesce(${seen.sql}, 0)` } : undefined;
}

/** The unit in which half of all spans take nearest to ten milliseconds. */
function unitOfSize(middle: number): Unit {
  const far = (unit: Unit) => Math.abs(Math.log10((middle * nanosIn[unit]) / 1e7));
  return (['ns', 'us', 'ms', 's'] as const).toSorted((one, other) => far(one) - far(other)).at(0) ?? 'ns';
}

function unitOfName(name: string): Unit | undefined {
  const found = /(nano|(?:^|[^a-z])ns$)|(micro|(?:^|[^a-z])us$)|(milli|(?:^|[^a-z])ms$)|(sec|(?:^|[^a-z])s$)/i.exec(
    name
      .replaceAll(/["`]/g, '')
      .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase(),
  );
  const at = found?.slice(1).findIndex((group) => group !== undefined);
  return at === undefined ? undefined : (['ns', 'us', 'ms', 's'] as const)[at];
}

function unitBetween(seen: Seen, time: Seen, end: Seen): Unit | undefined {
  const [starts, ends] = [momentsOf(time), momentsOf(end)];
  const ratios = seen.cells.flatMap((cell, row) => {
    const took = (ends[row] ?? Number.NaN) - (starts[row] ?? Number.NaN);
    return took > 0 && Number(cell) > 0 ? [took / Number(cell)] : [];
  });
  if (ratios.length === 0) return undefined;
  const ratio = median(ratios);
  return (['ns', 'us', 'ms', 's'] as const).find((unit) => ratio > nanosIn[unit] / 2 && ratio < nanosIn[unit] * 2);
}

function wordFit(column: LogicalColumn, seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const expected: ReadonlySet<string> = new Set(
    column.values ?? Array.from({ length: 25 }, (_, number) => String(number)),
  );
  const tens = column.name === 'severity_number' && given.length > 0 && given.every((cell) => /^[1-6]0$/.test(cell));
  if (!tens && !/syslog|priority/i.test(seen.name) && given.every((cell) => expected.has(cell))) {
    return textFit(column, seen, sql);
  }
  const text = seen.holds === 'text' ? seen.sql : sql.text(seen.sql);
  if (column.name === 'status_code' && given.every((cell) => /^[1-5]\d\d$/.test(cell))) {
    return { found: 'HTTP status codes', mend: `CASE WHEN ${text} >= '500' THEN 'ERROR' ELSE 'UNSET' END` };
  }
  const tried = (readings[column.name] ?? [])
    .filter(({ named }) => named === undefined || named.test(seen.name))
    .map((reading) => ({ reading, known: given.filter((cell) => knows(reading, cell)) }));
  const best = tried.toSorted((one, other) => other.known.length - one.known.length).at(0);
  if (best === undefined || best.known.length < given.length / 2)
    return { found: 'values that are none of the expected ones' };
  const { reading, known } = best;
  const words = [...new Set(known.map((cell) => cell.toLowerCase()))].toSorted().slice(0, 8).join(', ');
  const others = given.length - known.length;
  const rest = others === 0 ? '' : `; ${others} of ${given.length} values are others, read as ${reading.rest}`;
  return { found: `${reading.says} (${words})${rest}`, mend: chosen(column.type, reading, seen, text) };
}

/** A severity's number told from its word. */
export function severityOf(text: string, seen: Seen): Fit {
  const { sql, cells } = seen;
  const words = readings['severity_number']?.at(-1);
  if (words === undefined) throw new TypeError('no words');
  const unknown = new Set(givenOf(cells).filter((cell) => !knows(words, cell))).size;
  const rest = unknown === 0 ? '' : `; ${unknown} words are not known and read as 0`;
  return { found: `told from the words of ${text}${rest}`, mend: chosen('int64', words, seen, sql) };
}

function knows({ words, prefix = '' }: Reading, cell: string): boolean {
  const word = cell.toLowerCase().replace(prefix, '');
  return Object.values(words).some((list) => list.includes(word));
}

function chosen(
  type: LogicalColumn['type'],
  { words, prefix = '', rest }: Reading,
  { cells }: Seen,
  text: string,
): string {
  const hasPrefix = prefix !== '' && cells.some((cell) => cell?.toLowerCase().startsWith(prefix) === true);
  const given = givenOf(cells);
  const isNumber = given.length > 0 && given.every((cell) => /^\d+$/.test(cell));
  const lower = isNumber ? text : `lower(${text})`;
  const word = hasPrefix ? `replace(${lower}, '${prefix}', '')` : lower;
  const value = (of: string) => (type === 'string' ? `'${of}'` : of);
  const cases = Object.entries(words)
    .filter(([of]) => of !== rest)
    .flatMap(([of, list]) => list.map((one) => `WHEN '${one}' THEN ${value(of)}`));
  const whole = `CASE ${word} ${cases.join(' ')} ELSE ${value(rest)} END`;
  return type === 'string' ? whole : `CAST(${whole} AS BIGINT)`;
}

function idFit(name: string, digits: number, seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const all = (form: RegExp) => given.length > 0 && given.every((cell) => form.test(cell));
  const zero = '0'.repeat(digits);
  const apart = (mend: string) =>
    (name === 'parent_span_id' && given.some((cell) => /^[0\\x-]+$/.test(cell))) ||
    (seen.nullable && !indexed.has(name)) ||
    seen.cells.includes(null)
      ? `coalesce(nullif(${mend}, '${zero}'), '')`
      : mend;
  const as = (found: string, mend: string): Fit => ({ found, mend: apart(mend) });
  if (seen.holds === 'integer') {
    const hex = sql.hex(seen.sql, 'integer');
    return as('numbers', digits === 16 ? hex : `lpad(${hex}, ${digits}, '0')`);
  }
  if (all(/^\\x/)) return as('bytes', sql.hex(seen.sql, 'bytes'));
  const dashed = new RegExp(String.raw`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`);
  if (digits === 32 && (seen.holds === 'uuid' || all(dashed))) {
    return as('UUIDs', `lower(replace(${sql.text(seen.sql)}, '-', ''))`);
  }
  if (all(new RegExp(`^[0-9A-Fa-f]{${digits}}$`))) {
    return given.some((cell) => cell !== cell.toLowerCase())
      ? as('upper-case ids', `lower(${seen.sql})`)
      : idText(name, zero, seen, given, sql);
  }
  if (all(digits === 32 ? /^[A-Za-z0-9+/]{22}==$/ : /^[A-Za-z0-9+/]{11}=$/)) {
    return as('ids in base64', sql.hex(seen.sql, 'base64'));
  }
  if (digits === 32 && all(/^[0-9a-f]{16}$/)) return as('ids of 16 digits', `lpad(${seen.sql}, 32, '0')`);
  const plain = idText(name, zero, seen, given, sql);
  if (given.length === 0) return plain;
  return { found: `ids that are not ${digits} hexadecimal digits, served as they are`, mend: plain?.mend ?? seen.sql };
}

/** Ids that are hexadecimal already: roots may still be told by NULL or zeros. */
function idText(name: string, zero: string, seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const text = seen.holds === 'text' ? seen.sql : sql.text(seen.sql);
  if (name === 'parent_span_id' && given.includes(zero)) {
    return { found: 'zeros for a root span', mend: `coalesce(nullif(${text}, '${zero}'), '')` };
  }
  return filledText(name, seen, text);
}

function textFit({ name, type }: LogicalColumn, seen: Seen, sql: Sql): Fit | undefined {
  if (type !== 'string') {
    if (seen.holds !== 'integer')
      return { mend: `CAST(coalesce(${seen.sql}, ${seen.holds === 'text' ? "'0'" : '0'}) AS BIGINT)` };
    return seen.cells.includes(null) ? { found: 'NULL in some rows', mend: `coalesce(${seen.sql}, 0)` } : undefined;
  }
  return filledText(name, seen, seen.holds === 'text' ? seen.sql : sql.text(seen.sql));
}

function filledText(name: string, seen: Seen, text: string): Fit | undefined {
  if (seen.cells.includes(null) || (seen.nullable && !indexed.has(name))) {
    const mend = `coalesce(${text}, '')`;
    return seen.cells.includes(null) ? { found: 'NULL in some rows', mend } : { mend };
  }
  return text === seen.sql ? undefined : { found: 'values that are no text', mend: text };
}

function mapFit(seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const { holds } = seen;
  if (given.length > 0 && given.every((cell) => /^\[\s*(\{\s*"key"|\])/.test(cell))) {
    return { found: 'lists of key and value', mend: sql.map(seen.sql, 'pairs') };
  }
  if (holds === 'typed map') return { found: 'values that are no text', mend: sql.map(seen.sql, holds) };
  if (given.some((cell) => !/^\s*\{/.test(cell))) return { found: 'values that are no map' };
  if (holds === 'text') return { found: 'JSON as text', mend: sql.map(seen.sql, 'text') };
  if (holds === 'json') return { found: 'JSON', mend: sql.map(seen.sql, 'json') };
  const mend = `coalesce(${seen.sql}, '{}')`;
  if (seen.cells.includes(null)) return { found: 'NULL in some rows', mend };
  return seen.nullable ? { mend } : undefined;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers
    .filter((number) => Number.isFinite(number) && number !== 0)
    .toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

import type { LogicalColumn } from '../../contract/telemetry/index.ts';
import { givenOf, type Fit, type Seen, type Sql } from './seen.ts';

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
export const readings: Readonly<Record<string, readonly Reading[]>> = {
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

export function wordFit(column: LogicalColumn, seen: Seen, given: readonly string[], sql: Sql): Fit | 'as expected' {
  const expected: ReadonlySet<string> = new Set(
    column.values ?? Array.from({ length: 25 }, (_, number) => String(number)),
  );
  const tens = column.name === 'severity_number' && given.length > 0 && given.every((cell) => /^[1-6]0$/.test(cell));
  if (!tens && !/syslog|priority/i.test(seen.name) && given.every((cell) => expected.has(cell))) {
    return 'as expected';
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

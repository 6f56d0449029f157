import { nearestName } from '../../contract/core/spelling.ts';
import type { Dialect, TableName } from '../../contract/telemetry/index.ts';
import { longest, most } from './cautions.ts';
import { comparedWith, levelNamed } from './column-cautions.ts';
import { keyNow, keyReadAt, otherReads, type KeyRead } from './habits/attributes.ts';
import { mostTokens, tokensOf, type Token } from './habits/tokens.ts';
import type { QueryResult } from './result.ts';

export const askLimits = { timeoutMs: 2_000, maxRows: 500 };
/** Each is compared with all that is sent: two of 64 letters with 500 take 60 ms. */
const mostNames = 2;

/** Runs SQL of ours in the window of the statement, within `askLimits`, and answers its rows; rejects where it has more. */
export type AskRows = (sql: string) => Promise<readonly (readonly unknown[])[]>;

type Answered = Pick<QueryResult, 'rowCount' | 'rowsJson'> & {
  /** By `isEmpty`. */
  readonly empty: boolean;
};

/**
 * Warnings of spellings and names that no row has, where rows have another for the same. Asks for rows, and does so only for a
 * statement that holds such a spelling and, unless the spelling is a rare one, found nothing.
 */
export async function unsentWarnings(
  sql: string,
  dialect: Dialect,
  result: Answered,
  ask: AskRows,
): Promise<readonly string[]> {
  const { empty } = result;
  if (sql.length > longest || !(empty || /attributes|severity_text/i.test(sql))) return [];
  const tokens = tokensOf(sql, dialect.name);
  if (tokens.length > mostTokens) return [];
  const tables = tablesOf(tokens, dialect);
  const spellings = await spellingWarnings(doubtsOf(tokens, tables, dialect), dialect, result, ask);
  return [...spellings, ...(empty ? await nameWarnings(tokens, tables, dialect, ask) : [])];
}

function tablesOf(tokens: readonly Token[], { tables }: Dialect): readonly TableName[] {
  return tables
    .map(({ name }) => name)
    .filter((name) =>
      tokens.some(({ text }, at) => text === `otel.${name}` || (text === name && tokens[at - 1]?.text === '.')),
    );
}

async function spellingWarnings(
  all: readonly Doubt[],
  dialect: Dialect,
  result: Answered,
  ask: AskRows,
): Promise<readonly string[]> {
  const nothing = all.length > 0 && foundNothing(result);
  const doubts = all.filter(({ always }) => always || nothing);
  if (doubts.length === 0) return [];
  try {
    // Where reading is paid for, this would cost as much as the statement.
    const counts = dialect.name === 'bigquery' ? undefined : await countsOf(doubts, dialect, ask);
    if (counts !== undefined) return doubts.flatMap((doubt) => warningOf(doubt, counts.get(doubt) ?? []) ?? []);
  } catch {
    // Not counted in time: said is what is true without it.
  }
  return nothing ? doubts.flatMap(({ unasked }) => unasked ?? []) : [];
}

/** Of each doubt how many rows meet it, and how many each of its others, in each of its tables. */
async function countsOf(
  doubts: readonly Doubt[],
  { write }: Pick<Dialect, 'write'>,
  ask: AskRows,
): Promise<ReadonlyMap<Doubt, readonly (readonly number[])[]>> {
  const counts = new Map<Doubt, (readonly number[])[]>(doubts.map((doubt) => [doubt, []]));
  for (const table of new Set(doubts.flatMap(({ tables }) => tables))) {
    const asked = doubts.filter(({ tables }) => tables.includes(table));
    const conditions = asked.flatMap((doubt) => conditionsOf(doubt).map((condition) => write.countIf(condition)));
    const [cells = []] = await ask(`SELECT ${conditions.join(', ')} FROM otel.${table}`);
    const row = cells.map(Number);
    for (const doubt of asked) counts.get(doubt)?.push(row.splice(0, conditionsOf(doubt).length));
  }
  return counts;
}

function conditionsOf({ asked, others }: Doubt): readonly string[] {
  return [asked, ...others.map(({ condition }) => condition)];
}

function warningOf({ shown, others }: Doubt, counts: readonly (readonly number[])[]): string | undefined {
  const other = others.find((_, index) => counts.length > 0 && counts.every((row) => (row[index + 1] ?? 0) > 0));
  const isSent = counts.some(([asked]) => asked !== 0);
  return other === undefined || isSent ? undefined : `No row in this window has ${shown}. ${other.write}`;
}

/** Names that senders choose: a service's, and a metric's. */
function nameReadAt(tokens: readonly Token[], at: number, tables: readonly TableName[]): string | undefined {
  const column = tokens[at]?.text;
  return column === 'service_name' || (column === 'name' && tables.join() === 'metrics') ? column : undefined;
}

/** Of names that the statement asks for and no row has. What senders wrote is shown where it is like what the caller wrote. */
async function nameWarnings(
  tokens: readonly Token[],
  tables: readonly TableName[],
  { name: dialect, write }: Dialect,
  ask: AskRows,
): Promise<readonly string[]> {
  const named = tokens.flatMap((_, at) => {
    const column = nameReadAt(tokens, at, tables);
    if (column === undefined) return [];
    return comparedWith(tokens, at).flatMap(({ kind, text }) => (kind === 'string' ? { column, text } : []));
  });
  const wanted = named.slice(0, mostNames);
  if (wanted.length === 0 || dialect === 'bigquery') return [];
  const warnings = new Set<string>();
  try {
    for (const column of new Set(wanted.map((each) => each.column))) {
      const asked = await Promise.all(tables.map((table) => ask(`SELECT DISTINCT ${column} FROM otel.${table}`)));
      const sent = new Set(asked.flat().map(([name]) => String(name)));
      const shown = [...sent].filter((name) => /^[\w./:-]{1,64}$/.test(name));
      for (const { text } of wanted.filter((each) => each.column === column && !sent.has(each.text))) {
        const near = nearestName(text, shown);
        if (near === undefined) continue;
        warnings.add(
          `No row in this window has ${column} = ${write.literal(text)}. The nearest is ${write.literal(near)}.`,
        );
      }
    }
  } catch {
    // Not read in time, too many, or not for this caller.
  }
  return [...warnings];
}

/** No row, or one that counts nothing. */
export function isEmpty({ rowCount, rowsJson }: Omit<Answered, 'empty'>): boolean {
  return rowCount === 0 || (rowCount === 1 && /^\[(?:"0"|0|null)(?:,(?:"0"|0|null))*\]$/.test(rowsJson.toString()));
}

/** No row, or a column in which nothing is but zeros. */
function foundNothing({ rowCount, rowsJson }: Answered): boolean {
  if (rowCount === 0) return true;
  const rows: readonly (readonly unknown[])[] = JSON.parse(`[${rowsJson.toString()}]`);
  return rows[0]?.some((_, column) => rows.every((row) => isNothing(row[column]))) === true;
}

/** NULL, '', 0, false and an empty list. */
function isNothing(cell: unknown): boolean {
  return Number(cell) === 0;
}

/** Something that perhaps no row has, and what stands for it elsewhere. Senders differ, so the rows are asked. */
export interface Doubt {
  /** As SQL, true of a row that has it. */
  readonly asked: string;
  readonly shown: string;
  /** Whose rows. */
  readonly tables: readonly TableName[];
  /** Each as SQL, and what to write where rows meet it. */
  readonly others: readonly { readonly condition: string; readonly write: string }[];
  /** What can be said without asking. */
  readonly unasked?: string | undefined;
  /** Seldom right: asked also where the answer holds something. */
  readonly always: boolean;
}

/** What in a statement may find nothing for its spelling alone. */
function doubtsOf(tokens: readonly Token[], tables: readonly TableName[], dialect: Dialect): readonly Doubt[] {
  const keys = tokens.flatMap((_, at) => keyReadAt(tokens, at) ?? []);
  const found = [
    ...keys.flatMap((read) => ofKey(read, keys, tables, dialect) ?? []),
    ...tokens.flatMap((_, at) => ofSeverity(tokens, at, dialect)),
  ];
  const doubts = new Map(found.map((doubt) => [doubt.shown, doubt]));
  return [...doubts.values()].slice(0, most);
}

function ofKey(
  read: KeyRead,
  keys: readonly KeyRead[],
  all: readonly TableName[],
  { name, write }: Dialect,
): Doubt | undefined {
  const { qualifier, map, key } = read;
  const tables = all.filter((table) => read.table === undefined || table === read.table);
  const filled = (expression: string) => `${expression} <> ''`;
  const doubt = {
    asked: filled(write.attribute(map, key)),
    shown: write.attribute(qualifier + map, key),
    tables,
    always: false,
  };
  if (/^exception\.\w+$/.test(key) && map === 'attributes' && tables.join() === 'spans') {
    const said = 'The exceptions of a span are in its events.';
    const inEvent = ` Write FROM otel.spans, UNNEST(events) AS t(e), and read e.attributes[${write.literal(key)}].`;
    const advice = name === 'duckdb' ? said + inEvent : said;
    return { ...doubt, others: [{ condition: 'true', write: advice }], unasked: advice };
  }
  const others = otherReads(read, write);
  // A statement that reads both, as coalesce does, has thought of it.
  if (others.length === 0 || others.some((other) => keys.some((each) => each.key === other.key && each !== read)))
    return undefined;
  const now = keyNow(key);
  return {
    ...doubt,
    others: others.map((other) => ({ condition: filled(other.read), write: `Write ${other.shown}.` })),
    ...(now !== undefined && {
      unasked: `The semantic conventions renamed ${key} to ${now}. Where no row has the old one, write ${write.attribute(qualifier + map, now)}.`,
    }),
  };
}

/** `severity_text = 'WARNING'`, `upper(severity_text) IN ('CRITICAL')`: the text is the sender's own, the number is not. */
function ofSeverity(tokens: readonly Token[], at: number, { write }: Dialect): readonly Doubt[] {
  if (tokens[at]?.text !== 'severity_text') return [];
  const fold = tokens[at + 1]?.text === ')' && tokens[at - 1]?.text === '(' ? tokens[at - 2]?.text : undefined;
  const isFolded = fold === 'upper' || fold === 'lower';
  return comparedWith(tokens, isFolded ? at + 1 : at).flatMap(({ kind, text }) => {
    const level = kind === 'string' ? levelNamed(text) : undefined;
    // Of lower case a caution has said it already.
    if (level === undefined || (!isFolded && /[a-z]/.test(text))) return [];
    const between = `severity_number BETWEEN ${level.from} AND ${level.from + 3}`;
    const advice = `severity_text is spelt as its sender spelt it. Write ${between} for ${level.name}.`;
    const asked = `${isFolded ? `${fold}(severity_text)` : 'severity_text'} = ${write.literal(text)}`;
    const always = text.toUpperCase() !== level.name;
    return {
      asked,
      shown: asked,
      tables: ['logs'] as const,
      others: [{ condition: between, write: advice }],
      unasked: always ? advice : undefined,
      always,
    };
  });
}

import {
  admitText,
  isNode,
  list,
  statementTooLarge,
  text,
  words,
  type Node,
  type SqlHelpers,
} from '../../../src/contract/telemetry/index.ts';
import type { Token } from './tokens.ts';
import { only } from './tree.ts';

/** What PostgreSQL reads as a moment in a text that it takes for a time: wherever it stands in it, in any case. */
const moment = /now|today|tomorrow|yesterday/i;

const fewRows = 1_000;

/**
 * Whether a statement probably has few rows, by its LIMIT or grouping. Such a statement fetches all rows at once, so that it may
 * run in parallel, which PostgreSQL forbids for fetches by row count.
 */
export function saysFewRows(statement: Node): boolean {
  const select = only('SelectStmt', statement);
  if (select === undefined || text(select['op']) !== 'SETOP_NONE') return false;
  const limit = only('A_Const', select['limitCount']);
  const count = isNode(limit?.['ival']) ? (limit['ival']['ival'] ?? 0) : undefined;
  if (typeof count === 'number') return count <= fewRows;
  return list(select['groupClause']).length > 0;
}

/**
 * Whether a constant may mean the moment at which the statement is read. A server that keeps the statement by a name has read it
 * once, and means that moment ever after (PostgreSQL, Date/Time Special Values).
 */
export function isOfItsMoment({ sval: string }: Node): boolean {
  return isNode(string) && moment.test(text(string['sval']));
}

export const maxSqlBytes = 64 * 1024;
/** Words and punctuation marks; an upper bound of tokens that costs nothing to count. */
const maxPieces = 10_000;
/** The scanner spends the square of a run of operator characters, empty comments written ten thousand times among them. */
const maxRunCost = 250_000;
/**
 * Each may nest the tree a level deeper without a parenthesis (`1+1+1…`, `NOT NOT …`, `UNION …`), and the parser's stack
 * holds some three thousand levels.
 */
const maxChained = 1_000;
const maxOpen = 200;

/** Refuses what must not even reach the parser. */
export function admit(sql: string, helpers: SqlHelpers): void {
  admitText(sql, maxSqlBytes, helpers);
  let runs = 0;
  for (const [run] of sql.matchAll(/[~!@#^&|`?+\-*/%<>=]{16,}/g)) runs += run.length ** 2;
  if (runs > maxRunCost || (sql.match(/\w+|[^\s\w]/g)?.length ?? 0) > maxPieces) throw statementTooLarge();
}

const flatMarks = /^(?:[,.()\];=<>]|<=|>=|<>|!=|:=|=>)$/;
const flatWords = new Set(
  words(`and or as asc between by case desc distinct else end false filter first from ilike in is last like null nulls on
  order over partition then true using values when where`),
);

/** Refuses what the scanner read well but the grammar could not hold on its stack. */
export function admitTokens(tokens: readonly Token[]): void {
  let open = 0;
  let chained = 0;
  for (const { kind, sql } of tokens) {
    if (kind === 'constant' || kind === 'identifier') continue;
    const word = sql.toLowerCase();
    if (sql === '(' || sql === '[' || word === 'case') open += 1;
    if (sql === ')' || sql === ']' || word === 'end') open -= 1;
    if (kind === 'keyword' ? !flatWords.has(word) : !flatMarks.test(sql)) chained += 1;
    if (open > maxOpen || chained > maxChained) throw statementTooLarge();
  }
}

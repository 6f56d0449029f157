import type { SightlineError } from '../../src/contract/core/index.ts';
import {
  isList,
  isNode,
  statementTooLarge,
  text,
  unitAt,
  type CheckedStatement,
  type Json,
  type Node,
  type ParsedStatement,
  type SqlHelpers,
} from '../../src/contract/telemetry/index.ts';
import { Checker } from './gate/check.ts';
import { reachesOf } from './gate/reach.ts';
import { templateOf, type Template } from './gate/relations.ts';
import { maxTreeBytes } from './protocol.ts';

/** What `parse` hands to the core and gets back in `check`: SQL as the engine wrote it, which is what runs, with its tree. */
export class DuckdbStatement implements ParsedStatement {
  readonly written: string;
  readonly tree: Json;
  readonly asked: Asked;

  constructor(written: string, tree: Json, asked: Asked) {
    this.written = written;
    this.tree = tree;
    this.asked = asked;
  }
}

/** The statement as the caller wrote it. Its tree tells where something stands: read only for an error. */
export interface Asked {
  readonly sql: string;
  readonly tree: () => Node;
}

/** What `check` hands to the core and gets back in `render`; the trees are not needed any more. */
export class DuckdbTemplate {
  readonly template: Template;

  constructor(template: Template) {
    this.template = template;
  }
}

export const maxSqlBytes = 256 * 1024;

/** Reads the engine's answer to `parse`. Throws what is wrong with the statement. */
export function readStatement(sql: string, answer: Buffer, helpers: SqlHelpers): DuckdbStatement {
  const afterTree = lineEnd(answer, 0);
  const asked = { sql, tree: () => readTree(answer.subarray(0, afterTree), helpers) };
  const afterTrees = lineEnd(answer, afterTree + 1);
  const written = answer.toString('utf8', afterTrees + 1);
  // A NUL would end what is run before the end of what was checked.
  if (written === '' || written.includes('\0')) throw unreadable(asked, helpers);
  const [tree, ...more] = statementsOf(readTree(answer.subarray(afterTree + 1, afterTrees), helpers));
  if (tree === undefined || more.length > 0) throw unreadable(asked, helpers);
  return new DuckdbStatement(written, tree, asked);
}

function unreadable({ sql, tree }: Asked, helpers: SqlHelpers): SightlineError {
  const asked = tree();
  if (asked['error'] === true) return parseError(sql, text(asked['error_type']), asked['position'], helpers);
  const statements = statementsOf(asked);
  if (statements.length === 0) return helpers.refuse('sql_syntax', 'There is no statement.', { position: 1 });
  return statements.length > 1 ? severalStatements(helpers) : cannotBeRead(helpers);
}

function lineEnd(answer: Buffer, from: number): number {
  const end = answer.indexOf('\n', from);
  return end < 0 ? answer.length : end;
}

function readTree(answer: Buffer, helpers: SqlHelpers): Node {
  if (answer.length > maxTreeBytes) {
    throw statementTooLarge();
  }
  // Numbers beyond 2^53 come rounded; no tree is written back.
  const tree: Json = JSON.parse(answer.toString('utf8'));
  if (!isNode(tree)) throw cannotBeRead(helpers);
  return tree;
}

function statementsOf(tree: Node): readonly Json[] {
  return isList(tree['statements']) ? tree['statements'] : [];
}

export function checkStatement(
  { written, tree, asked }: DuckdbStatement,
  helpers: SqlHelpers,
  now: number,
): CheckedStatement {
  try {
    const checker = new Checker(helpers, () => undefined);
    checker.check(tree);
    const { tables, reads, columns, rewritten } = checker;
    const template = templateOf(written, [...reads, ...columns], rewritten);
    if (template === undefined) throw cannotBeRead(helpers);
    return { tree: new DuckdbTemplate(template), tables: [...tables], reaches: reachesOf(tree, reads, now) };
  } catch (error) {
    // The same, told with its place in what the caller wrote.
    const locate = (location: Json | undefined) => characterPosition(asked.sql, location);
    new Checker(helpers, locate).check(statementsOf(asked.tree())[0] ?? null);
    throw error;
  }
}

function cannotBeRead(helpers: SqlHelpers): SightlineError {
  return helpers.refuse('sql_refused', 'The statement cannot be taken apart.', {
    hint: 'Write it as a plain SELECT over otel.spans, otel.metrics and otel.logs.',
  });
}

function parseError(sql: string, kind: string, position: Json | undefined, helpers: SqlHelpers): SightlineError {
  if (kind === 'not implemented') return notSelect(sql, helpers);
  const at = syntaxPosition(sql, position);
  const near = at === undefined ? '' : /^\S{0,30}/.exec(sql.slice(at - 1))?.[0];
  return helpers.refuse('sql_syntax', near ? `Syntax error at or near "${near}".` : 'Syntax error.', {
    hint: 'The dialect is DuckDB.',
    ...(at !== undefined && { position: at }),
  });
}

function severalStatements(helpers: SqlHelpers): SightlineError {
  return helpers.refuse('sql_multiple_statements', 'Only one statement can be run at a time.', {
    hint: 'Send the statements one by one.',
  });
}

const instead: Readonly<Record<string, string>> = {
  EXPLAIN: 'Run the query itself; its elapsed time comes with the result.',
  PIVOT:
    "Write SELECT * FROM (PIVOT otel.spans ON status_code IN ('OK', 'ERROR') USING count(*) GROUP BY service_name).",
  UNPIVOT: 'Write SELECT * FROM (UNPIVOT … ON … INTO NAME … VALUE …) with the columns spelled out.',
  SUMMARIZE:
    'Ask for what you need: SELECT count(*), min(time), max(time), approx_count_distinct(name) FROM otel.spans.',
  CALL: 'Table functions are not available.',
  SET: 'Settings cannot be changed; times are in UTC.',
  PRAGMA: 'Send SHOW TABLES or DESCRIBE otel.spans.',
  CREATE: 'Use WITH name AS (SELECT …) instead of a table or view.',
  WITH: 'WITH must lead to a SELECT.',
};

/** The first word behind white space and comments. Anchored, so that comments begun and never ended are not tried one by one. */
const firstWord = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*([a-z]+)/i;

function notSelect(sql: string, helpers: SqlHelpers): SightlineError {
  const word = (firstWord.exec(sql)?.[1] ?? '').toUpperCase();
  const hint = instead[word] ?? 'The telemetry is read-only: send one SELECT.';
  const code = word === 'EXPLAIN' || word === 'PIVOT' || word === 'UNPIVOT' ? 'sql_refused' : 'sql_not_read_only';
  return helpers.refuse(
    code,
    `${word === '' ? 'This statement' : word.slice(0, 20)} is not available; only a SELECT is.`,
    { hint },
  );
}

/** The parser's own errors count code points from 0. */
function syntaxPosition(sql: string, position: Json | undefined): number | undefined {
  const points = typeof position === 'string' ? Number(position) : Number.NaN;
  if (!Number.isInteger(points) || points < 0) return undefined;
  return unitAt(sql, points) + 1;
}

/** The tree counts bytes from 0; people count characters from 1. */
function characterPosition(sql: string, location: Json | undefined): number | undefined {
  if (typeof location !== 'number' || !Number.isSafeInteger(location) || location < 0) return undefined;
  const before = Buffer.from(sql, 'utf8').subarray(0, location).toString('utf8');
  return before.length + 1;
}

import type { ParsedStatement, SightlineError, SqlHelpers, TableName } from '../../src/contract/index.ts';
import { Checker } from './gate/check.ts';
import { isList, isNode, parseTree, text, type Json } from './gate/tree.ts';

/** What `parse` hands to the core and gets back: the tree with the SQL it was read from. */
export class DuckdbStatement implements ParsedStatement {
  readonly sql: string;
  readonly tree: Json;

  constructor(sql: string, tree: Json) {
    this.sql = sql;
    this.tree = tree;
  }

  /** The statement's own tree: `{node, named_param_map}`. */
  get statement(): Json {
    return isNode(this.tree) && isList(this.tree['statements']) ? (this.tree['statements'][0] ?? null) : null;
  }
}

export const maxSqlBytes = 256 * 1024;
/** Of a tree's JSON: a third of it for as many trace ids as fit a statement. Bounds what the gateway spends on one. */
const maxTreeBytes = 1024 * 1024;

/** Refuses what must not even reach the parser. */
export function admit(sql: string, helpers: SqlHelpers): void {
  if (Buffer.byteLength(sql) > maxSqlBytes) {
    throw helpers.refuse('sql_too_large', `The statement is longer than ${maxSqlBytes / 1024} kB.`);
  }
  const nul = sql.indexOf('\0');
  if (nul >= 0) {
    throw helpers.refuse('sql_syntax', 'The statement contains a NUL character.', { position: nul + 1 });
  }
  if (!sql.isWellFormed()) throw helpers.refuse('sql_syntax', 'The statement is not well-formed Unicode.');
}

/** Reads json_serialize_sql's answer. Throws what is wrong with the statement. */
export function readStatement(sql: string, answer: Buffer, helpers: SqlHelpers): DuckdbStatement {
  if (answer.length > maxTreeBytes) {
    throw helpers.refuse('sql_refused', 'The statement is too large or nested too deeply.', {
      hint: 'Ask in several smaller statements.',
    });
  }
  const tree = parseTree(answer.toString('utf8'));
  if (!isNode(tree)) throw helpers.refuse('sql_syntax', 'The statement contains a NUL character.');
  if (tree['error'] === true) throw parseError(sql, text(tree['error_type']), tree['position'], helpers);
  const statements = isList(tree['statements']) ? tree['statements'] : [];
  if (statements.length === 0) throw helpers.refuse('sql_syntax', 'There is no statement.', { position: 1 });
  if (statements.length > 1) throw severalStatements(helpers);
  return new DuckdbStatement(sql, tree);
}

/** Telemetry tables of the statement. Throws for everything that is not allowed; `known` are tables beside them. */
export function checkStatement(
  statement: DuckdbStatement,
  helpers: SqlHelpers,
  known: readonly string[] = [],
): readonly TableName[] {
  const checker = new Checker(helpers, (location) => characterPosition(statement.sql, location));
  return checker.check(statement.statement, known);
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
  let at = 0;
  for (let point = 0; point < points && at < sql.length; point += 1) at += (sql.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at + 1;
}

/** The tree counts bytes from 0; people count characters from 1. */
function characterPosition(sql: string, location: Json | undefined): number | undefined {
  if (typeof location !== 'number' || !Number.isInteger(location) || location < 0) return undefined;
  const before = Buffer.from(sql, 'utf8').subarray(0, location).toString('utf8');
  return before.length + 1;
}

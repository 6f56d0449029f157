import type { SightlineError } from '../../../src/contract/core/index.ts';
import {
  isNode,
  list,
  statementTooLarge,
  unitAt,
  type Json,
  type SqlHelpers,
  type TableName,
} from '../../../src/contract/telemetry/index.ts';
import { admit, admitTokens } from './bounds.ts';
import { GrammarError, ParserLost, type Parser } from './parser.ts';
import { type Place, PostgresStatement } from './tree.ts';
import { canonical, type Token } from './tokens.ts';

/** Stands between what we wrote and the caller's statement, which has no comments. */
export const apartFrom = '/* statement */';

/** The canonical SQL with holes where telemetry tables stand. Writing it again is a concatenation. */
export class Template {
  readonly #pieces: readonly (string | { readonly table: TableName; readonly alias: string })[];

  /** `unlike`: what to throw where the text is not what the tree says, since a table's name must never be sent. */
  constructor(tokens: readonly Token[], places: readonly Place[], unlike: () => Error) {
    const at = new Map(places.map((place) => [place.location, place]));
    const missing = new Set(at.keys());
    const pieces: (string | { readonly table: TableName; readonly alias: string })[] = [];
    let text: string[] = [];
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index];
      if (token === undefined) break;
      const place = at.get(token.location);
      if (place === undefined) {
        text.push(token.sql);
        continue;
      }
      if (!isTable(tokens, index, place)) throw unlike();
      missing.delete(token.location);
      // `otel.spans.name` → `spans.name`: the subquery that stands for the table has no schema.
      if (place.kind === 'qualifier') {
        index += 1;
        continue;
      }
      index += 2;
      // `FROM otel.spans *` is the table with its descendants, as without the star.
      if (tokens[index + 1]?.sql === '*') index += 1;
      // TABLE takes a name, not a subquery.
      if (text.at(-1)?.toLowerCase() === 'table') text.splice(-1, 1, 'SELECT', '*', 'FROM');
      pieces.push(text.join(' '), { table: place.table, alias: place.aliased ? '' : ` AS ${place.table}` });
      text = [];
    }
    if (missing.size > 0) throw unlike();
    this.#pieces = text.length === 0 ? pieces : [...pieces, text.join(' ')];
  }

  write(relation: (table: TableName) => string): string {
    return this.#pieces
      .map((piece) => (typeof piece === 'string' ? piece : `${relation(piece.table)}${piece.alias}`))
      .join(' ');
  }

  /**
   * The same with each relation in a WITH before the whole statement, where no name of the caller's is seen: beneath a
   * subquery of its own, a column that the table lacks would be found there.
   * @param withs whether the statement as a whole has a WITH already.
   */
  writeApart(relation: (table: TableName) => string, withs: boolean): string {
    const tables = new Set<TableName>();
    // The gate lets no WITH query of the caller's bear such a name.
    const text = this.write((table) => {
      tables.add(table);
      return `otel_${table}`;
    });
    if (tables.size === 0) return text;
    const list = [...tables].map((table) => `otel_${table} AS NOT MATERIALIZED ${relation(table)}`);
    // Not a text to replace with: it may hold a $.
    return withs
      ? text.replace(/^[( ]*WITH(?: RECURSIVE)? /i, (head) => `${head}${list.join(', ')}, ${apartFrom} `)
      : `WITH ${list.join(', ')} ${apartFrom} (${text})`;
  }
}

/** Whether `otel.<table>` begins here, written plainly: not as U&"\006ftel". */
function isTable(tokens: readonly Token[], index: number, { table }: Place): boolean {
  const [schema, dot, name] = tokens.slice(index, index + 3).map(({ sql }) => sql);
  const plain = (written = '') => (written.startsWith('"') ? written.slice(1, -1) : written.toLowerCase());
  return plain(schema) === 'otel' && dot === '.' && plain(name) === table;
}

/** Throws sql_too_large, sql_syntax, sql_multiple_statements, or sql_refused where a statement is too much to read. */
export async function readStatement(sql: string, parser: Parser, helpers: SqlHelpers): Promise<PostgresStatement> {
  admit(sql, helpers);
  const nothing = () => helpers.refuse('sql_syntax', 'There is no statement.', { position: 1 });
  if (sql.trim() === '') throw nothing();
  try {
    const scanned = await parser.scan(sql);
    if (scanned === undefined) throw await complaint(sql, parser, helpers);
    const tokens = canonical(sql, scanned);
    if (tokens.length === 0) throw nothing();
    admitTokens(tokens);
    const statements = await parsed(sql, tokens, parser, helpers);
    const [statement, another] = statements;
    if (another !== undefined) {
      throw helpers.refuse('sql_multiple_statements', 'Only one statement can be run at a time.', {
        hint: 'Send the statements one by one.',
      });
    }
    const tree = isNode(statement) ? statement['stmt'] : undefined;
    if (!isNode(tree)) throw nothing();
    return new PostgresStatement(tokens, tree);
  } catch (error) {
    if (error instanceof ParserLost) throw statementTooLarge();
    throw error;
  }
}

async function parsed(
  sql: string,
  tokens: readonly Token[],
  parser: Parser,
  helpers: SqlHelpers,
): Promise<readonly Json[]> {
  const text = tokens.map((token) => token.sql).join(' ');
  try {
    const result = await parser.parse(text);
    return isNode(result) ? list(result['stmts']) : [];
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    const location = Buffer.byteLength(text.slice(0, unitAt(text, error.position)));
    const token = tokens.findLast((candidate) => candidate.location <= location);
    const ended = location >= Buffer.byteLength(text) || token === undefined;
    throw syntaxError(sql, ended ? sql.trimEnd().length : token.origin, helpers, error);
  }
}

/** What the scanner could not read: text that never ends, an empty name, letters behind a number. */
async function complaint(sql: string, parser: Parser, helpers: SqlHelpers): Promise<SightlineError> {
  try {
    await parser.parse(sql);
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    return syntaxError(sql, unitAt(sql, error.position), helpers, error);
  }
  return helpers.refuse('sql_syntax', 'The statement cannot be read.');
}

function syntaxError(sql: string, at: number, helpers: SqlHelpers, cause: GrammarError): SightlineError {
  const near = /^\S{1,30}/.exec(sql.slice(at))?.[0];
  return helpers.refuse(
    'sql_syntax',
    near === undefined ? 'Syntax error at the end of the statement.' : `Syntax error at or near "${near}".`,
    { hint: habit(sql) ?? 'The dialect is PostgreSQL.', position: at + 1, cause },
  );
}

/** What other dialects have and this grammar does not know. */
const habits: readonly (readonly [RegExp, string])[] = [
  [/`/, 'Names are quoted with "double quotes" in PostgreSQL.'],
  [/\bQUALIFY\b/i, 'PostgreSQL has no QUALIFY: number the rows in a subquery and filter outside.'],
  [/\bGROUP\s+BY\s+ALL\b/i, 'PostgreSQL has no GROUP BY ALL: name the columns, or write GROUP BY 1, 2.'],
  [/\*\s*(?:EXCLUDE|EXCEPT|REPLACE)\s*\(/i, 'PostgreSQL has no SELECT * EXCLUDE: name the columns.'],
  [/\binterval\s+\d/i, "Write intervals as text: INTERVAL '5 minutes'."],
  [/\b(?:ASOF|SEMI|ANTI)\s+JOIN\b/i, 'Use EXISTS, NOT EXISTS or a LATERAL subquery.'],
  [/\bTRY_CAST\b/i, "Test the text first: CASE WHEN x ~ '^[0-9]+$' THEN x::int END."],
  [/\bPREWHERE\b|\bARRAY\s+JOIN\b/i, 'The dialect is PostgreSQL: use WHERE, and unnest(…) or jsonb_each(…) in FROM.'],
];

function habit(sql: string): string | undefined {
  return habits.find(([pattern]) => pattern.test(sql))?.[1];
}

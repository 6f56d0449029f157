import { byNames } from '../../../contract/telemetry/index.ts';
import { isName, operandStart, textOf, write, type Cure, type Statement, type Token } from './tokens.ts';

export function backticks(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  const { name } = statement.dialect;
  if (token?.kind !== 'backticked' || token.text === '' || name === 'bigquery' || name === 'clickhouse')
    return undefined;
  const bare = /^[a-z_][a-z0-9_.]*$/i.test(token.text) ? token.text : `"${token.text.replaceAll('"', '""')}"`;
  return write(statement, token, token, bare, 'Backticks quote nothing here. ');
}

const regularSigns: ReadonlySet<string> = new Set(['~', '~*', '!~', '!~*', 'rlike', 'regexp', 'similar']);

/** `name ~* 'x'`, `name RLIKE 'x'`. */
export function regularExpression(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { dialect } = statement;
  const token = tokens[at];
  const isNegated = tokens[at - 1]?.text === 'not' || token?.text.startsWith('!') === true;
  const last = tokens[at - 1]?.text === 'not' ? at - 2 : at - 1;
  const operand = tokens[last];
  if (token === undefined || operand === undefined || !regularSigns.has(token.text)) return undefined;
  // What is written so here; of DuckDB's ~ a caution says that it takes the whole text.
  if (dialect.name === 'postgres' && (token.kind === 'sign' || token.text === 'similar')) return undefined;
  if (dialect.name === 'duckdb' && /^(!?~|similar)$/.test(token.text)) return undefined;
  if (token.kind !== 'sign' && token.kind !== 'word') return undefined;
  const end = tokens[at + 1]?.text === 'to' ? at + 2 : at + 1;
  const pattern = tokens[end];
  const first = tokens[operandStart(tokens, last) ?? -1];
  if (pattern?.kind !== 'string' || first === undefined) return undefined;
  const column = textOf(statement, first, operand);
  const matches = dialect.write.matches(column, `${token.text.endsWith('*') ? '(?i)' : ''}${pattern.text}`);
  return write(statement, first, pattern, isNegated ? `NOT ${matches}` : matches);
}

/** The first token of a name that ends here. */
function subjectOf(tokens: readonly Token[], last: number): Token | undefined {
  return tokens[tokens[last - 1]?.text === '.' ? last - 2 : last];
}

/** `body CONTAINS 'a'`. */
export function containsWord(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [operand, token, part] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (operand === undefined || !isName(operand) || token?.text !== 'contains' || part?.kind !== 'string')
    return undefined;
  if (/[%_\\]/.test(part.text)) return undefined;
  const first = subjectOf(tokens, at - 1);
  const column = textOf(statement, first, operand);
  return write(statement, first, part, `${column} LIKE ${statement.dialect.write.literal(`%${part.text}%`)}`);
}

/** `= "ERROR"`, where double quotes name a column. */
export function doubleQuotedText(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, text, after] = [tokens[at], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (column === undefined || !isName(column) || text?.kind !== 'quoted' || after?.text === '.') return undefined;
  const { tables } = statement.dialect;
  if (tables.some(({ columns }) => columns.some(({ name }) => name === text.text))) return undefined;
  if (!['=', '==', '<>', '!=', 'like', 'ilike'].includes(sign?.text ?? '')) return undefined;
  return write(statement, text, text, `'${text.text.replaceAll("'", "''")}'`, 'A text stands in single quotes. ');
}

/** `name ILIKE '%get%'`, which BigQuery lacks. */
export function caselessLike(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const pattern = tokens[at + 1];
  if (statement.dialect.name !== 'bigquery' || tokens[at]?.text !== 'ilike' || pattern?.kind !== 'string')
    return undefined;
  const last = tokens[at - 1]?.text === 'not' ? at - 2 : at - 1;
  const [operand, not] = [tokens[last], last === at - 2 ? 'NOT ' : ''];
  if (operand === undefined || !isName(operand)) return undefined;
  const first = subjectOf(tokens, last);
  const folded = statement.dialect.write.literal(pattern.text.toLowerCase());
  return write(statement, first, pattern, `LOWER(${textOf(statement, first, operand)}) ${not}LIKE ${folded}`);
}

const typesOfBigquery = byNames([
  ['FLOAT64', 'float double real'],
  ['STRING', 'varchar text char'],
]);

/** `CAST(x AS FLOAT)`. */
export function castType(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [as, type, precision] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  const meant =
    as?.text === 'as' && statement.dialect.name === 'bigquery' ? typesOfBigquery[type?.text ?? ''] : undefined;
  const last = precision?.text === 'precision' ? tokens[at + 3] : precision;
  if (meant === undefined || last?.text !== ')') return undefined;
  return write(statement, type, precision?.text === 'precision' ? precision : type, meant);
}

import type { ColumnType } from '../../src/contract/telemetry/index.ts';

/** GoogleSQL's type for each logical one. */
export const columnTypes: Readonly<Record<ColumnType, string>> = {
  timestamp: 'TIMESTAMP',
  string: 'STRING',
  int64: 'INT64',
  float64: 'FLOAT64',
  boolean: 'BOOL',
  map: 'JSON',
  'int64[]': 'ARRAY<INT64>',
  'float64[]': 'ARRAY<FLOAT64>',
  events: 'ARRAY<STRUCT<time TIMESTAMP, name STRING, attributes JSON>>',
  links: 'ARRAY<STRUCT<trace_id STRING, span_id STRING, trace_state STRING, attributes JSON>>',
  exemplars: 'ARRAY<STRUCT<time TIMESTAMP, value FLOAT64, trace_id STRING, span_id STRING, filtered_attributes JSON>>',
  quantiles: 'ARRAY<STRUCT<quantile FLOAT64, value FLOAT64>>',
};

/** A string of GoogleSQL in single quotes. Whatever is not plain is written as an escape. */
export function textLiteral(value: string): string {
  const escaped = value
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    // A control character may end a line, and so the literal.
    .replace(/[\p{Cc}\u2028\u2029]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `'${escaped}'`;
}

export function timestampLiteral(time: Date): string {
  return `TIMESTAMP '${time.toISOString().replace('T', ' ').replace('Z', '+00')}'`;
}

/** A name, or a path of names each of its own. */
export function identifier(name: string): string {
  return name
    .split('.')
    .map((part) => `\`${part.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``)
    .join('.');
}

/** A table's whole path in one pair of quotes, as projects with a dash need it. */
export function tablePath(path: string): string {
  return `\`${path.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

/** How a warehouse keeps `http.route`: under that one key, or as `route` in an object `http`. */
export type KeyStyle = 'flat' | 'nested';

/** The JSONPath of an attribute's key; undefined for a key that a path in quotes cannot name. */
export function keyPath(key: string, style: KeyStyle): string | undefined {
  if (style === 'nested') {
    const parts = key.split('.');
    return parts.every((part) => /^[\w-]+$/.test(part)) ? `$${parts.map((part) => `."${part}"`).join('')}` : undefined;
  }
  return /["\\\p{Cc}]/u.test(key) ? undefined : `$."${key}"`;
}

/** The text of an attribute, NULL where it is not there. */
export function attributeText(map: string, key: string, style: KeyStyle): string {
  const path = keyPath(key, style);
  return path === undefined ? `LAX_STRING(${map}[${textLiteral(key)}])` : `JSON_VALUE(${map}, ${textLiteral(path)})`;
}

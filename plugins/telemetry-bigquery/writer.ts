import {
  itemFields,
  type AttributeRule,
  type AttributeRules,
  type ColumnType,
  type LogicalColumn,
  type RelationWriter,
} from '../../src/contract/telemetry/index.ts';
import { identifier, textLiteral, timestampLiteral, columnTypes } from './literals.ts';
import { named } from './tenant.ts';

/** An expression, and the physical columns that it reads. */
export type Wanted = readonly [expression: string, ...reads: string[]];

/** Those whose columns are all there; the others are served as empties. */
export function present(
  wanted: Readonly<Record<string, Wanted>>,
  there: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([, [, ...reads]]) => reads.every((column) => there.has(column)))
      .map(([name, [expression]]) => [name, expression]),
  );
}

export const text = (column: string): Wanted => [`IFNULL(${column}, '')`, column];
export const json = (column: string): Wanted => [`IFNULL(${column}, JSON '{}')`, column];
export const plain = (column: string): Wanted => [`\`${column}\``, column];

/**
 * What stands beneath a telemetry table. BigQuery promises no order between predicates of one query, so where the
 * predicate on the tenant is all there is (`guarded`), every column is NULL in rows of others: whatever of the caller's
 * is evaluated first has nothing to fail on.
 */
export function relationWriter({ guarded }: { readonly guarded: boolean }): RelationWriter {
  const filter: RelationWriter['filter'] = (tenant, others) => {
    const all = [...(tenant === undefined ? [] : [`(${tenant})`]), ...others];
    return all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
  };
  return {
    identifier,
    timestamp: timestampLiteral,
    empty,
    text: (expression, action, salt) => (action === 'mask' ? "'***'" : hashed(expression, salt)),
    attributes(expression, type, rules) {
      if (type === 'map') return ruledAttributes(expression, rules);
      const { others, attributes } = itemFields[type];
      const kept = others.map((name) => `entry.${name} AS ${name}`).join(', ');
      return (
        `ARRAY(SELECT AS STRUCT ${kept}, ${ruledAttributes(`entry.${attributes}`, rules)} AS ${attributes} ` +
        `FROM UNNEST(${expression}) AS entry WITH OFFSET AS position ORDER BY position)`
      );
    },
    filter,
    select(columns, from, predicate, others) {
      const tenant = predicate && named(predicate, from);
      const list = columns.map(([name, expression]) => {
        const read = guarded && tenant !== undefined ? `IF((${tenant}), ${expression}, NULL)` : expression;
        return `${read} AS ${identifier(name)}`;
      });
      const where = filter(tenant, others);
      return `SELECT ${list.join(', ')} FROM ${from}${where === '' ? '' : ` ${where}`}`;
    },
  };
}

const emptyScalars: Partial<Readonly<Record<ColumnType, string>>> = {
  timestamp: "TIMESTAMP '1970-01-01 00:00:00+00'",
  string: "''",
  int64: '0',
  float64: 'CAST(0 AS FLOAT64)',
  boolean: 'FALSE',
  map: "JSON '{}'",
};

function empty({ type, nullable }: Pick<LogicalColumn, 'type' | 'nullable'>): string {
  if (nullable) return `CAST(NULL AS ${columnTypes[type]})`;
  return emptyScalars[type] ?? `CAST([] AS ${columnTypes[type]})`;
}

function hashed(expression: string, salt: string): string {
  const digest = `SUBSTR(TO_HEX(SHA256(CONCAT(${textLiteral(salt)}, ${expression}))), 1, 16)`;
  return `IF(${expression} = '', '', ${digest})`;
}

/**
 * Rebuilds the object key by key. A rule on `user.email` also holds for an object or a list `user`, in which a nested layout
 * keeps it: too much is held back there rather than too little.
 */
function ruledAttributes(map: string, { salt, attributes }: AttributeRules): string {
  const rule = attributes.map((one) => `WHEN ${ruleFits(one)} THEN '${one.action}'`).join(' ');
  // A key that is no plain word may come in double quotes.
  const keys =
    `SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key ` +
    `FROM UNNEST(JSON_KEYS(${map}, 1)) AS rule_raw`;
  const entries = `SELECT rule_key, ${map}[rule_key] AS rule_value FROM (${keys})`;
  const text = `IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), ''))`;
  const texts = `SELECT rule_key, rule_value, ${text} AS rule_text FROM (${entries})`;
  const judged = `SELECT rule_key, rule_value, rule_text, CASE ${rule} ELSE 'keep' END AS rule FROM (${texts})`;
  const written = `CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(${hashed('rule_text', salt)}) ELSE rule_value END`;
  const list = (value: string, type: string) =>
    `IFNULL(ARRAY_AGG(${value} ORDER BY rule_key), CAST([] AS ARRAY<${type}>))`;
  return `(SELECT JSON_OBJECT(${list('rule_key', 'STRING')}, ${list(written, 'JSON')}) FROM (${judged}) WHERE rule != 'deny')`;
}

function ruleFits({ key, prefix }: AttributeRule): string {
  const wanted = textLiteral(key);
  const own = prefix ? `STARTS_WITH(rule_key, ${wanted})` : `rule_key = ${wanted}`;
  const within = `LEFT(rule_text, 1) IN ('{', '[')`;
  return `${own} OR (${within} AND STARTS_WITH(${wanted}, CONCAT(rule_key, '.')))`;
}

import type { AttributeRule, AttributeRules, LogicalColumn, RelationWriter } from '../../src/contract/index.ts';
import { identifier, textLiteral, timestampLiteral } from './literals.ts';
import { columnTypes } from './types.ts';

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
    text: maskedText,
    attributes(expression, type, rules) {
      if (type === 'map') return ruledAttributes(expression, rules);
      const own = type === 'events' ? ['time', 'name'] : ['trace_id', 'span_id', 'trace_state'];
      const kept = own.map((name) => `entry.${name} AS ${name}`).join(', ');
      return (
        `ARRAY(SELECT AS STRUCT ${kept}, ${ruledAttributes('entry.attributes', rules)} AS attributes ` +
        `FROM UNNEST(${expression}) AS entry WITH OFFSET AS position ORDER BY position)`
      );
    },
    filter,
    select(columns, from, tenant, others) {
      const list = columns.map(([name, expression]) => {
        const read = guarded && tenant !== undefined ? `IF((${tenant}), ${expression}, NULL)` : expression;
        return `${read} AS ${identifier(name)}`;
      });
      const where = filter(tenant, others);
      return `SELECT ${list.join(', ')} FROM ${from}${where === '' ? '' : ` ${where}`}`;
    },
  };
}

function empty({ type, nullable }: Pick<LogicalColumn, 'type' | 'nullable'>): string {
  const name = columnTypes[type];
  if (nullable) return `CAST(NULL AS ${name})`;
  switch (type) {
    case 'timestamp':
      return "TIMESTAMP '1970-01-01 00:00:00+00'";
    case 'string':
      return "''";
    case 'int64':
      return '0';
    case 'float64':
      return 'CAST(0 AS FLOAT64)';
    case 'boolean':
      return 'FALSE';
    case 'map':
      return "JSON '{}'";
    case 'int64[]':
    case 'float64[]':
    case 'events':
    case 'links':
    case 'quantiles':
      return `CAST([] AS ${name})`;
  }
}

function maskedText(expression: string, action: 'mask' | 'hash', salt: string): string {
  return action === 'mask' ? "'***'" : hashed(expression, salt);
}

function hashed(expression: string, salt: string): string {
  const digest = `SUBSTR(TO_HEX(SHA256(CONCAT(${textLiteral(salt)}, ${expression}))), 1, 16)`;
  return `IF(${expression} = '', '', ${digest})`;
}

/**
 * The object written anew, key by key. A rule on `user.email` also holds for an object `user`, in which a nested layout
 * keeps it: too much is held back there rather than too little.
 */
function ruledAttributes(map: string, { salt, attributes }: AttributeRules): string {
  const value = `${map}[key]`;
  const text = `IFNULL(IF(JSON_TYPE(${value}) = 'string', LAX_STRING(${value}), TO_JSON_STRING(${value})), '')`;
  const denied: string[] = [];
  const written: string[] = [];
  for (const rule of attributes) {
    const fits = ruleFits(rule, value);
    denied.push(`WHEN ${fits} THEN ${rule.action === 'deny' ? 'TRUE' : 'FALSE'}`);
    if (rule.action === 'mask') written.push(`WHEN ${fits} THEN JSON '"***"'`);
    if (rule.action === 'hash') written.push(`WHEN ${fits} THEN TO_JSON(${hashed(text, salt)})`);
  }
  // A key that is no plain word may come in double quotes.
  const keys =
    `UNNEST(ARRAY(SELECT IF(STARTS_WITH(raw, '"'), SUBSTR(raw, 2, LENGTH(raw) - 2), raw) ` +
    `FROM UNNEST(IFNULL(JSON_KEYS(${map}, 1), CAST([] AS ARRAY<STRING>))) AS raw)) AS key`;
  const kept = `FROM ${keys} WHERE NOT (CASE ${denied.join(' ')} ELSE FALSE END) ORDER BY key`;
  const cell = written.length === 0 ? value : `CASE ${written.join(' ')} ELSE ${value} END`;
  return `JSON_OBJECT(ARRAY(SELECT key ${kept}), ARRAY(SELECT ${cell} ${kept}))`;
}

function ruleFits({ key, prefix }: AttributeRule, value: string): string {
  const wanted = textLiteral(key);
  const own = prefix ? `STARTS_WITH(key, ${wanted})` : `key = ${wanted}`;
  return `(${own} OR (JSON_TYPE(${value}) = 'object' AND STARTS_WITH(${wanted}, CONCAT(key, '.'))))`;
}

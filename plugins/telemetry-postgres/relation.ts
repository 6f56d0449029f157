import {
  itemFields,
  type AttributeRules,
  type AttributesType,
  type ColumnType,
  type MappingHelpers,
  type RelationWriter,
  type ResolvedMapping,
  type StatementBinding,
  type TableName,
  type TableSource,
} from '../../src/contract/telemetry/index.ts';
import { quoteName, quoteText, timestampLiteral } from './types.ts';

/** How a logical type is declared, and what a column of it is where the warehouse has none. */
const types: Readonly<Record<ColumnType, readonly [name: string, empty: string]>> = {
  timestamp: ['timestamptz', "'epoch'"],
  string: ['text', "''"],
  int64: ['bigint', '0'],
  float64: ['double precision', '0'],
  boolean: ['boolean', 'false'],
  map: ['jsonb', "'{}'"],
  'int64[]': ['bigint[]', "'{}'"],
  'float64[]': ['double precision[]', "'{}'"],
  events: ['jsonb', "'[]'"],
  links: ['jsonb', "'[]'"],
  exemplars: ['jsonb', "'[]'"],
  quantiles: ['jsonb', "'[]'"],
};

export function typeName(type: ColumnType): string {
  return types[type][0];
}

export const writer: RelationWriter = {
  identifier: quoteName,
  timestamp: timestampLiteral,
  empty({ type, nullable }) {
    const [name, empty] = types[type];
    return `${nullable ? 'NULL' : empty}::${name}`;
  },
  text: maskedText,
  attributes: ruled,
  filter(tenant, others) {
    const all = tenant === undefined ? others : [tenant, ...others];
    const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
    // The planner never moves a condition of the caller's below an OFFSET, so none sees a row of another tenant.
    return tenant === undefined ? where : `${where} OFFSET 0`;
  },
};

/**
 * `(SELECT … UNION ALL SELECT …)` over the sources of one table, each with its own predicate: what tells tenants apart may
 * lie in an expression of the source.
 */
export function relationOf(
  mapping: MappingHelpers,
  resolved: ResolvedMapping,
  table: TableName,
  binding: StatementBinding,
  tenant: (source: TableSource) => string | undefined,
  how: RelationWriter = writer,
): string {
  const sources = resolved.tables[table];
  if (sources === undefined) return mapping.relation(resolved, table, { binding, tenant: undefined }, how);
  const parts = sources.map((source) =>
    mapping.relation({ ...resolved, tables: { [table]: [source] } }, table, { binding, tenant: tenant(source) }, how),
  );
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : `(${parts.join(' UNION ALL ')})`;
}

function hashed(text: string, salt: string): string {
  const digest = `left(encode(sha256(convert_to(${quoteText(salt)} || ${text}, 'UTF8')), 'hex'), 16)`;
  return `CASE WHEN ${text} = '' THEN '' ELSE ${digest} END`;
}

function maskedText(expression: string, action: 'mask' | 'hash', salt: string): string {
  return action === 'mask' ? "'***'::text" : hashed(`(${expression})::text`, salt);
}

function ruled(expression: string, type: AttributesType, rules: AttributeRules): string {
  if (type === 'map') return ruledMap(`(${expression})`, rules);
  // A list of what is not a list, or of what has no attributes, shows nothing rather than all.
  const key = quoteText(itemFields[type].attributes);
  const entry = `e.entry || jsonb_build_object(${key}, ${ruledMap(`(e.entry -> ${key})`, rules)})`;
  const list = `(SELECT coalesce(jsonb_agg(${entry} ORDER BY e.at), '[]'::jsonb) FROM jsonb_array_elements(${expression}) WITH ORDINALITY AS e(entry, at) WHERE jsonb_typeof(e.entry) = 'object')`;
  return `CASE WHEN jsonb_typeof(${expression}) = 'array' THEN ${list} ELSE '[]'::jsonb END`;
}

/** The first rule that fits a key decides. */
function ruledMap(map: string, { attributes, salt }: AttributeRules): string {
  const rules = attributes.map(({ key, prefix, action }) => {
    const own = prefix ? `starts_with(a.key, ${quoteText(key)})` : `a.key = ${quoteText(key)}`;
    const within = `starts_with(${quoteText(key)}, a.key || '.') AND left(a.value #>> '{}', 1) IN ('{', '[')`;
    return { fits: `${own} OR (${within})`, action };
  });
  const changed = {
    deny: 'NULL',
    mask: "to_jsonb('***'::text)",
    hash: `to_jsonb(${hashed("(a.value #>> '{}')", salt)})`,
  };
  const value = `CASE ${rules.map(({ fits, action }) => `WHEN ${fits} THEN ${changed[action]}`).join(' ')} ELSE a.value END`;
  const kept = `CASE ${rules.map(({ fits, action }) => `WHEN ${fits} THEN ${action !== 'deny'}`).join(' ')} ELSE true END`;
  const entries = `(SELECT coalesce(jsonb_object_agg(a.key, ${value}), '{}'::jsonb) FROM jsonb_each(${map}) AS a(key, value) WHERE ${kept})`;
  return `CASE WHEN jsonb_typeof(${map}) = 'object' THEN ${entries} ELSE '{}'::jsonb END`;
}

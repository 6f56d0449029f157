import {
  otelTables,
  type AttributeRules,
  type LogicalColumn,
  type RelationWriter,
  type ResolvedMapping,
  type TableSource,
} from '../../src/contract/telemetry/index.ts';
import { dialect } from './dialect.ts';
import { storedType } from './engine/schema.ts';

const literal = (value: string | Date) => dialect.write.literal(value);

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The file holds the logical tables as they are. */
export const ownTables: ResolvedMapping = {
  preset: undefined,
  tables: { spans: [source('spans')], metrics: [source('metrics')], logs: [source('logs')] },
  empties: [],
};

function source(table: keyof typeof otelTables): TableSource {
  const columns = otelTables[table].columns.map(({ name }) => [name, `stored.${identifier(name)}`] as const);
  return { from: `otel.${table} AS stored`, columns: Object.fromEntries(columns) };
}

/** How DuckDB writes what stands beneath a telemetry table. An organization's file is its boundary, so there is no tenant. */
export const relationWriter: RelationWriter = {
  identifier,
  timestamp: literal,
  empty,
  text: (expression, action, salt) => (action === 'mask' ? `'***'` : hashed(expression, salt)),
  attributes(expression, type, rules) {
    if (type === 'map') return governed(expression, rules);
    const fields = type === 'events' ? ['time', 'name'] : ['trace_id', 'span_id', 'trace_state'];
    const kept = fields.map((field) => `${literal(field)}: item.${identifier(field)}`).join(', ');
    return `list_transform(${expression}, lambda item: {${kept}, 'attributes': ${governed('item.attributes', rules)}})`;
  },
  filter: (_tenant, others) => (others.length === 0 ? '' : `WHERE ${others.join(' AND ')}`),
};

/** A map without what is denied, and with the rest as the rules leave it. */
function governed(map: string, { attributes, salt }: AttributeRules): string {
  const choose = (outcome: (action: 'deny' | 'mask' | 'hash') => string, otherwise: string) => {
    const cases = attributes.map(({ key, prefix, action }) => {
      const fits = prefix ? `starts_with(entry.key, ${literal(key)})` : `entry.key = ${literal(key)}`;
      return `WHEN ${fits} THEN ${outcome(action)}`;
    });
    return `CASE ${cases.join(' ')} ELSE ${otherwise} END`;
  };
  const kept = choose((action) => String(action !== 'deny'), 'true');
  const value = choose((action) => (action === 'hash' ? hashed('entry.value', salt) : `'***'`), 'entry.value');
  const entries = `list_filter(map_entries(${map}), lambda entry: ${kept})`;
  return `map_from_entries(list_transform(${entries}, lambda entry: {'key': entry.key, 'value': ${value}}))`;
}

function hashed(expression: string, salt: string): string {
  return `CASE WHEN ${expression} = '' THEN '' ELSE left(sha256(${literal(salt)} || ${expression}), 16) END`;
}

function empty({ type, nullable }: LogicalColumn): string {
  return `CAST(${nullable ? 'NULL' : emptyValue[type]} AS ${storedType[type]})`;
}

const emptyValue = {
  timestamp: "'1970-01-01 00:00:00'",
  string: "''",
  int64: '0',
  float64: '0',
  boolean: 'false',
  map: 'MAP {}',
  'int64[]': '[]',
  'float64[]': '[]',
  events: '[]',
  links: '[]',
  quantiles: '[]',
} as const satisfies Record<LogicalColumn['type'], string>;

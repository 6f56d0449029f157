import { createRequire } from 'node:module';
import {
  examplesOf,
  itemFields,
  otelTables,
  ownColumn,
  type ColumnType,
  type Dialect,
  type DialectWriter,
  type AttributeRules,
  type LogicalColumn,
  type RelationWriter,
  type ResolvedMapping,
  type TableSource,
} from '../../src/contract/telemetry/index.ts';
import { emptyValue, storedType } from './engine/schema.ts';
import { functionNames } from './gate/functions.ts';

const literal = (value: string | Date) => dialect.write.literal(value);

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The file holds the logical tables as they are. */
export const ownTables: ResolvedMapping = {
  preset: undefined,
  tables: { spans: [source('spans')], metrics: [source('metrics')], logs: [source('logs')] },
  empties: [],
};

function source(table: keyof typeof otelTables): TableSource {
  const columns = otelTables[table].columns.map(
    ({ name }) => [name, ownColumn(name, (stored) => `stored.${identifier(stored)}`)] as const,
  );
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
    const { others, attributes } = itemFields[type];
    const kept = others.map((field) => `${literal(field)}: item.${identifier(field)}`).join(', ');
    const ruled = governed(`item.${attributes}`, rules);
    return `list_transform(${expression}, lambda item: {${kept}, ${literal(attributes)}: ${ruled}})`;
  },
  filter: (_tenant, others) => (others.length === 0 ? '' : `WHERE ${others.join(' AND ')}`),
};

/** A map without what is denied, and with the rest as the rules leave it. */
function governed(map: string, { attributes, salt }: AttributeRules): string {
  const choose = (outcome: (action: 'deny' | 'mask' | 'hash') => string, otherwise: string) => {
    const cases = attributes.map(({ key, prefix, action }) => {
      const own = prefix ? `starts_with(entry.key, ${literal(key)})` : `entry.key = ${literal(key)}`;
      const within = `starts_with(${literal(key)}, entry.key || '.') AND left(entry.value, 1) IN ('{', '[')`;
      return `WHEN ${own} OR (${within}) THEN ${outcome(action)}`;
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

const write: DialectWriter = {
  literal(value) {
    if (value instanceof Date) return `TIMESTAMP '${value.toISOString().replace('T', ' ').replace('Z', '')}'`;
    if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    return Number.isFinite(value) ? String(value) : `'${value}'::DOUBLE`;
  },
  attribute: (map, key) => `${map}[${write.literal(key)}]`,
  bucket: (time, seconds) => `time_bucket(INTERVAL '${seconds} seconds', ${time})`,
  quantile: (expression, fraction) => `quantile_cont(${expression}, ${fraction})`,
  countIf: (condition) => `count(*) FILTER (WHERE ${condition})`,
  ratio: (a, b) => `(CAST(${a} AS DOUBLE) / nullif(CAST(${b} AS DOUBLE), 0))`,
  replaceRegexp: (text, pattern, replacement) =>
    `regexp_replace(${text}, ${write.literal(pattern)}, ${write.literal(replacement)}, 'g')`,
  matches: (text, pattern) => `regexp_matches(${text}, ${write.literal(pattern)})`,
  number: (text) => `TRY_CAST(${text} AS DOUBLE)`,
  ago: (count, unit) => `now() - INTERVAL '${count} ${unit}'`,
  unnestMap: (map, alias) =>
    `(SELECT entry.key AS "key", entry.value AS "value" FROM (SELECT unnest(map_entries(${map})) AS entry)) AS ${alias}("key", "value")`,
  timeText: (time, pattern) => `strftime(${time}, ${write.literal(pattern)})`,
  epochSeconds: (time) => `epoch(${time})`,
  valueAt: (value, by, which) => `arg_${which}(${value}, ${by})`,
  anyValue: (expression) => `any_value(${expression})`,
  joined: (expression, separator) => `string_agg(${expression}, ${write.literal(separator)})`,
  distinctArray: (expression) => `list(DISTINCT ${expression})`,
  exception: (events) =>
    `list_transform(list_filter(${events}, lambda e: e.name = 'exception'), lambda e: ` +
    `concat_ws(': ', ${write.attribute('e.attributes', 'exception.type')}, ${write.attribute('e.attributes', 'exception.message')}))[1]`,
};

const examples = examplesOf({
  'Error rate and p95 latency by service over the last hour': `SELECT service_name, count(*) AS spans, count(*) FILTER (WHERE status_code = 'ERROR') / count(*) AS error_rate, quantile_cont(duration_nano, 0.95) / 1e6 AS p95_ms FROM otel.spans WHERE time > now() - INTERVAL '1 hour' AND kind = 'SERVER' GROUP BY ALL ORDER BY error_rate DESC`,
  'Requests per five minutes by route': `SELECT time_bucket(INTERVAL '5 minutes', time) AS bucket, attributes['http.route'] AS route, count(*) AS requests FROM otel.spans WHERE time > now() - INTERVAL '6 hours' AND kind = 'SERVER' GROUP BY ALL ORDER BY bucket, requests DESC`,
  'The slowest spans': `SELECT time, service_name, name, duration_nano / 1e6 AS ms, trace_id FROM otel.spans WHERE time > now() - INTERVAL '1 hour' ORDER BY duration_nano DESC LIMIT 20`,
  'Error logs with their trace': `SELECT time, service_name, body, trace_id FROM otel.logs WHERE severity_number >= 17 AND time > now() - INTERVAL '1 hour' ORDER BY time DESC LIMIT 50`,
  'Most common log patterns': `SELECT service_name, regexp_replace(body, '[0-9a-f]{8,}|\\d+', '#', 'g') AS pattern, count(*) AS n FROM otel.logs WHERE time > now() - INTERVAL '1 hour' GROUP BY ALL ORDER BY n DESC LIMIT 20`,
  'A gauge per service and minute': `SELECT date_trunc('minute', time) AS minute, service_name, avg(value) AS value FROM otel.metrics WHERE name = 'process.cpu.utilization' AND time > now() - INTERVAL '1 hour' GROUP BY ALL ORDER BY minute`,
});

export const dialect: Dialect = {
  name: 'duckdb',
  version: engineVersion(),
  tables: Object.values(otelTables),
  typeName: (type: ColumnType) => storedType[type],
  attributeHint:
    "attributes['http.route'] (VARCHAR, NULL if absent); numbers: TRY_CAST(attributes['http.response.status_code'] AS INTEGER)",
  examples,
  functions: functionNames,
  write,
};

/** From the package, since the engine itself is never loaded in the gateway: `1.5.5-r.5` is DuckDB 1.5.5. */
function engineVersion(): string {
  const found: { readonly version?: unknown } = createRequire(import.meta.url)('@duckdb/node-api/package.json');
  return typeof found.version === 'string' ? (found.version.split('-', 1)[0] ?? '') : '';
}

import {
  sourcesOf,
  type MappingPreset,
  type PhysicalColumns,
  type TableSource,
} from '../../../src/contract/telemetry/index.ts';
import { quoteName } from '../types.ts';

/**
 * The unofficial Collector exporter for PostgreSQL: quoted PascalCase, jsonb attributes, times without a zone, in UTC. Its
 * metrics have a table for each name, and values of attributes without their keys; its events and links are lists of text.
 * None of the three can be read as OTLP means it.
 */
export const exporterPreset: MappingPreset = {
  name: 'postgres-exporter',
  title: "The Collector's PostgreSQL exporter (destrex271/postgresexporter)",
  names: { schema: 'public', spans: 'oteltraces', logs: 'otellogs' },
  async sources(names, physical) {
    return sourcesOf({
      spans: await source(names, 'spans', spanColumns, physical),
      logs: await source(names, 'logs', logColumns, physical),
    });
  },
};

/** The physical column that it takes, and the SQL over columns by their names. */
type Wanted = readonly [physical: string, expression: (column: (name: string) => string) => string];

const plain = (name: string): Wanted => [name, (column) => `coalesce(${column(name)}, '')`];
const object = (name: string): Wanted => [name, (column) => `coalesce(${column(name)}, '{}'::jsonb)`];
const integer = (name: string): Wanted => [name, (column) => `coalesce(${column(name)}, 0)::bigint`];
/** What is searched for most stays as it is, for the sake of its indexes. */
const indexed = (name: string): Wanted => [name, (column) => column(name)];
const ofResource = (...keys: readonly string[]): Wanted => [
  'ResourceAttributes',
  (column) => `coalesce(${keys.map((key) => `${column('ResourceAttributes')} ->> '${key}'`).join(', ')}, '')`,
];
const upper = (name: string, prefix: string, absent: string): Wanted => [
  name,
  (column) => `regexp_replace(upper(coalesce(${column(name)}, '${absent}')), '^${prefix}', '')`,
];

const common: Readonly<Record<string, Wanted>> = {
  time: indexed('Timestamp'),
  trace_id: indexed('TraceId'),
  span_id: plain('SpanId'),
  service_name: indexed('ServiceName'),
  service_version: ofResource('service.version'),
  deployment_environment: ofResource('deployment.environment.name', 'deployment.environment'),
  resource_attributes: object('ResourceAttributes'),
  scope_name: plain('ScopeName'),
  scope_version: plain('ScopeVersion'),
};

const spanColumns: typeof common = {
  ...common,
  end_time: [
    'Duration',
    (column) => `${column('Timestamp')} + (coalesce(${column('Duration')}, 0) / 1000) * interval '1 microsecond'`,
  ],
  duration_nano: integer('Duration'),
  parent_span_id: plain('ParentSpanId'),
  trace_state: plain('TraceState'),
  name: plain('SpanName'),
  kind: upper('SpanKind', 'SPAN_KIND_', ''),
  status_code: upper('StatusCode', 'STATUS_CODE_', 'UNSET'),
  status_message: plain('StatusMessage'),
  attributes: object('SpanAttributes'),
};

const logColumns: typeof common = {
  ...common,
  severity_number: integer('SeverityNumber'),
  severity_text: plain('SeverityText'),
  body: plain('Body'),
  event_name: plain('EventName'),
  flags: integer('TraceFlags'),
  attributes: object('LogAttributes'),
  scope_attributes: object('ScopeAttributes'),
  schema_url: [
    'ScopeSchemaUrl',
    (column) => `coalesce(nullif(${column('ScopeSchemaUrl')}, ''), ${column('ResourceSchemaUrl')}, '')`,
  ],
};

/** As the exporter makes them today; what is newer is found by looking. */
export const exporterColumns: ReadonlyMap<string, string> = new Map([
  ...[...Object.values(spanColumns), ...Object.values(logColumns)]
    .filter(([needs]) => needs !== 'EventName')
    .map(([needs]) => [needs, 'text'] as const),
  ['Timestamp', 'timestamp without time zone'],
]);

async function source(
  names: Readonly<Record<string, string>>,
  table: 'spans' | 'logs',
  wanted: typeof common,
  physical: PhysicalColumns,
): Promise<TableSource | undefined> {
  const found = await physical(`${names['schema']}.${names[table]}`);
  const clock = found?.get('Timestamp');
  if (found === undefined || clock === undefined) return undefined;
  const zoned = clock.endsWith(' with time zone');
  // `timestamp AT TIME ZONE 'UTC'` is what the index of setup/tables.ts is on; a timestamptz needs nothing.
  const column = (name: string) =>
    name === 'Timestamp' && !zoned ? `("Timestamp" AT TIME ZONE 'UTC')` : quoteName(name);
  const columns: Record<string, string> = {};
  for (const [name, [needs, expression]] of Object.entries(wanted)) {
    if (found.has(needs)) columns[name] = expression(column);
  }
  const bounds = [`"Timestamp" >= {start} AT TIME ZONE 'UTC'`, `"Timestamp" < {end} AT TIME ZONE 'UTC'`];
  return {
    from: `${quoteName(names['schema'] ?? '')}.${quoteName(names[table] ?? '')}`,
    columns,
    ...(!zoned && { timeBounds: bounds }),
  };
}

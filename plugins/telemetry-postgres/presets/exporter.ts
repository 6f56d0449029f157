import type { MappingPreset, PhysicalColumns, TableSource } from '../../../src/contract/telemetry/index.ts';
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
    const spans = await source(names, 'spans', spanColumns, physical);
    const logs = await source(names, 'logs', logColumns, physical);
    return { ...(spans && { spans: [spans] }), ...(logs && { logs: [logs] }) };
  },
};

type Expression = (column: (name: string) => string) => string;

const plain =
  (name: string): Expression =>
  (column) =>
    `coalesce(${column(name)}, '')`;
const object =
  (name: string): Expression =>
  (column) =>
    `coalesce(${column(name)}, '{}'::jsonb)`;
const ofResource =
  (...keys: readonly string[]): Expression =>
  (column) =>
    `coalesce(${keys.map((key) => `${column('ResourceAttributes')} ->> '${key}'`).join(', ')}, '')`;
/** What is searched for most stays as it is, for the sake of its indexes. */
const indexed =
  (name: string): Expression =>
  (column) =>
    column(name);

const common: Readonly<Record<string, readonly [physical: string, Expression]>> = {
  time: ['Timestamp', (column) => column('Timestamp')],
  trace_id: ['TraceId', indexed('TraceId')],
  span_id: ['SpanId', plain('SpanId')],
  service_name: ['ServiceName', indexed('ServiceName')],
  service_version: ['ResourceAttributes', ofResource('service.version')],
  deployment_environment: ['ResourceAttributes', ofResource('deployment.environment.name', 'deployment.environment')],
  resource_attributes: ['ResourceAttributes', object('ResourceAttributes')],
  scope_name: ['ScopeName', plain('ScopeName')],
  scope_version: ['ScopeVersion', plain('ScopeVersion')],
};

const spanColumns: typeof common = {
  ...common,
  end_time: [
    'Duration',
    (column) => `${column('Timestamp')} + (coalesce(${column('Duration')}, 0) / 1000) * interval '1 microsecond'`,
  ],
  duration_nano: ['Duration', (column) => `coalesce(${column('Duration')}, 0)::bigint`],
  parent_span_id: ['ParentSpanId', plain('ParentSpanId')],
  trace_state: ['TraceState', plain('TraceState')],
  name: ['SpanName', plain('SpanName')],
  kind: ['SpanKind', (column) => `regexp_replace(upper(coalesce(${column('SpanKind')}, '')), '^SPAN_KIND_', '')`],
  status_code: [
    'StatusCode',
    (column) => `regexp_replace(upper(coalesce(${column('StatusCode')}, 'UNSET')), '^STATUS_CODE_', '')`,
  ],
  status_message: ['StatusMessage', plain('StatusMessage')],
  attributes: ['SpanAttributes', object('SpanAttributes')],
};

const logColumns: typeof common = {
  ...common,
  severity_number: ['SeverityNumber', (column) => `coalesce(${column('SeverityNumber')}, 0)::bigint`],
  severity_text: ['SeverityText', plain('SeverityText')],
  body: ['Body', plain('Body')],
  event_name: ['EventName', plain('EventName')],
  flags: ['TraceFlags', (column) => `coalesce(${column('TraceFlags')}, 0)::bigint`],
  attributes: ['LogAttributes', object('LogAttributes')],
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

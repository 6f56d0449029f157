import type { Engine } from './engine.ts';
import { exporterRows, exporterTables, type ExporterLayout } from './exporter-layouts.ts';
import { ownLayoutTables, ownRows } from './own-layout.ts';
import { signozRows, signozTables } from './signoz-layout.ts';

/** A warehouse as it is found at companies: its real tables, with the same telemetry of two tenants in each. */
export interface Layout {
  readonly name: string;
  readonly preset: string;
  /** The preset's names that differ. */
  readonly names: Readonly<Record<string, string>>;
  readonly tables: readonly string[];
  rows(): Readonly<Record<string, readonly object[]>>;
}

const exporter = (name: string, preset: string, layout: ExporterLayout): Layout => ({
  name,
  preset,
  names: { database: layout.database },
  tables: exporterTables(layout),
  rows: () => exporterRows(layout),
});

const map = 'Map(LowCardinality(String), String)';
const fiveMinutes = 'toStartOfFiveMinutes(Timestamp), ServiceName, Timestamp';

export const layouts: readonly Layout[] = [
  exporter("the Collector's older tables", 'otel-collector', {
    database: 'collector_old',
    attributes: map,
    enums: 'prefixed',
    timestampTime: true,
    eventName: false,
    logsOrder: 'ServiceName, TimestampTime, Timestamp',
    metricTime: 'DateTime64(9)',
    exponential: 'otel_metrics_exp_histogram',
  }),
  exporter("the Collector's newer tables", 'otel-collector', {
    database: 'collector_new',
    attributes: map,
    enums: 'plain',
    timestampTime: false,
    eventName: true,
    logsOrder: fiveMinutes,
    metricTime: 'DateTime',
    exponential: 'otel_metrics_exponential_histogram',
  }),
  exporter("the Collector's tables with JSON columns", 'otel-collector', {
    database: 'collector_json',
    attributes: 'JSON',
    enums: 'plain',
    timestampTime: false,
    eventName: true,
    logsOrder: 'ServiceName, toDateTime(Timestamp), Timestamp',
    metricTime: 'DateTime64(9)',
    exponential: 'otel_metrics_exponential_histogram',
  }),
  exporter("ClickStack's tables", 'clickstack', {
    database: 'clickstack',
    attributes: map,
    enums: 'plain',
    timestampTime: true,
    eventName: true,
    logsOrder: fiveMinutes,
    metricTime: 'DateTime',
    exponential: 'otel_metrics_exponential_histogram',
    extra: "`__hdx_materialized_k8s.pod.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.pod.name']",
  }),
  { name: "SigNoz' tables", preset: 'signoz', names: {}, tables: signozTables, rows: signozRows },
  { name: 'tables of our own', preset: 'sightline', names: {}, tables: ownLayoutTables, rows: ownRows },
];

/** Creates the tables and fills them. */
export async function build({ rows }: Engine, layout: Layout): Promise<void> {
  for (const table of layout.tables) await rows(table);
  for (const [table, records] of Object.entries(layout.rows())) {
    await rows(`INSERT INTO ${table} FORMAT JSONEachRow ${records.map((record) => JSON.stringify(record)).join('\n')}`);
  }
}

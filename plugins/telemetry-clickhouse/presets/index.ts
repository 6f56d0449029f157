import {
  type MappingPreset,
  ownColumnsOf,
  sourcesOf,
  type TableName,
  tableNames,
  type TableSource,
} from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../quote.ts';
import { exporterPreset } from './exporter.ts';
import { signoz } from './signoz.ts';

/** Tables of our own, as `sightline telemetry setup` prints them: the logical columns by their names. */
const sightline: MappingPreset = {
  name: 'sightline',
  title: "Sightline's own tables",
  names: { database: 'sightline', spans: 'sightline_spans', metrics: 'sightline_metrics', logs: 'sightline_logs' },
  async sources(names, columns) {
    const found: { [Name in TableName]?: TableSource } = {};
    for (const table of tableNames) {
      const path = `${names['database']}.${names[table]}`;
      const there = await columns(path);
      if (there === undefined) continue;
      const end = table === 'spans' ? { end_time: 'addNanoseconds(time, duration_nano)' } : {};
      found[table] = { from: tablePath(path), columns: { ...ownColumnsOf(table, there), ...end } };
    }
    return sourcesOf(found);
  },
};

/** Map or JSON attributes, old and new layouts: detected from the columns. */
const otelCollector = exporterPreset('otel-collector', "The OpenTelemetry Collector's ClickHouse exporter", 'otel');

/** The exporter's columns in a schema of its own: other sort keys, columns materialized from attributes. */
const clickstack = exporterPreset('clickstack', 'ClickStack (HyperDX)', 'default');

export const presets: readonly MappingPreset[] = [otelCollector, clickstack, signoz, sightline];

import { exporterPreset } from './exporter.ts';

/** Map or JSON attributes, old and new layouts: what is there is told from the columns. */
export const otelCollector = exporterPreset(
  'otel-collector',
  "The OpenTelemetry Collector's ClickHouse exporter",
  'otel',
);

import type { MappingPreset } from '../../../src/contract/telemetry/index.ts';
import { exporterPreset } from './exporter.ts';
import { sightline } from './sightline.ts';
import { signoz } from './signoz.ts';

/** Map or JSON attributes, old and new layouts: detected from the columns. */
const otelCollector = exporterPreset('otel-collector', "The OpenTelemetry Collector's ClickHouse exporter", 'otel');

/** The exporter's columns in a schema of its own: other sort keys, columns materialized from attributes. */
const clickstack = exporterPreset('clickstack', 'ClickStack (HyperDX)', 'default');

export const presets: readonly MappingPreset[] = [otelCollector, clickstack, signoz, sightline];

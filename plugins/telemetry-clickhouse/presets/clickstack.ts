import { exporterPreset } from './exporter.ts';

/** The exporter's columns in a schema of its own: other sort keys, columns materialized from attributes. */
export const clickstack = exporterPreset('clickstack', 'ClickStack (HyperDX)', 'default');

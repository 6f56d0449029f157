import type { ColumnType } from '../../src/contract/telemetry/index.ts';

/** GoogleSQL's type for each logical one. */
export const columnTypes: Readonly<Record<ColumnType, string>> = {
  timestamp: 'TIMESTAMP',
  string: 'STRING',
  int64: 'INT64',
  float64: 'FLOAT64',
  boolean: 'BOOL',
  map: 'JSON',
  'int64[]': 'ARRAY<INT64>',
  'float64[]': 'ARRAY<FLOAT64>',
  events: 'ARRAY<STRUCT<time TIMESTAMP, name STRING, attributes JSON>>',
  links: 'ARRAY<STRUCT<trace_id STRING, span_id STRING, trace_state STRING, attributes JSON>>',
  quantiles: 'ARRAY<STRUCT<quantile FLOAT64, value FLOAT64>>',
};

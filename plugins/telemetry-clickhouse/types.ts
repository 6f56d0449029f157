import type { ColumnType } from '../../src/contract/telemetry/index.ts';

export const time = "DateTime64(9, 'UTC')";
export const map = 'Map(String, String)';
export const event = `Tuple(time ${time}, name String, attributes ${map})`;
export const link = `Tuple(trace_id String, span_id String, trace_state String, attributes ${map})`;
export const quantile = 'Tuple(quantile Float64, value Float64)';

/** ClickHouse's type of a logical column, as tables of our own have it. */
export const typeOf = {
  timestamp: time,
  string: 'String',
  int64: 'Int64',
  float64: 'Float64',
  boolean: 'Bool',
  map,
  'int64[]': 'Array(Int64)',
  'float64[]': 'Array(Float64)',
  events: `Array(${event})`,
  links: `Array(${link})`,
  quantiles: `Array(${quantile})`,
} as const satisfies Record<ColumnType, string>;

import type { TableName } from './schema.ts';

/**
 * Rows on their way into a warehouse, column by column in the order of `otelTables[table].columns`. What the receiver
 * writes to its log is the encoded form of this, and a telemetry plugin gets the same bytes: nothing is encoded twice.
 */
export interface TelemetryBatch {
  readonly table: TableName;
  readonly rows: number;
  readonly columns: readonly BatchColumn[];
}

/** `valid[row] === 0` marks NULL; absent where the column is never NULL. */
export type BatchColumn =
  /** Epoch microseconds, UTC. */
  | { readonly kind: 'timestamp'; readonly values: BigInt64Array; readonly valid?: Uint8Array }
  | { readonly kind: 'int64'; readonly values: BigInt64Array; readonly valid?: Uint8Array }
  | { readonly kind: 'float64'; readonly values: Float64Array; readonly valid?: Uint8Array }
  | { readonly kind: 'boolean'; readonly values: Uint8Array }
  | { readonly kind: 'string'; readonly values: readonly string[]; readonly dictionary?: BatchDictionary }
  /** JSON text of a map, array or struct column; times inside are RFC 3339 with microseconds. */
  | { readonly kind: 'json'; readonly values: readonly string[]; readonly dictionary?: BatchDictionary };

/** `values[row] === entries[codes[row]]`, where few strings fill many rows: a loader may convert each entry once. */
export interface BatchDictionary {
  readonly entries: readonly string[];
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
}

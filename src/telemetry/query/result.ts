import type { RowSet } from './rows.ts';

export interface QueryColumn {
  readonly name: string;
  /** The engine's own name for the type. */
  readonly type: string;
  /** Its text may come from a sender of telemetry. */
  readonly untrusted: boolean;
}

export interface Truncation {
  readonly reason: 'rows' | 'bytes' | 'cell';
  /** Rows that are returned. */
  readonly returned: number;
  readonly hint: string;
}

export interface QueryWindow {
  readonly start?: Date;
  readonly end?: Date;
  /** `default` if either bound is the default. */
  readonly source: 'argument' | 'predicates' | 'default';
}

export interface QueryResult {
  /** `duckdb`, `postgres`, `clickhouse`, `bigquery`. */
  readonly dialect: string;
  readonly columns: readonly QueryColumn[];
  /** `[…],[…]` in UTF-8: row arrays joined by commas, no outer brackets. */
  readonly rowsJson: Buffer;
  readonly rowCount: number;
  readonly truncated: boolean;
  readonly truncation?: Truncation | undefined;
  /** Rows outside were invisible to the statement. Absent when it reads no table. */
  readonly window?: QueryWindow | undefined;
  readonly elapsedMs: number;
  readonly bytesScanned?: number | undefined;
  readonly warnings: readonly string[];
  /** All that was read, the returned rows first. Only when read-ahead was asked for and found more than is returned. */
  readonly readAhead?: ReadAhead | undefined;
}

export interface ReadAhead {
  readonly rows: RowSet;
  /** Why it is not the whole result. */
  readonly cutBy?: 'rows' | 'bytes';
}

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

/**
 * Serialized rows as they came from the engine: `[…],[…]` in UTF-8, and where each row ends. They are cut, kept and paged
 * by these offsets, so no row is parsed and written again.
 */
export interface RowSet {
  readonly json: Buffer;
  /** Offset just behind each row; the next one starts one comma later. */
  readonly ends: readonly number[];
}

/** The engine's plugin sent something that is not rows of JSON arrays. Never shown; the pipeline logs it. */
export class MalformedRows extends Error {
  override readonly name = 'MalformedRows';
}

export function rowSetOf(rows: readonly (readonly unknown[])[]): RowSet {
  const ends: number[] = [];
  let size = 0;
  const texts = rows.map((row) => {
    const text = Buffer.from(JSON.stringify(row));
    size += text.length + (ends.length === 0 ? 0 : 1);
    ends.push(size);
    return text;
  });
  const json = Buffer.alloc(size, ',');
  texts.forEach((text, index) => json.set(text, (ends[index] ?? 0) - text.length));
  return { json, ends };
}

/** How many rows from `offset` on fit both limits, and which limit stopped them. */
export function fit(
  rows: RowSet,
  offset: number,
  limits: { readonly maxRows: number; readonly maxBytes: number },
): { readonly count: number; readonly stoppedBy?: 'rows' | 'bytes' } {
  const base = startOf(rows, offset);
  const all = rows.ends.length - offset;
  if (all <= limits.maxRows && (rows.ends.at(-1) ?? 0) - base <= limits.maxBytes) return { count: Math.max(0, all) };
  let count = 0;
  for (let row = offset; row < rows.ends.length; row += 1) {
    if (count >= limits.maxRows) return { count, stoppedBy: 'rows' };
    if ((rows.ends[row] ?? 0) - base > limits.maxBytes) return { count, stoppedBy: 'bytes' };
    count += 1;
  }
  return { count };
}

/** `count` rows from `offset` on, a view of the same memory. */
export function slice(rows: RowSet, offset: number, count: number): RowSet {
  if (count === 0) return { json: Buffer.alloc(0), ends: [] };
  const base = startOf(rows, offset);
  const ends = rows.ends.slice(offset, offset + count).map((end) => end - base);
  const json = rows.json.subarray(base, base + (ends.at(-1) ?? 0));
  return { json, ends };
}

/** The text of one row. */
export function rowText(rows: RowSet, row: number): string {
  return rows.json.toString('utf8', startOf(rows, row), rows.ends[row]);
}

function startOf(rows: RowSet, row: number): number {
  return row === 0 ? 0 : (rows.ends[row - 1] ?? 0) + 1;
}

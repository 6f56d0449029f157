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

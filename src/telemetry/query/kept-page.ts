import { fit, type QueryColumn, type QueryWindow, type RowSet, rowSetOf, rowText, slice } from './result.ts';

export interface PageRequest {
  /** Rows to skip; with `contains`, matching rows. */
  readonly offset: number;
  /** Only rows with a cell, key or element in which this text occurs; case is ignored. */
  readonly contains?: string;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface KeptPage {
  readonly rows: RowSet;
  /** Why more kept rows follow; absent on the last page. */
  readonly stoppedBy?: 'rows' | 'bytes';
  /** Rows that are kept, and of them how many up to the end of the page contain the text, all where no text is sent. */
  readonly pagedIn: { readonly kept: number; readonly fitting: number };
}

/** Reads a page of a kept result without running anything again. */
export function readPage(kept: KeptResult, { offset, contains, maxRows, maxBytes }: PageRequest): KeptPage {
  const { rows } = kept;
  const all = rows.ends.length;
  if (contains === undefined) {
    const start = Math.min(offset, rows.ends.length);
    const { count, ...rest } = fit(rows, start, { maxRows, maxBytes });
    return { rows: slice(rows, start, count), ...rest, pagedIn: { kept: all, fitting: all } };
  }
  const matches = rowMatcher(contains);
  const parts: Buffer[] = [];
  const ends: number[] = [];
  let toSkip = offset;
  const page = () => ({
    rows: join(parts, ends),
    pagedIn: { kept: all, fitting: offset - toSkip + ends.length },
  });
  for (let row = 0; row < rows.ends.length; row += 1) {
    const text = rowText(rows, row);
    if (!matches(text)) continue;
    if (toSkip > 0) {
      toSkip -= 1;
      continue;
    }
    if (ends.length >= maxRows) return { ...page(), stoppedBy: 'rows' };
    const part = Buffer.from(text);
    const end = (ends.length === 0 ? 0 : (ends.at(-1) ?? 0) + 1) + part.length;
    if (end > maxBytes) return { ...page(), stoppedBy: 'bytes' };
    parts.push(part);
    ends.push(end);
  }
  return page();
}

function join(parts: readonly Buffer[], ends: readonly number[]): RowSet {
  if (parts.length === 0) return rowSetOf([]);
  const json = Buffer.alloc(ends.at(-1) ?? 0, ',');
  parts.forEach((part, index) => json.set(part, (ends[index] ?? 0) - part.length));
  return { json, ends };
}

/** Whether the JSON text of a row has a string, key, number or boolean in which `needle` occurs. */
function rowMatcher(needle: string): (row: string) => boolean {
  const wanted = needle.toLowerCase();
  const maybeNumber = /^[-+.\de]+$/.test(wanted);
  return (row) => {
    // Most rows need no parsing: without escapes, a substring of a value is a substring of the row's text.
    if (!maybeNumber && !row.includes('\\') && !row.toLowerCase().includes(wanted)) return false;
    const cells: unknown = JSON.parse(row);
    return occurs(cells, wanted);
  };
}

/** Without recursion: a cell of a few kilobytes may be thousands of lists deep. */
function occurs(cells: unknown, wanted: string): boolean {
  const rest = [cells];
  while (rest.length > 0) {
    const value = rest.pop();
    if (Array.isArray(value)) {
      for (const element of value) rest.push(element);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) rest.push(key, inner);
    } else if (typeof value === 'string') {
      if (value.toLowerCase().includes(wanted)) return true;
    } else if ((typeof value === 'number' || typeof value === 'boolean') && String(value).includes(wanted)) {
      return true;
    }
  }
  return false;
}

/** A result that was cut, with all rows that were read. */
export interface KeptResult {
  readonly dialect: string;
  readonly columns: readonly QueryColumn[];
  readonly rows: RowSet;
  /** Why even this is not the whole. */
  readonly cutBy?: 'rows' | 'bytes';
  readonly window?: QueryWindow;
}

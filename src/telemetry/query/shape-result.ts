import type { CursorEnd, QueryLimits, ResultColumn } from '../../contract/telemetry/index.ts';
import type { ReadRows } from './read-rows.ts';
import {
  fit,
  type QueryColumn,
  type QueryResult,
  type QueryWindow,
  type ReadAhead,
  slice,
  type Truncation,
} from './result.ts';

export interface ResultFacts {
  readonly dialect: string;
  readonly window: QueryWindow | undefined;
  readonly limits: QueryLimits;
  /** The most that may be asked for. */
  readonly most: QueryLimits;
  /** On performance.now()'s clock. */
  readonly started: number;
}

/** What was read as a result: what is returned of it, what was cut, and which columns carry strangers' text. */
export function shapeResult(read: ReadRows, { dialect, window, limits, most, started }: ResultFacts): QueryResult {
  const { count, stoppedBy } = fit(read.rows, 0, limits);
  const returned = count === read.rows.ends.length ? read.rows : slice(read.rows, 0, count);
  const reason = stoppedBy ?? read.end.truncated;
  const truncation = truncationOf(reason, count, read.end.cutCells, limits, most);
  const cellWarning = reason !== undefined && read.end.cutCells > 0;
  return {
    dialect,
    // By all that was read: pages of a kept result are shown under the same marks.
    columns: columnsOf(read.columns, read.untrusted),
    rowsJson: returned.json,
    rowCount: count,
    truncated: truncation !== undefined,
    truncation,
    window,
    elapsedMs: Math.round((performance.now() - started) * 10) / 10,
    bytesScanned: read.end.bytesScanned,
    warnings: cellWarning ? [cutCells(read.end.cutCells, limits.maxCellBytes)] : [],
    readAhead: read.rows.ends.length > count ? behind(read) : undefined,
  };
}

function behind({ rows, end }: ReadRows): ReadAhead {
  return { rows, ...(end.truncated === undefined ? {} : { cutBy: end.truncated }) };
}

function columnsOf(columns: readonly ResultColumn[], untrusted: readonly boolean[]): QueryColumn[] {
  return columns.map(({ name, type }, index) => ({ name, type, untrusted: untrusted[index] !== false }));
}

function truncationOf(
  reason: CursorEnd['truncated'],
  returned: number,
  cut: number,
  limits: QueryLimits,
  most: QueryLimits,
): Truncation | undefined {
  const narrow = 'aggregate, select fewer columns, or narrow start and end';
  if (reason === 'rows') {
    return {
      reason,
      returned,
      hint: `There are more than ${returned} rows: ${limits.maxRows < most.maxRows ? 'raise max_rows, ' : ''}${narrow}.`,
    };
  }
  if (reason === 'bytes') {
    return {
      reason,
      returned,
      hint: `The rows reached ${limits.maxBytes} bytes: ${limits.maxBytes < most.maxBytes ? 'raise max_bytes, ' : ''}${narrow}.`,
    };
  }
  if (cut === 0) return undefined;
  return { reason: 'cell', returned, hint: cutCells(cut, limits.maxCellBytes) };
}

function cutCells(cut: number, maxCellBytes: number): string {
  return `${cut} cell${cut === 1 ? '' : 's'} over ${maxCellBytes} bytes were cut and are marked; select a part of the value, such as substring(body, 1, 1000) or one attribute.`;
}

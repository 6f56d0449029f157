import { endOfCell } from '../../contract/core/json-bytes.ts';

/** What a cut cell may be longer than the limit by: the mark that says so. */
export const markAllowance = 128;

/** Writes a row again with its long cells cut and marked: the slow way, for a plugin that did not. */
export function shortenRow(
  json: Uint8Array,
  maxCellBytes: number,
): { readonly json: Buffer; readonly cutCells: number } {
  const row = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const cells: string[] = [];
  let cutCells = 0;
  for (let end = 0; end < row.length - 1;) {
    const start = end + 1;
    end = endOfCell(row, start);
    const cell = row.subarray(start, end);
    if (cell.length <= maxCellBytes + markAllowance) {
      cells.push(cell.toString());
    } else {
      cutCells += 1;
      cells.push(shortenCell(cell, maxCellBytes));
    }
  }
  return { json: Buffer.from(`[${cells.join(',')}]`), cutCells };
}

function shortenCell(cell: Buffer, maxCellBytes: number): string {
  const value: unknown = JSON.parse(cell.toString());
  const text = typeof value === 'string' ? value : cell.toString();
  let keep = maxCellBytes;
  for (;;) {
    const start = text.slice(0, keep).replace(/[\ud800-\udbff]$/, '');
    const kept = JSON.stringify(`${start}…[${Buffer.byteLength(text) - Buffer.byteLength(start)} bytes cut]`);
    if (Buffer.byteLength(kept) <= maxCellBytes + markAllowance || keep === 0) return kept;
    keep = Math.floor(keep * 0.75);
  }
}

import type { DuckDBDataChunk } from '@duckdb/node-api';
import type { RowLimits } from '../protocol.ts';
import { cellWriter, type CellWriter } from './cells.ts';

/** Turns chunks into JSON row arrays until a limit is met. */
export class RowSerializer {
  readonly #limits: RowLimits;
  #rows: string[] = [];
  #totalRows = 0;
  #totalBytes = 0;
  pendingBytes = 0;
  truncated: 'rows' | 'bytes' | undefined;
  readonly #budget: { readonly maxBytes: number; cutCells: number };

  constructor(limits: RowLimits) {
    this.#limits = limits;
    this.#budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
  }

  get cutCells(): number {
    return this.#budget.cutCells;
  }

  /** False once a limit is met, and the rest is not wanted. */
  add(chunk: DuckDBDataChunk): boolean {
    const writers: CellWriter[] = [];
    for (let column = 0; column < chunk.columnCount; column += 1) {
      writers.push(cellWriter(chunk.getColumnVector(column), this.#budget));
    }
    for (let row = 0; row < chunk.rowCount; row += 1) {
      if (this.#totalRows >= this.#limits.maxRows) {
        this.truncated = 'rows';
        return false;
      }
      const cutBefore = this.#budget.cutCells;
      let text = '[';
      for (const write of writers) text += text === '[' ? write(row) : `,${write(row)}`;
      text += ']';
      // The comma that joins it to the row before counts too.
      const bytes = Buffer.byteLength(text) + (this.#totalRows === 0 ? 0 : 1);
      if (this.#totalBytes + bytes > this.#limits.maxBytes) {
        this.truncated = 'bytes';
        this.#budget.cutCells = cutBefore;
        return false;
      }
      this.#rows.push(text);
      this.#totalRows += 1;
      this.#totalBytes += bytes;
      this.pendingBytes += bytes;
    }
    return true;
  }

  /** The rows since the last time, joined by commas. */
  take(): { readonly rows: number; readonly json: string } {
    const taken = { rows: this.#rows.length, json: this.#rows.join(',') };
    this.#rows = [];
    this.pendingBytes = 0;
    return taken;
  }
}

import type { CursorEnd, QueryLimits, ResultColumn, RowChunk } from '../../src/contract/index.ts';
import { cellWriter, type CellBudget, type CellWriter } from './cells.ts';
import { typeOf } from './types.ts';

const smallestChunk = 1_024;
const comma = 0x2c;

/** Rows of one result as JSON row arrays, until a limit is met. */
export class RowSerializer {
  readonly #limits: QueryLimits;
  readonly #budget: CellBudget;
  #writers: readonly CellWriter[] = [];
  #chunk = Buffer.allocUnsafe(smallestChunk);
  #used = 0;
  /** In the chunk. */
  #rows = 0;
  #count = 0;
  #bytes = 0;
  #truncated: CursorEnd['truncated'];
  columns: readonly ResultColumn[] = [];

  constructor(limits: QueryLimits) {
    this.#limits = limits;
    this.#budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
  }

  describe(fields: readonly { readonly name: string; readonly dataTypeID: number }[]): void {
    const types = fields.map(({ dataTypeID }) => typeOf(dataTypeID));
    this.columns = fields.map(({ name }, index) => ({ name, type: types[index]?.name ?? '' }));
    this.#writers = types.map((type) => cellWriter(type, this.#budget));
  }

  /** Nothing more is wanted. */
  get full(): boolean {
    return this.#truncated !== undefined;
  }

  get end(): CursorEnd {
    const { cutCells } = this.#budget;
    return this.#truncated === undefined ? { cutCells } : { truncated: this.#truncated, cutCells };
  }

  /** One more than may come, so that the last is known to be the last. */
  get wanted(): number {
    return this.#limits.maxRows - this.#count + 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get meanRowBytes(): number {
    return this.#count === 0 ? 0 : this.#bytes / this.#count;
  }

  add(values: readonly (string | null)[]): void {
    if (this.full) return;
    if (this.#count >= this.#limits.maxRows) {
      this.#truncated = 'rows';
      return;
    }
    const cutBefore = this.#budget.cutCells;
    let text = '[';
    let index = 0;
    for (const write of this.#writers) {
      const cell = write(values[index] ?? null);
      text += index === 0 ? cell : `,${cell}`;
      index += 1;
    }
    text += ']';
    const at = this.#used + (this.#rows === 0 ? 0 : 1);
    // A UTF-16 unit is at most three bytes.
    if (at + text.length * 3 > this.#chunk.length) this.#grow(at + text.length * 3);
    const written = this.#chunk.write(text, at);
    // The comma that joins it to the row before counts too.
    const bytes = written + (this.#count === 0 ? 0 : 1);
    if (this.#bytes + bytes > this.#limits.maxBytes) {
      this.#truncated = 'bytes';
      this.#budget.cutCells = cutBefore;
      return;
    }
    if (at > this.#used) this.#chunk[this.#used] = comma;
    this.#used = at + written;
    this.#rows += 1;
    this.#count += 1;
    this.#bytes += bytes;
  }

  /** The rows since the last time. */
  take(): RowChunk | undefined {
    if (this.#rows === 0) return undefined;
    // A copy of its own length: it may be kept for long.
    const chunk = { rows: this.#rows, json: Buffer.from(this.#chunk.subarray(0, this.#used)) };
    this.#used = 0;
    this.#rows = 0;
    return chunk;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#chunk.length * 4));
    this.#chunk.copy(larger, 0, 0, this.#used);
    this.#chunk = larger;
  }
}

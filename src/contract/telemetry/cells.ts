import type { CursorEnd, QueryLimits } from './telemetry.ts';

export interface CellBudget {
  /** Of one cell's JSON text, UTF-8. */
  readonly maxBytes: number;
  cutCells: number;
}

/** Whether the JSON text may be a cell as it is. A UTF-16 unit is at most three bytes, so a short text needs no counting. */
export function fitsCell(json: string, { maxBytes }: CellBudget): boolean {
  return json.length * 3 <= maxBytes || Buffer.byteLength(json) <= maxBytes;
}

/**
 * A JSON string of the start of `plain` and a mark saying how much is missing. `over`: more is missing than the text has.
 * What is longer than the cell is not looked at but for its length.
 */
export function cutCell(plain: string, budget: CellBudget, over = false): string {
  const { maxBytes } = budget;
  budget.cutCells += 1;
  const whole = Buffer.byteLength(plain);
  const bytes = Buffer.from(plain.slice(0, maxBytes), 'utf8');
  let keep = Math.min(bytes.length, maxBytes);
  for (;;) {
    const start = wholeCharacters(bytes, keep);
    const text = JSON.stringify(`${start}…[${over ? 'over ' : ''}${whole - Buffer.byteLength(start)} bytes cut]`);
    const excess = Buffer.byteLength(text) - maxBytes;
    if (excess <= 0 || keep === 0) return text;
    // An escaped character is up to six times as long as it was.
    keep = Math.max(0, keep - Math.max(1, Math.ceil(excess / 6)));
  }
}

function wholeCharacters(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** A float as JSON: NaN and infinities as strings, no negative zero. */
export function floatCell(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '0' : String(value);
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"';
}

/** JSON texts of rows, until a limit is met. */
export class RowTexts {
  readonly budget: CellBudget;
  readonly #limits: Pick<QueryLimits, 'maxRows' | 'maxBytes'>;
  #rows: string[] = [];
  #bytes = 0;
  #cutBefore = 0;
  /** Of all rows that were taken in. */
  count = 0;
  /** Of the rows since the last `take`. */
  pendingBytes = 0;
  truncated: CursorEnd['truncated'];

  constructor(limits: Pick<QueryLimits, 'maxRows' | 'maxBytes' | 'maxCellBytes'>) {
    this.#limits = limits;
    this.budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
  }

  get end(): CursorEnd {
    const { cutCells } = this.budget;
    return this.truncated === undefined ? { cutCells } : { truncated: this.truncated, cutCells };
  }

  /** Before a row is written with the budget. False where no more rows are wanted. */
  next(): boolean {
    this.#cutBefore = this.budget.cutCells;
    if (this.count < this.#limits.maxRows) return true;
    this.truncated = 'rows';
    return false;
  }

  /** The row that was written. False where it is too much. */
  add(text: string): boolean {
    // The comma that joins it to the row before counts too.
    const bytes = Buffer.byteLength(text) + (this.count === 0 ? 0 : 1);
    if (this.#bytes + bytes > this.#limits.maxBytes) {
      this.truncated = 'bytes';
      this.budget.cutCells = this.#cutBefore;
      return false;
    }
    this.#rows.push(text);
    this.count += 1;
    this.#bytes += bytes;
    this.pendingBytes += bytes;
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

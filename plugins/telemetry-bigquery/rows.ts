import type { Cursor, CursorEnd, QueryLimits, ResultColumn, RowChunk } from '../../src/contract/telemetry/index.ts';
import { cellText, typeName, type CellBudget } from './cells.ts';
import type { FieldSchema, Page } from './jobs.ts';

export interface PageSource {
  /** The page behind the token. Rejects with a SightlineError. */
  next(token: string, maxRows: number): Promise<Page>;
  close(): Promise<void>;
}

/** Rows of a finished job, page by page, as far as the limits go. */
export class JobCursor implements Cursor {
  readonly columns: readonly ResultColumn[];
  readonly #fields: readonly FieldSchema[];
  readonly #source: PageSource;
  readonly #limits: QueryLimits;
  readonly #budget: CellBudget;
  readonly #bytesScanned: number | undefined;
  #page: Page | undefined;
  #rows = 0;
  #bytes = 0;
  #end: CursorEnd | undefined;

  constructor(first: Page, source: PageSource, limits: QueryLimits) {
    this.#fields = first.schema?.fields ?? [];
    this.columns = this.#fields.map((field) => ({ name: field.name, type: typeName(field) }));
    this.#page = first;
    this.#source = source;
    this.#limits = limits;
    this.#budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
    this.#bytesScanned = first.totalBytesProcessed;
  }

  get end(): CursorEnd | undefined {
    return this.#end;
  }

  async read(): Promise<RowChunk | undefined> {
    while (this.#page !== undefined) {
      const page = this.#page;
      const { chunk, truncated } = this.#serialize(page);
      const token = truncated === undefined ? page.pageToken : undefined;
      this.#page = token === undefined ? undefined : await this.#source.next(token, this.#wanted());
      if (this.#page === undefined) this.#finish(truncated);
      if (chunk.rows > 0) return chunk;
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#page = undefined;
    await this.#source.close();
  }

  /** One more than may be returned, so that it shows whether there are more. */
  #wanted(): number {
    return this.#limits.maxRows - this.#rows + 1;
  }

  #finish(truncated: CursorEnd['truncated']): void {
    this.#end = {
      cutCells: this.#budget.cutCells,
      ...(truncated === undefined ? {} : { truncated }),
      ...(this.#bytesScanned === undefined ? {} : { bytesScanned: this.#bytesScanned }),
    };
  }

  #serialize({ rows }: Page): { readonly chunk: RowChunk; readonly truncated: CursorEnd['truncated'] } {
    const { maxRows, maxBytes } = this.#limits;
    const texts: string[] = [];
    let truncated: CursorEnd['truncated'];
    for (const row of rows) {
      if (this.#rows >= maxRows) {
        truncated = 'rows';
        break;
      }
      const cutBefore = this.#budget.cutCells;
      const text = `[${this.#fields.map((field, at) => cellText(field, row.f[at]?.v, this.#budget)).join(',')}]`;
      // The comma that joins it to the row before.
      const bytes = Buffer.byteLength(text) + (this.#rows === 0 ? 0 : 1);
      if (this.#bytes + bytes > maxBytes) {
        this.#budget.cutCells = cutBefore;
        truncated = 'bytes';
        break;
      }
      this.#rows += 1;
      this.#bytes += bytes;
      texts.push(text);
    }
    return { chunk: { rows: texts.length, json: Buffer.from(texts.join(',')) }, truncated };
  }
}

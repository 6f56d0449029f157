import type { Cursor, CursorEnd, ResultColumn, RowChunk } from '../../src/contract/telemetry/index.ts';
import type { RowsHeader } from './protocol.ts';
import type { Reply } from './channel.ts';

export class PartCursor implements Cursor {
  readonly columns: readonly ResultColumn[];
  readonly #parts: PartQueue;
  readonly #stop: () => Promise<unknown>;
  #unread: Reply<RowsHeader> | undefined;
  end: CursorEnd | undefined;

  /** @param stop ends what is still under way. */
  constructor(first: Reply<RowsHeader> | undefined, parts: PartQueue, stop: () => Promise<unknown>) {
    this.columns = first?.header.columns ?? [];
    this.#unread = first;
    this.#parts = parts;
    this.#stop = stop;
  }

  async read(): Promise<RowChunk | undefined> {
    for (;;) {
      const part = this.#unread ?? (await this.#parts.next());
      this.#unread = undefined;
      if (part === undefined) return undefined;
      if (part.header.end) this.end = part.header.end;
      if (part.header.rows > 0) return { rows: part.header.rows, json: part.payload };
    }
  }

  async close(): Promise<void> {
    await this.#stop();
  }
}

/** Parts of one result, from the socket to the reader of the cursor. Bounded by the query's own byte limit. */
export class PartQueue {
  readonly #parts: Reply<RowsHeader>[] = [];
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  push(part: Reply<RowsHeader>): void {
    this.#parts.push(part);
    this.#wake?.();
  }

  finish(last: Reply<RowsHeader>): void {
    this.#ended = true;
    this.push(last);
  }

  fail(error: Error): void {
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async next(): Promise<Reply<RowsHeader> | undefined> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) return part;
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

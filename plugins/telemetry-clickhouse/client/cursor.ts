import type { Readable } from 'node:stream';
import type { SightlineError } from '../../../src/contract/core/index.ts';
import type { Cursor, CursorEnd, QueryLimits, ResultColumn, RowChunk } from '../../../src/contract/telemetry/index.ts';
import { RowReader } from '../result/row-reader.ts';
import type { Deadline } from './failures.ts';

export interface CursorParts {
  readonly body: Readable;
  readonly limits: QueryLimits;
  readonly deadline: Deadline;
  readonly readBytes: number | undefined;
  readonly explain: (error: unknown) => SightlineError;
  /** Stops the engine's work, of which the connection alone tells nothing certain. */
  readonly kill: () => void;
}

/** A result on its way. The engine's work ends with it: when it is read, when a limit is met, when the caller leaves. */
export class ClickHouseCursor implements Cursor {
  readonly columns: readonly ResultColumn[];
  end: CursorEnd | undefined;
  readonly #parts: CursorParts;
  readonly #reader: RowReader;
  readonly #pieces: AsyncIterator<unknown>;
  #first: RowChunk | undefined;
  #finished = false;
  #received = 0;

  private constructor(
    parts: CursorParts,
    reader: RowReader,
    pieces: AsyncIterator<unknown>,
    first: RowChunk | undefined,
    columns: readonly ResultColumn[],
  ) {
    this.#parts = parts;
    this.#reader = reader;
    this.#pieces = pieces;
    this.#first = first;
    this.columns = columns;
  }

  /** Once the columns are known. Rejects with a SightlineError, and nothing is left behind then. */
  static async open(parts: CursorParts): Promise<ClickHouseCursor> {
    const { body, limits, deadline } = parts;
    const reader = new RowReader(limits);
    const pieces = body[Symbol.asyncIterator]();
    try {
      let first: RowChunk | undefined;
      while (reader.columns === undefined) {
        const { done, value } = await pieces.next();
        if (done === true) reader.finish();
        else first = reader.add(bufferOf(value));
      }
      return new ClickHouseCursor(parts, reader, pieces, first, reader.columns);
    } catch (error) {
      body.destroy();
      parts.kill();
      deadline.clear();
      throw parts.explain(deadline.signal.aborted ? deadline.signal.reason : error);
    }
  }

  async read(): Promise<RowChunk | undefined> {
    const { deadline, explain } = this.#parts;
    try {
      for (;;) {
        const chunk = this.#first;
        this.#first = undefined;
        if (chunk !== undefined) return chunk;
        if (this.end !== undefined) return undefined;
        if (this.#reader.truncated !== undefined) return this.#finish();
        const { done, value } = await this.#pieces.next();
        if (done === true) {
          this.#reader.finish();
          this.#finished = true;
          return this.#finish();
        }
        const piece = bufferOf(value);
        this.#received += piece.length;
        this.#first = this.#reader.add(piece);
      }
    } catch (error) {
      await this.close();
      throw explain(deadline.signal.aborted ? deadline.signal.reason : error);
    }
  }

  async close(): Promise<void> {
    const { body, deadline, kill } = this.#parts;
    deadline.clear();
    if (this.#finished) return;
    this.#finished = true;
    body.destroy();
    kill();
  }

  #finish(): undefined {
    const { truncated, cutCells } = this.#reader;
    // Of a longer answer the server has told what it had read when it began.
    const readBytes = this.#received < wholeAnswerBytes ? this.#parts.readBytes : undefined;
    this.end = {
      cutCells,
      ...(truncated === undefined ? {} : { truncated }),
      ...(readBytes === undefined ? {} : { bytesScanned: readBytes }),
    };
    void this.close();
  }
}

/** What a server holds back of an answer, if not less is set for it (buffer_size, 1 MiB): until then it sends no headers. */
const wholeAnswerBytes = 512 << 10;

function bufferOf(piece: unknown): Buffer {
  if (Buffer.isBuffer(piece)) return piece;
  throw new TypeError('a result that is no bytes');
}

import type { Connection, Submittable } from 'pg';
import type { RowSerializer } from './rows.ts';

/** Of our own making, with values that travel beside it. */
export interface Step {
  readonly text: string;
  readonly values: readonly string[];
}

/** One row that a result may not hold: the driver would keep all of it in memory at once. */
export class RowTooLong extends Error {}

const longestRowBytes = 16 << 20;
/** Of rows that came after the last one wanted; more is not waited for. */
const mostUnwantedBytes = 4 << 20;
const batchBytes = 512 << 10;
const firstBatchRows = 1_024;

/**
 * A statement in a portal of its own, after steps that make the session ready for it: all of it goes out at once, in the
 * extended protocol, where a statement is one statement. Rows are read batch by batch and serialized as they arrive.
 */
export class Portal implements Submittable {
  readonly #steps: readonly Step[];
  readonly #text: string;
  readonly #rows: RowSerializer;
  #connection: Connection | undefined;
  #stepsLeft: number;
  #unread = 0;
  #unwanted = 0;
  #state: 'unsent' | 'running' | 'suspended' | 'done' = 'unsent';
  #error: Error | undefined;
  #batch = Promise.withResolvers<undefined>();

  constructor(steps: readonly Step[], text: string, rows: RowSerializer) {
    this.#steps = steps;
    this.#stepsLeft = steps.length;
    this.#text = text;
    this.#rows = rows;
    this.#batch.promise.catch(() => {});
  }

  submit(connection: Connection): void {
    if (this.#error !== undefined) {
      // Nobody waits for it any more; the driver wants an answer for what it has sent.
      connection.sync();
      return;
    }
    this.#connection = connection;
    this.#state = 'running';
    connection.stream.on('data', this.#watch);
    // One packet, not one for each message.
    connection.stream.cork();
    for (const { text, values } of this.#steps) {
      connection.parse({ name: '', text, types: [] }, true);
      connection.bind({ portal: '', statement: '', values: [...values] }, true);
      connection.execute({ portal: '' }, true);
    }
    connection.parse({ name: '', text: this.#text, types: [] }, true);
    connection.bind({ portal: '', statement: '', values: [] }, true);
    connection.describe({ type: 'P', name: '' }, true);
    this.#fetch(firstBatchRows);
    connection.stream.uncork();
  }

  /** The statement has come to its end, and not to a failure, which it throws. */
  get complete(): boolean {
    if (this.#error !== undefined) throw this.#error;
    return this.#state === 'done';
  }

  /** Resolves when the rows asked for have arrived, or all there are. Rejects with what ended the statement. */
  async batch(): Promise<void> {
    if (this.#state === 'suspended') {
      if (this.#rows.full) this.#finish();
      else {
        this.#batch = Promise.withResolvers();
        this.#batch.promise.catch(() => {});
        this.#state = 'running';
        this.#fetch(this.#rowsOfBatch());
      }
    }
    await this.#batch.promise;
  }

  /** Ends a statement that stands between two batches. False where one is under way: it must be cancelled. */
  end(): boolean {
    if (this.#state === 'suspended') this.#finish();
    return this.#state === 'done';
  }

  /** Tells whoever waits; the statement itself may still run. */
  fail(error: Error): void {
    this.#error ??= error;
    this.#batch.reject(this.#error);
  }

  handleRowDescription(message: { readonly fields: Parameters<RowSerializer['describe']>[0] }): void {
    this.#rows.describe(message.fields);
  }

  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    if (this.#rows.full) this.#unwanted += this.#unread;
    this.#unread = 0;
    if (this.#stepsLeft === 0) this.#rows.add(message.fields);
  }

  handlePortalSuspended(): void {
    this.#state = 'suspended';
    if (this.#rows.full) this.#finish();
    this.#batch.resolve(undefined);
  }

  handleCommandComplete(): void {
    this.#unread = 0;
    if (this.#stepsLeft > 0) {
      this.#stepsLeft -= 1;
      return;
    }
    this.#finish();
    this.#batch.resolve(undefined);
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handleError(error: Error): void {
    this.#finish();
    this.fail(error);
  }

  handleReadyForQuery(): void {
    this.#release();
  }

  /** A statement that copies is not one of ours. */
  handleCopyInResponse(connection: Connection): void {
    this.#refuseCopy(connection);
  }

  handleCopyData(_: unknown, connection: Connection): void {
    this.#refuseCopy(connection);
  }

  #refuseCopy(connection: Connection): void {
    connection.stream.destroy(new Error('the statement copies'));
  }

  #rowsOfBatch(): number {
    const mean = this.#rows.meanRowBytes;
    return mean === 0 ? firstBatchRows : Math.max(16, Math.min(10_000, Math.floor(batchBytes / mean)));
  }

  #fetch(rows: number): void {
    this.#connection?.execute({ portal: '', rows: String(Math.min(rows, this.#rows.wanted)) }, true);
    this.#connection?.flush();
  }

  #finish(): void {
    if (this.#state === 'done') return;
    const sent = this.#state !== 'unsent';
    this.#state = 'done';
    this.#release();
    if (sent) this.#connection?.sync();
  }

  #release(): void {
    this.#connection?.stream.off('data', this.#watch);
  }

  readonly #watch = (chunk: Buffer): void => {
    this.#unread += chunk.length;
    if (this.#rows.full && this.#unwanted + this.#unread > mostUnwantedBytes) {
      this.#state = 'done';
      this.#release();
      this.#batch.resolve(undefined);
      this.#connection?.stream.destroy();
    } else if (this.#unread > longestRowBytes) {
      const error = new RowTooLong('a row is too long to be read');
      this.fail(error);
      this.#connection?.stream.destroy(error);
    }
  };
}

import type { Connection, Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import type { Session } from './connections.ts';
import type { RowSerializer } from './rows.ts';

/** Of our own making, with values that travel beside it. The server reads it once a session, and keeps it by its name. */
export interface Step {
  readonly name: string;
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
const smallBytes = 256 << 10;

export interface PortalOptions {
  readonly before: readonly Step[];
  readonly text: string;
  readonly after: Step;
  readonly session: Pick<Session, 'prepared' | 'reader'>;
  /** The statement is known for few rows: all of them are asked for at once, and its end with them, in one round trip. */
  readonly small: boolean;
  readonly rows: RowSerializer;
}

const start = Buffer.concat([serialize.bind(), serialize.describe({ type: 'P' })]);
/** What only reads: a command of another kind (`DO`, `PREPARE`) may have changed what our steps mean in its session. */
const onlyReads = /^(?:SELECT|EXPLAIN)\b/;
const flush = serialize.flush();
const sync = serialize.sync();

/** Steps are the same again and again. */
const runs = new WeakMap<Step, Buffer>();

function runOf(step: Step): Buffer {
  const known = runs.get(step);
  if (known !== undefined) return known;
  const { name, values } = step;
  const run = Buffer.concat([serialize.bind({ statement: name, values: [...values] }), execute(0)]);
  runs.set(step, run);
  return run;
}

/** @param rows 0 for all. */
const execute = (rows: number): Buffer => serialize.execute({ rows });

/**
 * A statement in a portal of its own, after steps that make the session ready for it: all of it goes out at once, in the
 * extended protocol, where a statement is one statement. Rows are read batch by batch and serialized as they arrive.
 */
export class Portal implements Submittable {
  readonly #options: PortalOptions;
  readonly #rows: RowSerializer;
  #connection: Connection | undefined;
  #stepsLeft: number;
  #unread = 0;
  #unwanted = 0;
  #batches = 0;
  #state: 'unsent' | 'running' | 'suspended' | 'done' = 'unsent';
  /** Whether the end of the transaction was asked for. */
  #endSent = false;
  #onlyRead = true;
  #rolledBack = false;
  #atRest: boolean | undefined;
  #error: Error | undefined;
  #batch = Promise.withResolvers<undefined>();
  readonly #idle = Promise.withResolvers<boolean>();

  constructor(options: PortalOptions) {
    this.#options = options;
    this.#rows = options.rows;
    this.#stepsLeft = options.before.length;
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
    this.#options.session.reader = this;
    const { before, text, small } = this.#options;
    const [ask, end] = small ? [execute(this.#rows.wanted), this.#end()] : [this.#fetch(firstBatchRows), flush];
    // One packet, not one for each message.
    this.#write([...before.map((step) => this.#stepOf(step)), serialize.parse({ text }), start, ask, end]);
  }

  /** The statement has come to its end, and not to a failure, which it throws. */
  get complete(): boolean {
    if (this.#error !== undefined) throw this.#error;
    return this.#state === 'done';
  }

  /** So few rows that they can be asked for at once the next time. Known once complete. */
  get wasSmall(): boolean {
    return this.#batches === 0 && !this.#rows.full && this.#rows.bytes <= smallBytes;
  }

  /** Resolves when the session is at rest: true where the statement only read, and nothing of the transaction is left in it. */
  get idle(): Promise<boolean> {
    return this.#idle.promise;
  }

  /** Resolves when the rows asked for have arrived, or all there are. Rejects with what ended the statement. */
  async batch(): Promise<void> {
    if (this.#state === 'suspended') {
      if (this.#rows.full) this.#finish();
      else {
        this.#batch = Promise.withResolvers();
        this.#batch.promise.catch(() => {});
        this.#state = 'running';
        this.#write([this.#fetch(this.#rowsOfBatch()), flush]);
      }
    }
    await this.#batch.promise;
  }

  /** What `idle` resolves with, once that is known. */
  get atRest(): boolean | undefined {
    return this.#atRest;
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
    this.#batches += 1;
    if (this.#rows.full) this.#finish();
    this.#batch.resolve(undefined);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#unread = 0;
    if (this.#stepsLeft > 0) {
      this.#stepsLeft -= 1;
      return;
    }
    if (this.#state === 'done') {
      this.#rolledBack = text === 'ROLLBACK';
      return;
    }
    this.#onlyRead = onlyReads.test(text);
    this.#finish();
    this.#batch.resolve(undefined);
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleError(error: Error): void {
    // What fails once all rows are there is the end of the transaction, and not the statement.
    if (this.#state !== 'done') {
      this.#finish();
      this.fail(error);
    }
    // The driver does not say any more when a session that failed is ready again.
    this.#rest(false);
  }

  handleReadyForQuery(): void {
    this.#release();
    this.#rest(this.#onlyRead && this.#rolledBack);
  }

  #rest(kept: boolean): void {
    this.#atRest ??= kept;
    this.#idle.resolve(kept);
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

  #fetch(rows: number): Buffer {
    return execute(Math.min(rows, this.#rows.wanted));
  }

  #finish(): void {
    if (this.#state === 'done') return;
    this.#state = 'done';
    this.#release();
    if (!this.#endSent) this.#write([this.#end()]);
  }

  #end(): Buffer {
    this.#endSent = true;
    return Buffer.concat([this.#stepOf(this.#options.after), sync]);
  }

  #stepOf(step: Step): Buffer {
    const { prepared } = this.#options.session;
    const { name, text } = step;
    const run = runOf(step);
    if (prepared.has(name)) return run;
    prepared.add(name);
    return Buffer.concat([serialize.parse({ name, text }), run]);
  }

  #write(messages: readonly Buffer[]): void {
    const stream = this.#connection?.stream;
    if (stream?.writable === true) stream.write(Buffer.concat(messages));
  }

  #release(): void {
    const { session } = this.#options;
    if (session.reader === this) session.reader = undefined;
  }

  /** Of a row that is too long, or of rows that nobody wants, no more is taken in than must be. */
  arrived(chunk: Buffer): void {
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
  }
}

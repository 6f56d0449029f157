import { DatabaseError } from 'pg-protocol';
import type { RowSerializer } from './rows.ts';
import type { Reader, Session } from './session.ts';
import { codes, errorOf, fieldsOf, tagOf } from './wire/frames.ts';
import type { NamedStatement } from './known-small.ts';
import {
  around,
  carryOut,
  ending,
  execute,
  flush,
  keep,
  run,
  start,
  unread,
  whole,
  type Step,
} from './wire/packets.ts';

/** One row that a result may not hold: all of it would be kept in memory at once. */
export class RowTooLong extends Error {}

/** Of rows that came after the last one wanted; more is not waited for. */
export const mostUnwantedBytes = 4 << 20;
const batchBytes = 512 << 10;
const firstBatchRows = 1_024;
/** Results known to be at most this large are fetched in one round trip. */
export const mostSmallBytes = 1 << 20;
const none = Buffer.alloc(0);

export interface PortalOptions {
  readonly before: readonly Step[];
  /** Plain text, or a prepared statement. */
  readonly statement: string | NamedStatement;
  readonly after: readonly Step[];
  readonly session: Pick<Session, 'prepared' | 'statements' | 'reader' | 'stream' | 'ended'>;
  /** The bytes of a statement that is known for few rows: all are asked for at once, and its end with them, in one round trip. */
  readonly small: number | undefined;
  readonly rows: RowSerializer;
}

/** What only reads: a command of another kind (`DO`, `PREPARE`) may have changed what our steps mean in its session. */
export const onlyReads = /^(?:SELECT|EXPLAIN)\b/;

/**
 * A statement in a portal of its own, after steps that make the session ready for it: all of it goes out at once, in the
 * extended protocol, where a statement is one statement. Rows are read batch by batch, from the bytes that arrive: until the
 * session is ready for another one the driver sees none of them, and takes the session to be at rest.
 */
export class Portal implements Reader {
  readonly #options: PortalOptions;
  readonly #rows: RowSerializer;
  #stepsLeft: number;
  #unwanted = 0;
  #state: 'unsent' | 'running' | 'suspended' | 'done' = 'unsent';
  /** Whether the end of the transaction was asked for. */
  #endSent = false;
  /** Whether its own end was said, or never will be. */
  #ownEnd = false;
  /** And did not fail. */
  #onlyRead = true;
  #rolledBack = false;
  #atRest: boolean | undefined;
  #error: Error | undefined;
  #waiting: PromiseWithResolvers<void> | undefined;
  #idle: PromiseWithResolvers<boolean> | undefined;

  constructor(options: PortalOptions) {
    this.#options = options;
    this.#rows = options.rows;
    this.#stepsLeft = options.before.length;
  }

  send(): void {
    const { before, statement, after, session, small } = this.#options;
    if (session.ended || !session.stream.writable) {
      this.#endSent = true;
      this.closed(new Error('the connection ended'));
      return;
    }
    this.#state = 'running';
    session.reader = this;
    this.#endSent = small !== undefined;
    if (small !== undefined) this.#rows.expect(small);
    const first = unread(before, session.prepared);
    const second = small === undefined ? none : unread(after, session.prepared);
    if (typeof statement === 'string') {
      const last = small === undefined ? Buffer.concat([start, this.#fetch(firstBatchRows), flush]) : whole(after);
      this.#write(around(statement, [first, second, run(before)], last));
    } else {
      // After the steps: if those fail, the server skips everything up to Sync.
      const kept = keep(statement, session.statements);
      this.#write(Buffer.concat([first, second, run(before), kept, carryOut(statement), ending(after)]));
    }
  }

  /** The statement has come to its end, and not to a failure, which it throws. */
  get complete(): boolean {
    if (this.#error !== undefined) throw this.#error;
    return this.#state === 'done';
  }

  get failureCode(): string | undefined {
    return this.#error instanceof DatabaseError ? this.#error.code : undefined;
  }

  /** Of its rows, where they are so few that they can be asked for at once the next time. Known once complete. */
  get smallBytes(): number | undefined {
    return this.#rows.full || this.#rows.bytes > mostSmallBytes ? undefined : this.#rows.bytes;
  }

  /** Whether the statement only read, and nothing of the transaction is left in the session. Known once that is at rest. */
  get atRest(): boolean | undefined {
    return this.#atRest;
  }

  get idle(): Promise<boolean> {
    if (this.#atRest !== undefined) return Promise.resolve(this.#atRest);
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  /**
   * Resolves when the rows asked for have arrived, or all there are; undefined where they are there. Rejects with what ended
   * the statement.
   */
  batch(): Promise<void> | undefined {
    if (this.#state === 'suspended') {
      if (this.#rows.full) this.#finish();
      else {
        this.#state = 'running';
        this.#write(Buffer.concat([this.#fetch(this.#rowsOfBatch()), flush]));
      }
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#state !== 'running') return undefined;
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** Ends a statement that stands between two batches. False where one is under way: it must be cancelled. */
  end(): boolean {
    if (this.#state === 'suspended') this.#finish();
    return this.#state === 'done';
  }

  /** It has more rows than are wanted, which were all asked for, and has not come to its end. */
  get runsOn(): boolean {
    return this.#state === 'done' && !this.#ownEnd;
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#waiting?.reject(this.#error);
    this.#waiting = undefined;
  }

  closed(error: Error): void {
    this.#broken(error);
    this.#rest(false);
  }

  message(code: number, bytes: Buffer, from: number, end: number): boolean {
    switch (code) {
      case codes.dataRow:
        return this.#row(bytes, from, end);
      case codes.commandComplete:
        this.#completed(bytes, from, end);
        return true;
      case codes.rowDescription: {
        const fields = fieldsOf(bytes, from, end);
        if (fields === undefined) this.unreadable('not the protocol');
        else this.#rows.describe(fields);
        return fields !== undefined;
      }
      case codes.portalSuspended:
        this.#state = 'suspended';
        if (this.#rows.full) this.#finish();
        this.#tell();
        return true;
      case codes.readyForQuery:
        this.#rest(this.#onlyRead && this.#rolledBack);
        return false;
      case codes.error:
        this.#broken(errorOf(bytes.subarray(from - 5, end)));
        return true;
      case codes.emptyQuery:
        this.#ended(false);
        return true;
      case codes.copyIn:
      case codes.copyOut:
      case codes.copyBoth:
      case codes.copyData:
        // A statement that copies is not one of ours.
        this.#options.session.stream.destroy(new Error('the statement copies'));
        return false;
      default:
        // That something was read or bound, or a notice.
        return true;
    }
  }

  unreadable(why: 'too long' | 'not the protocol'): void {
    const error =
      why === 'too long' ? new RowTooLong('a row is too long to be read') : new Error('no message of PostgreSQL');
    this.fail(error);
    this.#options.session.stream.destroy(error);
  }

  #row(bytes: Buffer, from: number, end: number): boolean {
    if (this.#stepsLeft > 0) return true;
    if (this.#rows.full) {
      this.#unwanted += end - from;
      if (this.#unwanted <= mostUnwantedBytes) return true;
      this.#state = 'done';
      this.#endSent = true;
      this.#tell();
      this.#options.session.stream.destroy();
      return false;
    }
    if (!this.#rows.add(bytes, from, end)) {
      this.unreadable('not the protocol');
      return false;
    }
    // It was taken for one of few rows. Those who wait have theirs; what else comes, and the end, is not waited for here.
    if (this.#rows.full && this.#endSent && this.#state === 'running') {
      this.#state = 'done';
      this.#tell();
    }
    return true;
  }

  #completed(bytes: Buffer, from: number, end: number): void {
    if (this.#stepsLeft > 0) {
      this.#stepsLeft -= 1;
      return;
    }
    const tag = tagOf(bytes, from, end);
    if (this.#ownEnd) this.#rolledBack = tag === 'ROLLBACK';
    else this.#ended(onlyReads.test(tag));
  }

  #ended(onlyRead: boolean): void {
    this.#ownEnd = true;
    this.#onlyRead = onlyRead;
    this.#finish();
    this.#tell();
  }

  #broken(error: Error): void {
    this.#onlyRead = false;
    // What fails once all rows are there is the end of the transaction, and not the statement.
    if (this.#state === 'done') return;
    this.#finish();
    this.fail(error);
  }

  #tell(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #rest(kept: boolean): void {
    const { session } = this.#options;
    if (session.reader === this) session.reader = undefined;
    this.#atRest ??= kept;
    this.#idle?.resolve(this.#atRest);
  }

  #rowsOfBatch(): number {
    const mean = this.#rows.meanRowBytes;
    if (mean === 0) return firstBatchRows;
    const rows = Math.max(16, Math.min(10_000, Math.floor(batchBytes / mean)));
    this.#rows.expect(Math.min(rows, this.#rows.wanted) * mean);
    return rows;
  }

  #fetch(rows: number): Buffer {
    return execute(Math.min(rows, this.#rows.wanted));
  }

  #finish(): void {
    if (this.#state === 'done') return;
    if (this.#state === 'suspended') this.#ownEnd = true;
    this.#state = 'done';
    if (this.#endSent) return;
    this.#endSent = true;
    const { after, session } = this.#options;
    this.#write(Buffer.concat([unread(after, session.prepared), ending(after)]));
  }

  #write(packet: Buffer): void {
    const { stream } = this.#options.session;
    if (stream.writable) stream.write(packet);
  }
}

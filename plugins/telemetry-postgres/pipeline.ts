import type { Cursor, CursorEnd, ResultColumn, RowChunk } from '../../src/contract/index.ts';
import { quickMs, type NamedStatement, type SmallStatement } from './known-small.ts';
import type { Lease } from './lease.ts';
import { mostSmallBytes, onlyReads } from './portal.ts';
import type { QueryRequest } from './query.ts';
import { RowSerializer } from './rows.ts';
import type { Reader } from './session.ts';
import { codes, fieldsOf, tagOf, type Field } from './wire/messages.ts';
import { carryOut, ending, keep, run, unread, type Step } from './wire/packets.ts';

/** One of the statements that are sent together. */
export interface Member {
  readonly request: QueryRequest;
  readonly named: NamedStatement;
  readonly known: SmallStatement;
  /** Its rows; undefined where it must be sent by itself, which also tells what is wrong with it. */
  readonly answer: (cursor: Cursor | undefined) => void;
}

/** Who is not answered by then goes by itself, and is not waited for any longer by the others. */
const patienceMs = 100;

/**
 * Several small statements of one tenant in one transaction, one packet and one answer: the same steps make the session
 * ready for all of them. Whatever goes wrong, each that has no answer is sent by itself: all of them only read.
 */
export class Pipeline implements Reader {
  readonly #lease: Lease;
  readonly #members: readonly Member[];
  readonly #timer: NodeJS.Timeout;
  readonly #before: readonly Step[];
  readonly #after: readonly Step[];
  #onRest: (() => void) | undefined;
  #stepsLeft: number;
  #next = 0;
  /** Of the next one. */
  #rows: RowSerializer | undefined;
  #sentAt = 0;
  #rolledBack = false;

  /** @param onRest no more of them is under way. */
  constructor(
    lease: Lease,
    members: readonly Member[],
    { before, after }: Pick<QueryRequest, 'before' | 'after'>,
    onRest: () => void,
  ) {
    this.#lease = lease;
    this.#members = members;
    this.#before = before;
    this.#after = after;
    this.#stepsLeft = before.length;
    this.#onRest = onRest;
    this.#timer = setTimeout(() => this.#late(), patienceMs);
    lease.onAbandon = () => this.#scatter();
  }

  send(): void {
    const { session } = this.#lease;
    if (session.ended || !session.stream.writable) {
      this.closed();
      return;
    }
    session.reader = this;
    const { prepared } = session;
    const packet = [unread(this.#before, prepared), unread(this.#after, prepared), run(this.#before)];
    for (const { named } of this.#members) packet.push(keep(named, session.statements), carryOut(named));
    packet.push(ending(this.#after));
    session.stream.write(Buffer.concat(packet));
    this.#sentAt = performance.now();
  }

  message(code: number, bytes: Buffer, from: number, end: number): boolean {
    switch (code) {
      case codes.dataRow:
        // The steps have rows too, which nobody reads.
        if (this.#rows?.add(bytes, from, end) !== false) return true;
        this.unreadable();
        return false;
      case codes.rowDescription:
        return this.#describe(fieldsOf(bytes, from, end));
      case codes.commandComplete:
        this.#completed(tagOf(bytes, from, end));
        return true;
      case codes.readyForQuery:
        this.#rest();
        return false;
      case codes.error:
        this.#scatter();
        return true;
      case codes.copyIn:
      case codes.copyOut:
      case codes.copyBoth:
      case codes.copyData:
        this.unreadable();
        return false;
      default:
        return true;
    }
  }

  closed(): void {
    this.#scatter();
    this.#rest();
  }

  unreadable(): void {
    this.#scatter();
    this.#lease.session.stream.destroy(new Error('no message of PostgreSQL'));
  }

  #describe(fields: readonly Field[] | undefined): boolean {
    if (fields === undefined) {
      this.unreadable();
      return false;
    }
    const member = this.#members[this.#next];
    if (member === undefined) return true;
    this.#rows = new RowSerializer(member.request.limits);
    this.#rows.expect(member.known.bytes);
    this.#rows.describe(fields);
    return true;
  }

  #completed(tag: string): void {
    const [rows, member] = [this.#rows, this.#members[this.#next]];
    this.#rows = undefined;
    if (this.#stepsLeft > 0) this.#stepsLeft -= 1;
    else if (member === undefined) this.#rolledBack = tag === 'ROLLBACK';
    else if (rows === undefined || !onlyReads.test(tag)) this.#scatter();
    else {
      this.#next += 1;
      const { tenant, text, small } = member.request;
      const few = !rows.full && rows.bytes <= mostSmallBytes;
      small.note(tenant, text, few ? { bytes: rows.bytes, quick: true } : undefined);
      member.answer(new Arrived(rows));
    }
  }

  #late(): void {
    // What has arrived, and was not read yet, is in time.
    setImmediate(() => {
      if (this.#next >= this.#members.length) return;
      this.#members[this.#next]?.known.isSlow();
      void this.#lease.abandon();
      this.#over();
    });
  }

  /** Those that were not answered are sent by themselves. */
  #scatter(): void {
    for (const { answer } of this.#members.slice(this.#next)) answer(undefined);
    this.#next = Number.POSITIVE_INFINITY;
  }

  #rest(): void {
    const { session } = this.#lease;
    if (session.reader === this) session.reader = undefined;
    const slow = performance.now() - this.#sentAt > quickMs.alone + quickMs.each * this.#members.length;
    for (const { known } of this.#members) known.wasSlow(slow);
    if (this.#rolledBack && this.#next === this.#members.length) this.#lease.release();
    else void this.#lease.giveBack();
    this.#over();
  }

  #over(): void {
    clearTimeout(this.#timer);
    this.#onRest?.();
    this.#onRest = undefined;
  }
}

/** All rows of a statement that has ended. */
class Arrived implements Cursor {
  readonly #rows: RowSerializer;
  end: CursorEnd | undefined;

  constructor(rows: RowSerializer) {
    this.#rows = rows;
  }

  get columns(): readonly ResultColumn[] {
    return this.#rows.columns;
  }

  read(): RowChunk | undefined {
    const chunk = this.#rows.take();
    if (chunk === undefined) this.end = this.#rows.end;
    return chunk;
  }

  close(): undefined {
    return undefined;
  }
}

import type {
  Cursor,
  CursorEnd,
  QueryLimits,
  ResultColumn,
  RowChunk,
  StatementLabel,
} from '../../src/contract/telemetry/index.ts';
import type { Connections } from './connections.ts';
import {
  ServerTime,
  quickMs,
  type KnownSmall,
  type NamedStatement,
  type Seen,
  type SmallStatement,
} from './known-small.ts';
import type { Lease, Reader, Session } from './session.ts';
import { mostSmallBytes, mostUnwantedBytes, onlyReads } from './portal.ts';
import { RowSerializer } from './rows.ts';
import { codes, type Field, fieldsOf, tagOf } from './wire/frames.ts';
import { carryOut, ending, keep, run, unread, type Step } from './wire/packets.ts';

export interface QueryRequest {
  readonly connections: Connections;
  readonly tenant: string;
  readonly before: readonly Step[];
  readonly text: string;
  /** Who asks: sent before the statement. */
  readonly label: StatementLabel | undefined;
  readonly after: readonly Step[];
  readonly small: KnownSmall;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
  readonly explain: (error: unknown, sent: string) => unknown;
}

export interface Member {
  readonly request: QueryRequest;
  readonly named: NamedStatement;
  readonly known: SmallStatement;
  /** Its rows; undefined if it must be sent alone, which then also reports its error. */
  readonly answer: (cursor: Cursor | undefined) => void;
}

export interface PipelineLease extends Pick<Lease, 'release' | 'giveBack' | 'abandon'> {
  readonly session: Pick<Session, 'prepared' | 'statements' | 'reader' | 'stream' | 'ended'>;
  onAbandon: (() => void) | undefined;
}

/** Statements without an answer by then are sent alone, so that later ones do not wait for them. */
const patienceMs = 100;
/** After this time more, the statement is cancelled and the connection closed. */
const stallMs = 1_000;

/**
 * Several small statements of one tenant in one transaction, one packet and one answer: they share the session's set-up.
 * After any failure, each statement without an answer is sent alone, which is safe since all of them only read.
 */
export class Pipeline implements Reader {
  readonly #lease: PipelineLease;
  #members: readonly Member[];
  #timer: NodeJS.Timeout;
  readonly #before: readonly Step[];
  readonly #after: readonly Step[];
  #onOver: ((late: boolean) => void) | undefined;
  #stepsLeft: number;
  #next = 0;
  #rows: RowSerializer | undefined;
  #unwanted = 0;
  readonly #took = new ServerTime();
  #scattered = false;
  #failed = false;
  #rolledBack = false;

  /** @param onOver none of them is waited for any longer: they were answered, or it was too late. */
  constructor(
    lease: PipelineLease,
    members: readonly Member[],
    { before, after }: Pick<QueryRequest, 'before' | 'after'>,
    onOver: (late: boolean) => void,
  ) {
    this.#lease = lease;
    this.#members = members;
    this.#before = before;
    this.#after = after;
    this.#stepsLeft = before.length;
    this.#onOver = onOver;
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
  }

  message(code: number, bytes: Buffer, from: number, end: number): boolean {
    switch (code) {
      case codes.dataRow:
        return this.#row(bytes, from, end);
      case codes.rowDescription:
        return this.#describe(fieldsOf(bytes, from, end));
      case codes.commandComplete:
        this.#completed(tagOf(bytes, from, end));
        return true;
      case codes.readyForQuery:
        this.#rest();
        return false;
      case codes.error:
      // Whose the next rows are would be a guess.
      case codes.emptyQuery:
      case codes.portalSuspended:
        this.#fail();
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
    this.#fail();
    this.#rest();
  }

  unreadable(): void {
    this.#fail();
    this.#lease.session.stream.destroy(new Error('no message of PostgreSQL'));
  }

  #describe(fields: readonly Field[] | undefined): boolean {
    if (fields === undefined) {
      this.unreadable();
      return false;
    }
    const member = this.#members[this.#next];
    if (this.#scattered || member === undefined) return true;
    this.#rows = new RowSerializer(member.request.limits);
    this.#rows.expect(member.known.bytes);
    this.#rows.describe(fields);
    return true;
  }

  #row(bytes: Buffer, from: number, end: number): boolean {
    // Rows of the steps are skipped.
    if (this.#stepsLeft > 0) return true;
    if (this.#rows !== undefined && !this.#rows.full) {
      if (this.#rows.add(bytes, from, end)) return true;
    } else {
      this.#unwanted += end - from;
      if (this.#unwanted <= mostUnwantedBytes) return true;
      this.#note(undefined);
    }
    this.unreadable();
    return false;
  }

  #completed(tag: string): void {
    if (this.#stepsLeft > 0) {
      this.#stepsLeft -= 1;
      return;
    }
    const [rows, member] = [this.#rows, this.#members[this.#next]];
    if (member === undefined) {
      this.#rolledBack = tag === 'ROLLBACK';
      return;
    }
    this.#rows = undefined;
    if (!onlyReads.test(tag)) this.#fail();
    else if (rows === undefined) {
      if (!this.#scattered) this.#fail();
    } else {
      this.#note(!rows.full && rows.bytes <= mostSmallBytes ? { bytes: rows.bytes, quick: true } : undefined);
      member.answer(new Arrived(rows));
    }
    this.#next += 1;
  }

  #note(seen: Seen | undefined): void {
    const { request } = this.#members[this.#next] ?? {};
    request?.small.note(request.tenant, request.text, seen);
  }

  #late(): void {
    // What has arrived, and was not read yet, is in time.
    setImmediate(() => {
      if (this.#onOver === undefined) return;
      this.#members[this.#next]?.known.isSlow();
      this.#scatter();
      this.#over(true);
      // After a moment's stall the session is as good as before.
      this.#timer = setTimeout(() => void this.#lease.abandon(), stallMs);
    });
  }

  /** What it leaves in the session is not known. */
  #fail(): void {
    this.#failed = true;
    this.#scatter();
  }

  /** Those that were not answered are sent by themselves. */
  #scatter(): void {
    if (this.#scattered) return;
    this.#scattered = true;
    this.#rows = undefined;
    for (const { answer } of this.#members.slice(this.#next)) answer(undefined);
  }

  #rest(): void {
    const { session } = this.#lease;
    if (session.reader === this) session.reader = undefined;
    const slow = this.#took.ms > quickMs.alone + quickMs.each * this.#members.length;
    // Once each, however often it is among them.
    for (const known of new Set(this.#members.map((member) => member.known))) known.wasSlow(slow);
    // No more answers will come for the remaining members.
    this.#scatter();
    // V8 may keep what has ended until its next full collection: without this, all its callers' objects with it, which tripled
    // what each small collection had to copy.
    this.#members = [];
    if (this.#rolledBack && !this.#failed) this.#lease.release();
    else void this.#lease.giveBack();
    this.#over(false);
  }

  #over(late: boolean): void {
    clearTimeout(this.#timer);
    const told = this.#onOver;
    this.#onOver = undefined;
    told?.(late);
  }
}

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

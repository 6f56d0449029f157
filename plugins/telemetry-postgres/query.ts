import type { Cursor, CursorEnd, QueryLimits, ResultColumn, RowChunk } from '../../src/contract/index.ts';
import type { Connections, Lease } from './connections.ts';
import { Stopped } from './failures.ts';
import type { KnownSmall } from './known-small.ts';
import { Portal, type Step } from './portal.ts';
import { RowSerializer } from './rows.ts';

export interface QueryRequest {
  readonly connections: Connections;
  readonly tenant: string;
  readonly before: readonly Step[];
  /** The statement, and what is sent before it to say who asks. */
  readonly text: string;
  readonly label: string;
  readonly after: Step;
  readonly small: KnownSmall;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
  /** What is made of a failure while rows are read. */
  readonly explain: (error: unknown) => unknown;
}

/** The server ends a statement itself at its time-out; so much later it is stopped from here. */
const graceMs = 200;

/**
 * Runs one statement on a connection of its own until it is read to its end, closed, aborted or out of time. Whichever it
 * is, the connection goes back clean or is closed. Rejects with what happened.
 */
export async function runQuery(request: QueryRequest): Promise<Cursor> {
  const { connections, tenant, limits, signal } = request;
  if (signal.aborted) throw new Stopped('cancelled');
  const endsAt = performance.now() + limits.timeoutMs + graceMs;
  let lease: Lease;
  try {
    lease = await connections.lease(signal, tenant, limits.timeoutMs + graceMs);
  } catch (error) {
    throw signal.aborted ? new Stopped('cancelled') : error;
  }
  const running = new RunningStatement(request, lease, endsAt);
  await running.begin();
  return running;
}

class RunningStatement implements Cursor {
  readonly #lease: Lease;
  readonly #signal: AbortSignal;
  readonly #small: KnownSmall;
  readonly #text: string;
  readonly #rows: RowSerializer;
  readonly #portal: Portal;
  readonly #explain: QueryRequest['explain'];
  readonly #timer: NodeJS.Timeout;
  readonly #leave = (): void => this.#stop('cancelled');
  #first: RowChunk | undefined;
  #ended = false;
  #finished: Promise<void> | undefined;
  end: CursorEnd | undefined;

  constructor(request: QueryRequest, lease: Lease, endsAt: number) {
    const { before, text, label, after, small, limits, signal } = request;
    const { session } = lease;
    this.#explain = request.explain;
    this.#lease = lease;
    this.#signal = signal;
    this.#small = small;
    this.#text = text;
    this.#rows = new RowSerializer(limits);
    this.#portal = new Portal({ before, text: label + text, after, session, small: small.has(text), rows: this.#rows });
    this.#timer = setTimeout(() => this.#stop('timeout'), Math.max(1, endsAt - performance.now()));
    signal.addEventListener('abort', this.#leave, { once: true });
    lease.onAbandon = () => this.#portal.fail(new Stopped('closing'));
  }

  get columns(): readonly ResultColumn[] {
    return this.#rows.columns;
  }

  /** Sends it, and waits for the first rows. */
  async begin(): Promise<void> {
    if (this.#signal.aborted) this.#stop('cancelled');
    else this.#lease.client.query(this.#portal);
    this.#first = await this.#next();
  }

  async read(): Promise<RowChunk | undefined> {
    if (this.#ended) return undefined;
    const chunk = this.#first ?? (await this.#next());
    this.#first = undefined;
    if (chunk === undefined) {
      this.#ended = true;
      this.end = this.#rows.end;
      this.#small.note(this.#text, this.#portal.wasSmall);
      void this.#finish();
    }
    return chunk;
  }

  async close(): Promise<void> {
    if (!this.#ended) this.#portal.fail(new Stopped('cancelled'));
    this.#ended = true;
    await this.#finish();
  }

  async #next(): Promise<RowChunk | undefined> {
    try {
      for (;;) {
        const { complete } = this.#portal;
        const chunk = this.#rows.take();
        if (chunk !== undefined || complete) return chunk;
        await this.#portal.batch();
      }
    } catch (error) {
      void this.#finish();
      throw this.#explain(error);
    }
  }

  #stop(why: 'cancelled' | 'timeout'): void {
    this.#portal.fail(new Stopped(why));
    void this.#lease.abandon();
  }

  #finish(): Promise<void> {
    this.#finished ??= this.#letGo();
    return this.#finished;
  }

  async #letGo(): Promise<void> {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#leave);
    const ended = this.#portal.end();
    if (this.#portal.atRest === true && this.#lease.session.tenant !== undefined) this.#lease.release();
    else await (ended ? this.#lease.giveBack(this.#portal.idle) : this.#lease.abandon());
  }
}

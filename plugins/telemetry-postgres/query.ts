import { Stopped, within } from '../../src/contract/core/index.ts';
import {
  labelComment,
  type Cursor,
  type CursorEnd,
  type ResultColumn,
  type RowChunk,
} from '../../src/contract/telemetry/index.ts';
import type { Lease } from './session.ts';
import { ServerTime, quickMs } from './known-small.ts';
import type { Pipelines } from './pipelines.ts';
import { Portal } from './portal.ts';
import type { QueryRequest } from './pipeline.ts';
import { RowSerializer } from './rows.ts';

/** The server ends a statement itself at its time-out; so much later it is stopped from here. */
const graceMs = 500;

/**
 * Runs one statement. Where it is known to have few rows in a moment, it goes in one transaction with others of its asker that
 * are opened at once; else, or where they failed, on a connection of its own.
 */
export async function openStatement(request: QueryRequest, pipelines: Pipelines): Promise<Cursor> {
  const { tenant, text, label, small, signal, limits } = request;
  if (signal.aborted) throw new Stopped('cancelled');
  const endsAt = performance.now() + limits.timeoutMs + graceMs;
  const known = small.get(tenant, text);
  const named = known?.quick === true ? known.of(label) : undefined;
  const joined = known && named && (await pipelines.join({ request, named, known }));
  return joined ?? (await runAlone(request, endsAt));
}

/**
 * Runs one statement on a connection of its own until it is read to its end, closed, aborted or out of time. Whichever it
 * is, the connection goes back clean or is closed.
 */
async function runAlone(request: QueryRequest, endsAt: number): Promise<Cursor> {
  const { connections, tenant, signal } = request;
  if (signal.aborted) throw new Stopped('cancelled');
  const lease = connections.take(tenant) ?? (await waited(request, endsAt - performance.now()));
  const running = new RunningStatement(request, lease, endsAt);
  try {
    await running.begin();
    return running;
  } catch (error) {
    if (!running.isStale) throw error;
  }
  request.small.forget(request.tenant, request.text);
  return await runAlone(request, endsAt);
}

async function waited({ connections, tenant, signal }: QueryRequest, waitMs: number): Promise<Lease> {
  try {
    return await connections.lease(signal, tenant, waitMs);
  } catch (error) {
    throw signal.aborted ? new Stopped('cancelled') : error;
  }
}

const once = { once: true };
const soonMs = 200;
/** A cached plan that would answer other columns; a statement that this session does not know, or knows already. */
const staleCodes: ReadonlySet<string> = new Set(['0A000', '26000', '42P05']);
const done = Promise.resolve();

class RunningStatement implements Cursor {
  readonly #lease: Lease;
  readonly #request: QueryRequest;
  readonly #rows: RowSerializer;
  readonly #portal: Portal;
  readonly #named: boolean;
  readonly #small: boolean;
  readonly #sent: string;
  readonly #timer: NodeJS.Timeout;
  #first: RowChunk | undefined;
  #quick = false;
  #ended = false;
  #stopped = false;
  #finished: Promise<void> | undefined;
  end: CursorEnd | undefined;

  constructor(request: QueryRequest, lease: Lease, endsAt: number) {
    const { before, tenant, text, label, after, small, limits, signal } = request;
    const { session } = lease;
    const known = small.get(tenant, text);
    const named = known?.of(label);
    this.#request = request;
    this.#lease = lease;
    this.#rows = new RowSerializer(limits);
    this.#named = named !== undefined;
    this.#small = known !== undefined;
    this.#sent = named?.text ?? labelComment(label) + text;
    this.#portal = new Portal({
      before,
      statement: named ?? this.#sent,
      after,
      session,
      small: known?.bytes,
      rows: this.#rows,
    });
    this.#timer = setTimeout(() => this.#stop('timeout'), Math.max(1, endsAt - performance.now()));
    signal.addEventListener('abort', this, once);
    lease.onAbandon = () => this.#portal.fail(new Stopped('closing'));
  }

  get columns(): readonly ResultColumn[] {
    return this.#rows.columns;
  }

  async begin(): Promise<void> {
    if (this.#request.signal.aborted) this.#stop('cancelled');
    else this.#portal.send();
    const took = new ServerTime();
    this.#first = await this.#next();
    this.#quick = took.ms < quickMs.alone;
    // A result read to its end frees its session, even if the caller takes the rows later.
    if (this.#portal.atRest === true) void this.#finish();
  }

  /** The server no longer carries out what it was to keep: a table or a view has changed since, or its session is another. */
  get isStale(): boolean {
    return this.#named && staleCodes.has(this.#portal.failureCode ?? '');
  }

  read(): Promise<RowChunk | undefined> | RowChunk | undefined {
    if (this.#ended) return undefined;
    const chunk = this.#first;
    this.#first = undefined;
    if (chunk !== undefined) return chunk;
    if (this.#portal.atRest !== true) return this.#readOn();
    // All has arrived.
    const rest = this.#rows.take();
    if (rest === undefined) this.#end();
    return rest;
  }

  async #readOn(): Promise<RowChunk | undefined> {
    const chunk = await this.#next();
    if (chunk === undefined) this.#end();
    return chunk;
  }

  #end(): void {
    this.#ended = true;
    this.end = this.#rows.end;
    this.#note(this.#portal.smallBytes);
    void this.#finish();
  }

  close(): Promise<void> | undefined {
    if (!this.#ended) this.#portal.fail(new Stopped('cancelled'));
    this.#ended = true;
    const finished = this.#finish();
    return finished === done ? undefined : finished;
  }

  handleEvent(): void {
    this.#stop('cancelled');
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
      // After a timeout or failure, the statement no longer counts as small.
      if (this.#small && !this.isStale) this.#note(undefined);
      // A stopped statement may run on for a moment and keeps its slot until then; its caller has left.
      if (this.#stopped) await this.#finish();
      else void this.#finish();
      throw this.#request.explain(error, this.#sent);
    }
  }

  #note(bytes: number | undefined): void {
    const { small, tenant, text } = this.#request;
    small.note(tenant, text, bytes === undefined ? undefined : { bytes, quick: this.#quick });
  }

  #stop(why: 'cancelled' | 'timeout'): void {
    this.#stopped = true;
    this.#portal.fail(new Stopped(why));
    void this.#lease.abandon();
  }

  #finish(): Promise<void> {
    this.#finished ??= this.#letGo();
    return this.#finished;
  }

  #letGo(): Promise<void> {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this);
    const ended = this.#portal.end();
    if (this.#portal.atRest === true) {
      this.#lease.release();
      return done;
    }
    if (!ended) return this.#lease.abandon();
    return this.#portal.runsOn ? this.#stopSoon() : this.#lease.giveBack(this.#portal.idle);
  }

  /** All that is wanted is there, and the server is still at it: a moment may be all it needs. */
  async #stopSoon(): Promise<void> {
    const { idle } = this.#portal;
    const rests = await within(soonMs, idle).then(
      () => true,
      () => false,
    );
    await (rests ? this.#lease.giveBack(idle) : this.#lease.abandon());
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { SightlineError, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { LogPosition, TelemetrySink } from '../../contract/telemetry/index.ts';
import { newLogName, type IngestLog, type LogChunk } from './ingest-log.ts';

const loadRows = 32_000;
const loadAfterMs = 1000;
const loadBytes = 24 * 1024 * 1024;
const loadTextBytes = 96 * 1024 * 1024;
const loadTimeoutMs = 120_000;
const firstBackoffMs = 250;
const lastBackoffMs = 15_000;

/**
 * Loads one log into the warehouse: one load at a time, of 32,000 rows or one second of arrivals. After a failure the load
 * may or may not be committed, so the warehouse's position is read before anything is sent again.
 */
export class Loader {
  readonly #organizationId: OrganizationId;
  readonly #log: IngestLog;
  readonly #sink: TelemetrySink;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  #position: LogPosition | undefined;
  #newRows = 0;
  /** When the oldest of the new rows came. */
  #newSince = 0;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;
  readonly #relieved = new Set<() => void>();
  /** Fewer after a failure, so that one batch that the warehouse cannot take does not hold up the others. */
  #mostRows = loadRows;
  /** Of the last attempt; undefined when it went well. */
  failure: unknown;
  /** How long the oldest row of the last load waited to be queryable; undefined before the first. */
  lagMs: number | undefined;

  constructor(organizationId: OrganizationId, log: IngestLog, sink: TelemetrySink, logger: Logger) {
    this.#organizationId = organizationId;
    this.#log = log;
    this.#sink = sink;
    if (log.isNew) this.#position = log.start;
    this.#logger = logger.child({ organization: organizationId, log: log.name });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Rows became durable. */
  notify(rows: number): void {
    if (this.#newRows === 0) this.#newSince = performance.now();
    this.#newRows += rows;
    this.#wake?.();
  }

  /** Resolves with the next load that goes well, or after a moment. */
  relief(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#relieved.delete(finish);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      this.#relieved.add(finish);
    });
  }

  /** Acknowledged but not yet in the warehouse. */
  get behindBytes(): number {
    return this.#log.bytesAfter(this.#position ?? this.#log.start);
  }

  /** Lets a load that runs come to its end for a moment; what is left waits in the log for the next start. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    this.#stop.abort();
    this.#wake?.();
    await this.#running;
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    let backoff = firstBackoffMs;
    let since: number | undefined;
    while (!this.#stop.signal.aborted) {
      let chunk: LogChunk | undefined;
      let release: (() => void) | undefined;
      try {
        // In the turn of the load: where organizations take turns, one of its own would double the wait.
        if (this.#position === undefined) {
          release = await this.#hold();
          this.#position = await this.#committed();
        } else {
          await this.#gather(this.#position);
          if (this.#stop.signal.aborted) return;
          release = await this.#hold();
        }
        const newSince = this.#newSince;
        chunk = await this.#nextChunk(this.#position);
        if (chunk === undefined) continue;
        since ??= newSince;
        await this.#load(chunk);
        this.#position = chunk.upTo;
        // What an earlier run left says nothing of now.
        if (since > 0) this.lagMs = performance.now() - since;
        since = undefined;
        await this.#log.release(chunk.upTo);
        this.#mostRows = Math.min(loadRows, this.#mostRows * 2);
        this.failure = undefined;
        for (const finish of this.#relieved) finish();
        backoff = firstBackoffMs;
      } catch (error) {
        // Others may have it while this one waits.
        release?.();
        if (this.#stop.signal.aborted) return;
        this.failure = error;
        this.#position = undefined;
        this.#mostRows = Math.max(1, Math.floor(Math.min(this.#mostRows, chunk?.rows ?? loadRows) / 2));
        this.#newRows += chunk?.rows ?? 0;
        const retryInMs = isRefusal(error) ? 0 : backoff;
        this.#logger.warn({ error, retryInMs }, 'the warehouse did not take a load; it stays in the log');
        if (retryInMs === 0) continue;
        await sleep(retryInMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
        backoff = Math.min(lastBackoffMs, backoff * 2);
      } finally {
        release?.();
      }
    }
  }

  async #committed(): Promise<LogPosition> {
    const committed = await this.#unlessAborted(this.#sink.committed(this.#organizationId, this.#log.name));
    const { start, end } = this.#log;
    if (committed === undefined) return start;
    if (committed.segment > end.segment || (committed.segment === end.segment && committed.offset > end.offset)) {
      // An older copy of the log was put back. Under its name the warehouse would take what comes now for what it has.
      const name = newLogName();
      await this.#log.rename(name);
      this.#logger.error(
        { committed, end, name },
        'the ingest log is older than the warehouse; all of it is loaded again',
      );
      return start;
    }
    return committed;
  }

  /** For what takes no signal itself. */
  async #unlessAborted<Value>(work: Promise<Value>): Promise<Value> {
    const { signal } = this.#abort;
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = () => reject(new Error('the loader was stopped'));
    signal.addEventListener('abort', abort);
    try {
      return await Promise.race([work, promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async #gather(position: LogPosition): Promise<void> {
    if (this.#log.bytesAfter(position) === 0) await this.#newData();
    await this.#moreData();
  }

  /** Before the rows are read: what comes in while the warehouse makes room goes with them. */
  async #hold(): Promise<(() => void) | undefined> {
    const holding = this.#sink.hold?.(this.#organizationId);
    if (holding === undefined) return undefined;
    void holding.then((release) => this.#abort.signal.aborted && release()).catch(() => undefined);
    return await this.#unlessAborted(holding);
  }

  async #nextChunk(position: LogPosition): Promise<LogChunk | undefined> {
    const chunk = await this.#log.read(position, { rows: this.#mostRows, bytes: loadBytes, textBytes: loadTextBytes });
    this.#newRows = chunk === undefined ? 0 : Math.max(0, this.#newRows - chunk.rows);
    this.#newSince = performance.now();
    return chunk;
  }

  async #load({ batches, rows, upTo }: LogChunk): Promise<void> {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(loadTimeoutMs)]);
    const load = { organizationId: this.#organizationId, log: this.#log.name, upTo };
    try {
      await this.#unlessAborted(this.#sink.load({ ...load, batches }, signal));
    } catch (error) {
      if (!isRefusal(error) || batches.length !== 1) throw error;
      const kept = await this.#log.keepRefused(batches, upTo);
      this.#logger.error({ error, rows, kept }, 'the warehouse refuses a batch for good; it is kept beside the log');
      await this.#sink.load({ ...load, batches: [] }, signal);
    }
  }

  #newData(): Promise<void> {
    return this.#pause(undefined, () => this.#newRows > 0);
  }

  #moreData(): Promise<void> {
    const waited = this.#newRows === 0 ? 0 : performance.now() - this.#newSince;
    const gatherMs = this.#sink.gatherMs?.(this.#organizationId) ?? loadAfterMs;
    return this.#pause(Math.max(0, gatherMs - waited), () => this.#newRows >= this.#mostRows);
  }

  /** Until `done` says so, the time is over or the loader is stopped. */
  #pause(milliseconds: number | undefined, done: () => boolean): Promise<void> {
    if (done() || this.#stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(() => finish(), milliseconds);
      const finish = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = () => {
        if (done() || this.#stop.signal.aborted) finish();
      };
    });
  }
}

/** It lies in the batches, not in the warehouse's state: said about a single one, it will never be taken. */
function isRefusal(error: unknown): boolean {
  return error instanceof SightlineError && error.code === 'invalid_argument';
}

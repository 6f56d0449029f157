import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { holdExclusively, type Exclusive } from '../process/exclusive.ts';
import { checkConfig } from '../wiring/config.ts';
import { choosePort, localUrl, longestCallMs } from '../wiring/listen.ts';
import type { Settings } from '../wiring/settings.ts';
import { deriveUrls } from '../wiring/urls.ts';
import { layFoundation, type Foundation } from '../wiring/workspace.ts';
import { WorkerProcess } from './worker-process.ts';
import { createKeptResults, type KeptResults } from '../../telemetry/query/kept-results.ts';
import { type FromWorker, withBuffer } from './seat.ts';

export { WorkerFailed } from './worker-process.ts';

/** The process that holds the data directory and keeps so many workers running, which serve all requests. */
export interface Primary {
  /** Resolves once all workers serve. Rejects with WorkerFailed when one cannot; `stop` then clears up. */
  start(): Promise<void>;
  /** Replaces one worker after another, each when the one before serves, with the configuration as it is now. */
  restart(): Promise<void>;
  /** Reloads the configuration here and in all workers; an invalid one changes nothing. Never rejects. */
  reload(): Promise<void>;
  /** Sets up an empty workspace. */
  greet(): void;
  /** Lets the requests in flight finish. Safe unstarted, safe twice. */
  stop(): Promise<void>;
  kill(): void;
  /** {base_url}; known once started. */
  readonly url: string;
  readonly configFile: string | undefined;
  readonly dataDirectory: string;
}

/** What a worker may need to end after its last call. */
const endingMs = 60_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

export async function createPrimary(settings: Settings, workers: number): Promise<Primary> {
  return new RunningPrimary(await layFoundation(settings), settings, workers);
}

class RunningPrimary implements Primary {
  readonly #foundation: Foundation;
  readonly #settings: Settings;
  readonly #count: number;
  readonly #workers = new Map<number, WorkerProcess>();
  /** Cut results lie here, not at a worker: any can page in them, none is lost, and limits hold for all. */
  readonly #kept: KeptResults;
  readonly #stopping = new AbortController();
  #hold: Exclusive | undefined;
  #port = 0;
  #restarting: Promise<void> | undefined;
  readonly #replacing = new Map<number, Promise<void>>();

  constructor(foundation: Foundation, settings: Settings, count: number) {
    this.#foundation = foundation;
    this.#settings = settings;
    this.#count = count;
    this.#kept = createKeptResults({ now: foundation.now });
  }

  get url(): string {
    return deriveUrls(this.#foundation.config, this.#port).publicUrl;
  }

  get configFile(): string | undefined {
    return this.#foundation.file;
  }

  get dataDirectory(): string {
    return this.#foundation.dataDirectory;
  }

  async start(): Promise<void> {
    const { config, dataDirectory, logger, file } = this.#foundation;
    this.#hold = holdExclusively(dataDirectory);
    this.#port = await choosePort(config.listen);
    // All accept from one queue in the kernel: what waits there when a worker ends, the others take.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: 'advanced' });
    // The first makes what an empty data directory lacks; the others find it.
    await this.#launch(1).serving;
    await Promise.all(this.#numbers.slice(1).map((number) => this.#launch(number).serving));
    this.#hold.announce(localUrl(config.listen.host, this.#port));
    logger.info({ url: this.url, config: file ?? 'defaults', dataDirectory, workers: this.#count }, 'serving');
    for (const [number, worker] of this.#workers) void this.#watch(number, worker);
  }

  greet(): void {
    this.#workers.get(1)?.tell({ kind: 'greet' });
  }

  async reload(): Promise<void> {
    if (!(await this.#foundation.reload())) return;
    for (const worker of this.#workers.values()) worker.tell({ kind: 'reload' });
  }

  restart(): Promise<void> {
    this.#restarting ??= this.#restart().finally(() => (this.#restarting = undefined));
    return this.#restarting;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const workers = [...this.#workers.values()];
    for (const worker of workers) worker.tell({ kind: 'stop' });
    await Promise.all(workers.map(({ ended }) => ended));
    await this.#restarting;
    this.#kept.clear();
    this.#hold?.release();
  }

  kill(): void {
    for (const worker of this.#workers.values()) worker.kill();
  }

  get #numbers(): readonly number[] {
    return Array.from({ length: this.#count }, (_, index) => index + 1);
  }

  #launch(number: number): WorkerProcess {
    const assignment = { number, of: this.#count, port: this.#port };
    const worker = new WorkerProcess(assignment, (message, from) => this.#take(message, from));
    this.#workers.set(number, worker);
    return worker;
  }

  #take(message: FromWorker, from: WorkerProcess): void {
    switch (message.kind) {
      case 'keep': {
        const id = this.#kept.keep(message.holder, withBuffer(message.result));
        from.tell({ kind: 'kept', call: message.call, ...(id === undefined ? {} : { id }) });
        break;
      }
      case 'page': {
        const page = this.#kept.findPage(message.holder, message.id, message.request);
        from.tell({ kind: 'page', call: message.call, ...(page === undefined ? {} : { page }) });
        break;
      }
      case 'admitted':
      case 'cancelled':
        for (const worker of this.#workers.values()) if (worker !== from) worker.tell(message);
        break;
      case 'serving':
    }
  }

  /** Replaces the worker when it ends of itself. */
  async #watch(number: number, worker: WorkerProcess): Promise<void> {
    const ended = await worker.ended;
    if (this.#stopping.signal.aborted || this.#workers.get(number) !== worker) return;
    const { logger } = this.#foundation;
    logger.error({ worker: number, pid: worker.pid, ended }, 'a worker ended; another takes its place');
    await this.#replace(number);
  }

  /** Never twice at once: a worker's place is its directory, too. */
  #replace(number: number): Promise<void> {
    const replacing =
      this.#replacing.get(number) ?? this.#launchUntilItServes(number).finally(() => this.#replacing.delete(number));
    this.#replacing.set(number, replacing);
    return replacing;
  }

  async #launchUntilItServes(number: number): Promise<void> {
    const { logger } = this.#foundation;
    for (let pauseMs = firstPauseMs; !this.#stopping.signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const worker = this.#launch(number);
      try {
        await worker.serving;
        void this.#watch(number, worker);
        return;
      } catch {
        if (this.#stopping.signal.aborted) return;
        logger.error({ worker: number, retryInMs: pauseMs }, 'a worker does not start; the others serve');
        await delay(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
  }

  async #restart(): Promise<void> {
    const { logger } = this.#foundation;
    try {
      await checkConfig(this.#settings);
    } catch (error) {
      logger.error({ error }, 'the workers are not restarted, since the configuration is wrong');
      return;
    }
    logger.info({ workers: this.#count }, 'restarting the workers one after another');
    for (const number of this.#numbers) {
      if (this.#stopping.signal.aborted) return;
      const worker = this.#workers.get(number);
      // No longer watched, so that it is not replaced twice.
      this.#workers.delete(number);
      if (worker) await this.#retire(worker);
      await this.#replace(number);
    }
    logger.info({ workers: this.#count }, 'restarted the workers');
  }

  async #retire(worker: WorkerProcess): Promise<void> {
    const deadline = setTimeout(() => worker.kill(), longestCallMs(this.#foundation.config) + endingMs);
    worker.tell({ kind: 'retire' });
    await worker.ended;
    clearTimeout(deadline);
  }
}

/**
 * V8 lets the old generation grow to four times its live size before it collects. A gateway lives on caches whose replaced
 * entries are garbage there, so half as much again is enough. A file of its own: `serve` loads it before everything else.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
}

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isId, type OrganizationId, type Logger } from '../../contract/core/index.ts';
import type { TelemetrySink } from '../../contract/telemetry/index.ts';
import type { EncodedBatch } from './columns.ts';
import {
  isWorkerDirectory,
  leftDirectories,
  makeDirectory,
  removeEmptied,
  workerDirectory,
  type WorkerPlace,
} from './files.ts';
import { IngestLog, isLogName, LogWriteError, newLogName } from './ingest-log.ts';
import { Loader } from './loader.ts';

const stopGraceMs = 3000;
/** What a warehouse that keeps up has before it: about two loads. */
const paceBytes = 48 * 1024 * 1024;
const paceMs = 1000;

interface Store {
  readonly log: IngestLog;
  readonly loader: Loader;
}

/** A log and a loader for each organization that sends, opened with its first request or because it left work behind. */
export class OrganizationLogs {
  readonly #directory: string;
  readonly #sink: TelemetrySink;
  readonly #logger: Logger;
  readonly #stores = new Map<OrganizationId, Promise<Store>>();
  readonly #opened = new Map<OrganizationId, Store>();
  #stopped = false;

  constructor(directory: string, sink: TelemetrySink, logger: Logger) {
    this.#directory = directory;
    this.#sink = sink;
    this.#logger = logger;
  }

  /** Opens what an earlier run left, so that it is loaded. */
  async recover(): Promise<void> {
    this.#stopped = false;
    await makeDirectory(this.#directory);
    for (const name of await readdir(this.#directory)) {
      if (isId('org', name)) await this.#store(name);
      else if (!isWorkerDirectory(name))
        this.#logger.warn({ name }, 'not an organization, left alone in the ingest directory');
    }
  }

  /** Resolves when the batches are durable; rejects with LogWriteError. */
  async append(organizationId: OrganizationId, batches: readonly EncodedBatch[]): Promise<void> {
    const { log, loader } = this.#opened.get(organizationId) ?? (await this.#store(organizationId));
    await log.append(batches);
    loader.notify(batches.reduce((sum, { rows }) => sum + rows, 0));
    // A sender that waits for its answer is slowed to the pace of the warehouse, so that what it sent can soon be asked for.
    if (loader.behindBytes > paceBytes && loader.failure === undefined) await loader.relief(paceMs);
  }

  /** Acknowledged bytes that wait for the warehouse. */
  behindBytes(organizationId: OrganizationId): number {
    return this.#opened.get(organizationId)?.loader.behindBytes ?? 0;
  }

  /** How long the rows of the last load waited to be queryable. */
  lagMs(organizationId: OrganizationId): number | undefined {
    return this.#opened.get(organizationId)?.loader.lagMs;
  }

  get totalBehindBytes(): number {
    return [...this.#opened.values()].reduce((sum, { loader }) => sum + loader.behindBytes, 0);
  }

  /** Whether the last write found no space. */
  get full(): boolean {
    return [...this.#opened.values()].some(({ log }) => log.full);
  }

  /** Organizations whose last load failed. */
  get failing(): readonly OrganizationId[] {
    return [...this.#opened].flatMap(([id, { loader }]) => (loader.failure === undefined ? [] : [id]));
  }

  /** With what was not loaded. */
  async forget(organizationId: OrganizationId): Promise<void> {
    const store = await this.#stores.get(organizationId)?.catch(() => undefined);
    this.#stores.delete(organizationId);
    this.#opened.delete(organizationId);
    await store?.loader.stop(stopGraceMs);
    await store?.log.close();
    await rm(join(this.#directory, organizationId), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const stores = await Promise.allSettled(this.#stores.values());
    this.#stores.clear();
    this.#opened.clear();
    await Promise.all(
      stores.map(async (store) => {
        if (store.status === 'rejected') return;
        const { loader, log } = store.value;
        await loader.stop(stopGraceMs);
        // Ends the write under way, which may be acknowledged: only then is it known what is left to load.
        await log.close();
        // With nothing left the next start has nothing to ask the warehouse.
        if (loader.behindBytes === 0) await log.remove();
      }),
    );
  }

  #store(organizationId: OrganizationId): Promise<Store> {
    let store = this.#stores.get(organizationId);
    if (store === undefined) {
      store = this.#open(organizationId);
      this.#stores.set(organizationId, store);
      // The next request tries again.
      store.catch(() => this.#stores.delete(organizationId));
    }
    return store;
  }

  async #open(organizationId: OrganizationId): Promise<Store> {
    if (this.#stopped) throw new LogWriteError(new Error('the receiver was stopped'));
    const directory = join(this.#directory, organizationId);
    await makeDirectory(directory);
    const name = (await readdir(directory)).find(isLogName) ?? newLogName();
    const log = await IngestLog.open(directory, name, this.#logger);
    const loader = new Loader(organizationId, log, this.#sink, this.#logger);
    const store = { log, loader };
    this.#opened.set(organizationId, store);
    loader.start();
    return store;
  }
}

/** The logs that a worker process writes, and those that it loads for workers that there are no more. */
export class WorkerLogs {
  readonly own: OrganizationLogs;
  readonly #logsIn: (directory: string) => OrganizationLogs;
  readonly #ingest: string;
  readonly #worker: WorkerPlace;
  /** Loaded and never written, by their directories. */
  readonly #left = new Map<string, OrganizationLogs>();

  constructor(ingest: string, worker: WorkerPlace, sink: TelemetrySink, logger: Logger) {
    this.#ingest = ingest;
    this.#worker = worker;
    this.#logsIn = (directory) => new OrganizationLogs(directory, sink, logger);
    this.own = this.#logsIn(workerDirectory(ingest, worker));
  }

  async start(): Promise<void> {
    await this.own.recover();
    for (const directory of await leftDirectories(this.#ingest, this.#worker)) {
      const logs = this.#logsIn(directory);
      this.#left.set(directory, logs);
      await logs.recover();
    }
  }

  async stop(): Promise<void> {
    await this.own.stop();
    for (const [directory, logs] of this.#left) {
      await logs.stop();
      await removeEmptied(directory);
    }
    this.#left.clear();
  }

  async forget(organizationId: OrganizationId): Promise<void> {
    for (const logs of this.#all) await logs.forget(organizationId);
  }

  /** Acknowledged bytes that wait for the warehouse. */
  get waitingBytes(): number {
    return this.#all.reduce((sum, logs) => sum + logs.totalBehindBytes, 0);
  }

  get full(): boolean {
    return this.#all.some((logs) => logs.full);
  }

  /** Organizations whose last load failed. */
  get failing(): readonly OrganizationId[] {
    return [...new Set(this.#all.flatMap((logs) => logs.failing))];
  }

  get #all(): readonly OrganizationLogs[] {
    return [this.own, ...this.#left.values()];
  }
}

import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { believedTime, errorCode, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import type { TelemetrySink } from '../../contract/telemetry/index.ts';

const everyMs = 3600_000;
export const dayMs = 24 * 3600_000;

interface RetentionOptions {
  readonly sink: TelemetrySink;
  readonly directory: Pick<Directory, 'organizations'>;
  /** Asked before each run. */
  readonly days: () => number;
  /** Keeps the time of each organization's last run. */
  readonly file: string;
  readonly now: () => Date;
  readonly logger: Logger;
}

const lastRuns = z.record(z.string(), z.number());

/**
 * Deletes what is older than the retention, at the start and every hour, one organization after the other. A clock more than a
 * day ahead of the newest row and of the last run is not trusted: then time goes on from these by what this process measures.
 */
export class Retention {
  readonly #options: RetentionOptions;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** By the monotonic clock. */
  #ranAt: number | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop = new AbortController();
    this.#ranAt = undefined;
    const run = () => {
      this.#running ??= this.#run().finally(() => (this.#running = undefined));
    };
    run();
    this.#timer = setInterval(run, everyMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { directory, logger, file, now } = this.#options;
    const { signal } = this.#stop;
    const at = performance.now();
    const elapsedMs = at - (this.#ranAt ?? at);
    this.#ranAt = at;
    const doubted: OrganizationId[] = [];
    try {
      const before = await readRuns(file);
      const runs: Record<string, number> = {};
      for (const { id } of await directory.organizations()) {
        if (signal.aborted) return;
        try {
          const time = await this.#trustedTime(id, before[id], elapsedMs);
          if (time === undefined) continue;
          if (time.doubted) doubted.push(id);
          await this.#delete(id, time.ms);
          runs[id] = Math.max(time.ms, before[id] ?? 0);
        } catch (error) {
          if (signal.aborted) return;
          logger.warn({ error, organization: id }, 'old telemetry could not be deleted; tried again in an hour');
          if (before[id] !== undefined) runs[id] = before[id];
        }
      }
      await writeFile(`${file}.part`, JSON.stringify(runs), { mode: 0o600 });
      await rename(`${file}.part`, file);
    } catch (error) {
      logger.warn({ error }, 'old telemetry could not be deleted; tried again in an hour');
    }
    if (doubted.length === 0) return;
    logger.warn(
      { clock: now(), organizations: doubted.slice(0, 10), count: doubted.length },
      'the clock is more than a day ahead of the newest telemetry and of the last retention: less is deleted; check the clock',
    );
  }

  async #trustedTime(
    id: OrganizationId,
    lastRun: number | undefined,
    elapsedMs: number,
  ): Promise<{ readonly ms: number; readonly doubted: boolean } | undefined> {
    const { sink, now } = this.#options;
    const clock = now().getTime();
    const newest = await sink.newest?.(id, this.#stop.signal);
    // Nothing is stored.
    if (sink.newest !== undefined && newest === undefined) return undefined;
    return believedTime(clock, Math.max(newest?.getTime() ?? -Infinity, lastRun ?? -Infinity) + elapsedMs);
  }

  async #delete(id: OrganizationId, ms: number): Promise<void> {
    const { sink, days, logger } = this.#options;
    const olderThan = new Date(ms - days() * dayMs);
    const deleted = await sink.retain(id, olderThan, this.#stop.signal);
    if (deleted) logger.info({ organization: id, deleted, olderThan }, 'old telemetry was deleted');
  }
}

/** Without a file that can be read, the newest row has to do. */
async function readRuns(file: string): Promise<Readonly<Record<string, number>>> {
  try {
    return lastRuns.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (errorCode(error) === undefined || errorCode(error) === 'ENOENT') return {};
    throw error;
  }
}

import type { Logger } from '../../contract/core/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import type { TelemetrySink } from '../../contract/telemetry/index.ts';

const everyMs = 3600_000;
const dayMs = 24 * 3600_000;

interface RetentionOptions {
  readonly sink: TelemetrySink;
  readonly directory: Pick<Directory, 'organizations'>;
  /** Asked before each run. */
  readonly days: () => number;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Deletes what is older than the retention, at the start and every hour, one organization after the other. */
export class Retention {
  readonly #options: RetentionOptions;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop = new AbortController();
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
    const { sink, directory, days, now, logger } = this.#options;
    const olderThan = new Date(now().getTime() - days() * dayMs);
    const { signal } = this.#stop;
    try {
      for (const { id } of await directory.organizations()) {
        if (signal.aborted) return;
        await sink.retain(id, olderThan, signal).catch((error: unknown) => {
          if (!signal.aborted)
            logger.warn({ error, organization: id }, 'old telemetry could not be deleted; tried again in an hour');
        });
      }
    } catch (error) {
      logger.warn({ error }, 'old telemetry could not be deleted; tried again in an hour');
    }
  }
}

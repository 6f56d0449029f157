import { SightlineError, within, type Component, type Health, type Logger } from '../../contract/core/index.ts';

export interface Part {
  /** As an operator knows it: the plugin and its config key. */
  readonly name: string;
  readonly component: Component;
  /** Where another one than the lifecycle's is meant, in ms. */
  readonly startTimeoutMs?: number;
  /** It is on a server that other gateways use too, so that its outage says nothing of this process. */
  readonly shared?: boolean;
}

export type PartHealth = Health & Pick<Part, 'shared'>;

export interface Lifecycle {
  /** Starts one part after those before it; a failure names the part, and what had started is left for `stop`. */
  start(part: Part): Promise<void>;
  /** In reverse order; a part that hangs or fails is logged and passed over. Safe twice. */
  stop(): Promise<void>;
  health(): Promise<Readonly<Record<string, PartHealth>>>;
}

/** Ordered by hand: awilix disposes in parallel, and a store must outlive what writes to it. Deadlines are a part's, in ms. */
export function createLifecycle(options: { logger: Logger; startTimeoutMs: number; stopTimeoutMs: number }): Lifecycle {
  const { logger, startTimeoutMs, stopTimeoutMs } = options;
  const started: Part[] = [];
  return {
    async start(part) {
      started.push(part);
      try {
        await bounded(part.startTimeoutMs ?? startTimeoutMs, (signal) => part.component.start(signal));
      } catch (cause) {
        const known = cause instanceof SightlineError;
        throw new SightlineError(
          // A supervisor starts again what a server was not there for, and nothing else.
          known && isAway(cause) ? 'unavailable' : 'plugin_failed',
          `${part.name} did not start: ${known ? (cause.operatorMessage ?? cause.message) : describe(cause)}`,
          { cause, ...(known && cause.hint ? { hint: cause.hint } : {}) },
        );
      }
    },
    async stop() {
      for (const part of started.splice(0).reverse()) {
        try {
          await bounded(stopTimeoutMs, () => part.component.stop());
        } catch (error) {
          logger.error({ part: part.name, error }, 'did not stop cleanly');
        }
      }
    },
    async health() {
      const entries = started.map(async ({ name, component, shared }): Promise<[string, PartHealth]> => {
        const whose = shared === true ? { shared } : {};
        try {
          return [name, { ...(await bounded(2_000, (signal) => component.health(signal))), ...whose }];
        } catch (error) {
          logger.warn({ part: name, error }, 'health check failed');
          return [name, { ok: false, detail: 'did not answer', ...whose }];
        }
      });
      return Object.fromEntries(await Promise.all(entries));
    },
  };
}

async function bounded<T>(ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  return await within(ms, run(deadline.signal), () => {
    deadline.abort();
    return new SightlineError('unavailable', `No answer came within ${ms / 1000} s.`);
  });
}

/** Another time it may be there. */
export function isAway({ code }: SightlineError): boolean {
  return code === 'unavailable' || code === 'telemetry_unavailable';
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

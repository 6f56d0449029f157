import type { Logger } from '../../contract/core/index.ts';

/** How often each instance looks whether another has replaced the signing keys, or whether it is due itself. */
export const refreshMs = 60_000;
/** An issuer that could not look says that it is not well, and no gateway is unwell for longer than what it depends on. */
const retryMs = 1_000;

/** Polls the signing keys while the issuer runs. `look` reads them, and rejects where that is not possible. */
export function createKeyRefresh(look: () => Promise<void>, logger: Logger) {
  let failing = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();

  async function attempt(): Promise<void> {
    try {
      await look();
      failing = false;
    } catch (error) {
      if (!failing) logger.error({ error }, 'The signing keys could not be refreshed; those in memory stay in use.');
      failing = true;
    }
    arm();
  }

  function arm(): void {
    if (!running) return;
    timer = setTimeout(
      () => {
        looking = attempt();
      },
      failing ? retryMs : refreshMs,
    ).unref();
  }

  return {
    get failing() {
      return failing;
    },
    /** The caller has done the first look. */
    start() {
      running = true;
      failing = false;
      arm();
    },
    /** Resolves when none is under way. */
    async stop() {
      running = false;
      clearTimeout(timer);
      await looking;
    },
  };
}

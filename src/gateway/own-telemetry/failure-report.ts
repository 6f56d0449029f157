import type { Logger } from '../../contract/core/index.ts';

const everyMs = 60_000;

/** Says that telemetry cannot be sent: once a minute at most, however many batches fail. */
export class FailureReport {
  readonly #logger: Logger;
  readonly #endpoint: string;
  readonly #now: () => number;
  #saidAt = -Infinity;
  #unsaid = 0;

  /** @param now milliseconds that never go back. */
  constructor(logger: Logger, endpoint: string, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#endpoint = endpoint;
    this.#now = now;
  }

  failed(signal: 'traces' | 'metrics', error: Error | undefined): void {
    this.#unsaid += 1;
    const now = this.#now();
    if (now - this.#saidAt < everyMs) return;
    // Not the error itself: with it comes what the other end answered.
    const { message = 'no reason was given' } = error ?? {};
    this.#logger.warn(
      { endpoint: this.#endpoint, signal, failures: this.#unsaid, why: message.slice(0, 300) },
      'own telemetry cannot be sent; what does not fit its queue is dropped',
    );
    this.#saidAt = now;
    this.#unsaid = 0;
  }
}

import { Stopped } from '../../../src/contract/core/index.ts';

/** A signal that aborts when the caller leaves or the time is over, whichever comes first; its reason is a Stopped. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(caller: AbortSignal, timeoutMs: number) {
    this.signal = this.#controller.signal;
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#controller.abort(new Stopped('timeout')), timeoutMs);
    if (caller.aborted) this.#leave();
    else caller.addEventListener('abort', this.#leave, { once: true });
  }

  readonly #leave = (): void => {
    this.#controller.abort(new Stopped('cancelled'));
  };

  /** Whoever waits no longer. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#leave);
  }
}

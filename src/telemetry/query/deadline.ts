/** What ends a query from outside, composed once: the caller leaves, or its time is up. */
export interface Deadline {
  /** Handed to every step of the plugin. */
  readonly signal: AbortSignal;
  readonly endedBy: 'timeout' | 'caller' | undefined;
  readonly remainingMs: number;
  /**
   * Settles as `work` does, or rejects with DeadlineEnded at the deadline, even if the plugin ignores its signal. One race at a
   * time: a query's steps are sequential.
   */
  race<T>(work: Promise<T>): Promise<T>;
  /** Lets go of the timer and the caller's signal. */
  [Symbol.dispose](): void;
}

export class DeadlineEnded extends Error {
  override readonly name = 'DeadlineEnded';
}

export function startDeadline(caller: AbortSignal, timeoutMs: number): Deadline {
  return new RunningDeadline(caller, timeoutMs);
}

class RunningDeadline implements Deadline {
  readonly #caller: AbortSignal;
  readonly #controller = new AbortController();
  readonly #endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #leave = (): void => this.#end('caller');
  /** Of the step under way. `Promise.race` would make three promises more for each. */
  #reject: ((reason: DeadlineEnded) => void) | undefined;
  #ended: DeadlineEnded | undefined;
  endedBy: 'timeout' | 'caller' | undefined;

  constructor(caller: AbortSignal, timeoutMs: number) {
    this.#caller = caller;
    this.#endsAt = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => this.#end('timeout'), timeoutMs);
    if (caller.aborted) this.#leave();
    else caller.addEventListener('abort', this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return Math.max(1, Math.ceil(this.#endsAt - performance.now()));
  }

  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject);
      if (this.#ended !== undefined) reject(this.#ended);
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#leave);
  }

  #end(by: 'timeout' | 'caller'): void {
    if (this.#ended !== undefined) return;
    this.endedBy = by;
    this.#ended = new DeadlineEnded(by);
    this.#controller.abort(this.#ended);
    this.#reject?.(this.#ended);
  }
}

/** What ends a query from outside, composed once: the caller leaves, or its time is up. */
export interface Deadline {
  /** Handed to every step of the plugin. */
  readonly signal: AbortSignal;
  readonly endedBy: 'timeout' | 'caller' | undefined;
  readonly remainingMs: number;
  /** Settles as `work` does, or rejects with DeadlineEnded at the end, so that a plugin deaf to its signal holds nobody up. */
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
  readonly #ended = Promise.withResolvers<never>();
  readonly #leave = (): void => this.#end('caller');
  endedBy: 'timeout' | 'caller' | undefined;

  constructor(caller: AbortSignal, timeoutMs: number) {
    this.#caller = caller;
    this.#endsAt = performance.now() + timeoutMs;
    this.#ended.promise.catch(() => {});
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
    return Promise.race([this.#ended.promise, work]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#leave);
  }

  #end(by: 'timeout' | 'caller'): void {
    if (this.endedBy !== undefined) return;
    this.endedBy = by;
    const reason = new DeadlineEnded(by);
    this.#controller.abort(reason);
    this.#ended.reject(reason);
  }
}

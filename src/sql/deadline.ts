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
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  let endedBy: 'timeout' | 'caller' | undefined;
  let reject: (reason: DeadlineEnded) => void = () => {};
  const ended = new Promise<never>((_, rejectEnded) => {
    reject = rejectEnded;
  });
  ended.catch(() => {});
  const end = (by: 'timeout' | 'caller'): void => {
    if (endedBy !== undefined) return;
    endedBy = by;
    const reason = new DeadlineEnded(by);
    controller.abort(reason);
    reject(reason);
  };
  const leave = (): void => end('caller');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  if (caller.aborted) leave();
  else caller.addEventListener('abort', leave, { once: true });
  return {
    signal: controller.signal,
    get endedBy() {
      return endedBy;
    },
    get remainingMs() {
      return Math.max(1, Math.ceil(endsAt - performance.now()));
    },
    race: (work) => Promise.race([ended, work]),
    [Symbol.dispose]() {
      clearTimeout(timer);
      caller.removeEventListener('abort', leave);
    },
  };
}

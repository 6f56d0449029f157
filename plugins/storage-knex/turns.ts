import { SightlineError } from '../../src/contract/core/index.ts';

/**
 * A mutex for each key, first come first served. Waiters hold no connection, so that one organization's writers cannot take
 * all of them.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();
  readonly #patienceMs: number;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Throws `unavailable` when the turn does not come in time. */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const mine = before.then(() => ended);
    this.#last.set(key, mine);
    try {
      await this.#inTime(before);
      return await work();
    } finally {
      end();
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  async #inTime(turn: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(busy()), this.#patienceMs);
    });
    try {
      await Promise.race([turn, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** More asks for the storage than it can take. */
export function busy(cause?: unknown): SightlineError {
  return new SightlineError('unavailable', 'The storage has too much to do.', { retryAfterSeconds: 1, cause });
}

interface Share {
  taken: number;
  readonly waiting: Set<() => void>;
}

/** How much of something limited each may have at once, so that what one asks for leaves some of it to others. */
export class Shares {
  readonly #most: number;
  readonly #of = new Map<string, Share>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves, first come first served, when there is one for `who`. Rejects with the signal's reason when it is aborted. */
  async take(who: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const share = this.#of.get(who) ?? { taken: 0, waiting: new Set() };
    this.#of.set(who, share);
    if (share.taken < this.#most) {
      share.taken += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const given = () => resolve(undefined);
    const abort = () => {
      share.waiting.delete(given);
      reject(signal.reason);
    };
    share.waiting.add(given);
    signal.addEventListener('abort', abort, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', abort));
  }

  giveBack(who: string): void {
    const share = this.#of.get(who);
    const [next] = share?.waiting ?? [];
    if (share === undefined) return;
    if (next !== undefined) {
      share.waiting.delete(next);
      next();
    } else {
      share.taken -= 1;
      if (share.taken === 0) this.#of.delete(who);
    }
  }
}

import { isId, toId, type ChatId } from '../../src/contract/core/index.ts';
import type { Bell } from './dialect.ts';

/** How often a waiter looks for what another process wrote, where it is not told. What this one writes wakes it at once. */
const pollMs = 500;
/** The same where it is told, for what is lost on the way. */
const pollBesideBellMs = 5_000;

/** Lets readers wait for a chat to change. A waiter holds a timer and two listeners, and gives all back when it ends. */
export class ChatChanges {
  readonly #waiters = new Map<ChatId, Set<() => void>>();
  readonly #bell: Bell | undefined;
  #listening = false;
  #stopped = false;

  /** @param bell between processes; without one, each process polls. */
  constructor(bell: Bell | undefined) {
    this.#bell = bell;
  }

  /** Call after the commit. */
  notify(id: ChatId): void {
    this.#wake(id);
    this.#bell?.ring(id);
  }

  /** Resolves once `changed` answers true, the signal aborts or the storage stops. Rejects with what `changed` does before. */
  async wait(id: ChatId, signal: AbortSignal, changed: () => Promise<boolean>): Promise<void> {
    this.#listen();
    while (!signal.aborted && !this.#stopped) {
      // Listening begins before the look, so that a change between the two is not missed.
      const next = this.#next(id, signal);
      try {
        if (await changed()) return;
        await next.happened;
      } catch (error) {
        // Who waits is told nothing of a storage that stops under the look.
        if (!signal.aborted && !this.#stopped) throw error;
      } finally {
        next.forget();
      }
    }
  }

  /** Ends all waiting, now and later. */
  stop(): void {
    this.#stopped = true;
    this.#wakeAll();
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#bell?.listen((name) => {
      if (name === undefined) this.#wakeAll();
      else if (isId('chat', name)) this.#wake(toId('chat', name));
    });
  }

  #wake(id: ChatId): void {
    for (const wake of this.#waiters.get(id) ?? []) wake();
  }

  #wakeAll(): void {
    for (const id of this.#waiters.keys()) this.#wake(id);
  }

  #next(id: ChatId, signal: AbortSignal): { readonly happened: Promise<void>; forget(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(resolve));
    const timer = setTimeout(resolve, this.#bell?.heard === true ? pollBesideBellMs : pollMs);
    const onAbort = () => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    return {
      happened: promise,
      forget: () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        waiters.delete(resolve);
        if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
      },
    };
  }
}

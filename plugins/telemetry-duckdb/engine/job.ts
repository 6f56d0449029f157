import { say } from './say.ts';

/** Stopped by the gateway, or because its connection went away. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted');
  }
}

/** How long an interrupted job may go on. Some functions look for an interrupt only between vectors, or never. */
const graceMs = 1_000;

/** Work that may have to be stopped. If it does not stop, the process ends itself: no one else shares this engine's data. */
export class Job {
  #interrupt: (() => void) | undefined;
  #cancelled = false;
  #timers: NodeJS.Timeout[] = [];
  readonly #ended = Promise.withResolvers<void>();
  /** The gateway has its answer; what is left to do is ours. */
  answered = false;

  /** How to stop what runs now; undefined when nothing does. */
  interruptible(interrupt: (() => void) | undefined): void {
    this.#interrupt = interrupt;
  }

  /** Throws when the job was cancelled: an interrupt that comes between two calls into the engine reaches neither. */
  check(): void {
    if (this.#cancelled) throw new InterruptedError();
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#interrupt?.();
    this.#timers.push(
      setInterval(() => this.#interrupt?.(), 50),
      setTimeout(() => {
        say('an interrupted job did not stop; the engine ends');
        process.kill(process.pid, 'SIGKILL');
      }, graceMs),
    );
  }

  /** Ends the waiting for an interrupt to take effect. */
  done(): void {
    this.#interrupt = undefined;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
    this.#ended.resolve();
  }
}

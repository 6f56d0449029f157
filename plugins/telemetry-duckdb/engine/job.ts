export class BusyError extends Error {}

/** Lets so many run at once, so many more wait, and none of them for long. */
export class Turns {
  readonly #maxWaiting: number;
  readonly #patienceMs: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number, maxWaiting: number, patienceMs: number) {
    this.#free = atOnce;
    this.#maxWaiting = maxWaiting;
    this.#patienceMs = patienceMs;
  }

  async run<T>(job: Job, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(job);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  async #turn(job: Job): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) throw new BusyError('too many queries wait');
    await new Promise<void>((resolve, reject) => {
      const leave = (error: Error) => {
        clearTimeout(timer);
        job.interruptible(undefined);
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(error);
      };
      const timer = setTimeout(() => leave(new BusyError('no turn in time')), this.#patienceMs);
      const enter = () => {
        clearTimeout(timer);
        job.interruptible(undefined);
        resolve();
      };
      this.#waiting.push(enter);
      job.interruptible(() => leave(new InterruptedError()));
    });
  }
}

/** For the gateway's log: what an engine process writes there is bounded and kept from callers. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

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

  /** Waits for what comes before it, and no longer when it is cancelled. */
  async turn(before: Promise<unknown>): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.interruptible(() => reject(new InterruptedError()));
    try {
      this.check();
      await Promise.race([before, promise]);
    } finally {
      this.interruptible(undefined);
    }
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

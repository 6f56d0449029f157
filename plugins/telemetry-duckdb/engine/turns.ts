import { InterruptedError, type Job } from './job.ts';

/** There is no turn to be had soon. */
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

import { SightlineError } from '../contract/core/index.ts';

/**
 * Runs so much work at once; further work waits in line, and beyond the line it is refused with `unavailable`. For work that a
 * stranger can ask for, such as checking the signature of a token.
 */
export class BoundedWork {
  readonly #atOnce: number;
  readonly #inLine: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limits: { readonly atOnce: number; readonly inLine: number }) {
    this.#atOnce = limits.atOnce;
    this.#inLine = limits.inLine;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#atOnce) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= this.#inLine) {
      throw new SightlineError('unavailable', 'Too many access tokens are being checked at once.', {
        retryAfterSeconds: 1,
      });
    }
    // The one that leaves hands its place over.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

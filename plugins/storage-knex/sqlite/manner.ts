/** So many rows at once, or transactions within a second, are written where much is. */
const manyRows = 100;
const manyTransactions = 50;
const secondMs = 1_000;

/**
 * How one file's writer writes: here, or on a thread once it writes much. A thread costs memory and a moment at the start,
 * which a command or a small installation need not pay; and the way to the disk costs the event loop, as long as it takes there.
 */
export class WriterManner {
  threaded: boolean;
  #since = 0;
  #begun = 0;

  constructor(threaded = false) {
    this.threaded = threaded;
  }

  /** A transaction begins. */
  begin(): void {
    const now = performance.now();
    if (now - this.#since > secondMs) {
      this.#since = now;
      this.#begun = 0;
    }
    this.#begun += 1;
    if (this.#begun >= manyTransactions) this.threaded = true;
  }

  insert(rows: number): void {
    if (rows >= manyRows) this.threaded = true;
  }
}

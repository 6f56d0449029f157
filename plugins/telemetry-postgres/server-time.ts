/**
 * How long a server took at least, from here on: without what this process was busy with when the answer was there already. A
 * busy event loop comes round for its messages a turn late, which says nothing about a statement.
 */
export class ServerTime {
  readonly #since = performance.now();
  #turnBegan = 0;
  /** Undefined until one is over. */
  #turnMs: number | undefined;

  constructor() {
    setImmediate(() => {
      this.#turnBegan = performance.now();
      setImmediate(() => (this.#turnMs = performance.now() - this.#turnBegan));
    });
  }

  /** Milliseconds until now. */
  get ms(): number {
    return this.#turnMs === undefined ? 0 : performance.now() - this.#since - this.#turnMs;
  }
}

/** More tenants than this are rare; then everything is asked anew. */
const mostKept = 1_000;

/** Answers by key for a while. Who asks at the same time waits for the same answer; a failure is forgotten at once. */
export class Remembered<T> {
  readonly #kept = new Map<string, { readonly answer: Promise<T>; readonly until: number }>();
  readonly #forMs: number;

  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  of(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key);
    if (known !== undefined && known.until > performance.now()) return known.answer;
    if (this.#kept.size >= mostKept) this.#kept.clear();
    const kept = { answer: ask(), until: performance.now() + this.#forMs };
    this.#kept.set(key, kept);
    kept.answer.catch(() => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
    });
    return kept.answer;
  }

  clear(): void {
    this.#kept.clear();
  }
}

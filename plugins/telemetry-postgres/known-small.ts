const mostKept = 500;
const longestKept = 4_096;

/** Statements that had few rows the last time. To be wrong about one costs memory within the limits, and nothing else. */
export class KnownSmall {
  readonly #statements = new Set<string>();

  has(text: string): boolean {
    return this.#statements.has(text);
  }

  note(text: string, small: boolean): void {
    if (this.#statements.has(text) === small || text.length > longestKept) return;
    this.#statements.delete(text);
    if (!small) return;
    this.#statements.add(text);
    if (this.#statements.size <= mostKept) return;
    for (const oldest of this.#statements) {
      this.#statements.delete(oldest);
      break;
    }
  }
}

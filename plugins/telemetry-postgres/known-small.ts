const mostKept = 500;
const longestKept = 4_096;

/** Statements that had few rows the last time. To be wrong about one costs memory within the limits, and nothing else. */
export class KnownSmall {
  readonly #statements = new Map<string, number>();

  /** How many bytes of rows it had; undefined where it is not known for few. */
  bytes(text: string): number | undefined {
    return this.#statements.get(text);
  }

  /** @param bytes undefined where they were not few. */
  note(text: string, bytes: number | undefined): void {
    if (this.#statements.get(text) === bytes || text.length > longestKept) return;
    this.#statements.delete(text);
    if (bytes === undefined) return;
    this.#statements.set(text, bytes);
    if (this.#statements.size <= mostKept) return;
    for (const oldest of this.#statements.keys()) {
      this.#statements.delete(oldest);
      break;
    }
  }
}

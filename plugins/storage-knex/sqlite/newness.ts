import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Comparisons after which it is decided whether to go on; and the most questions that they are waited for. */
const compared = 256;
const asked = 20_000;
/** So many turns go without for each question that was in vain. */
const restFactor = 16;
/** Look-ups that a question must spare: it costs a little more than half of one and all that is done with its row. */
const worth = 0.6;

/**
 * Whether anything was committed since, by any other connection of this process or of another one: the same version again says
 * that nothing was. Where commits come so often, or callers are so many, that it seldom is the same, it is left unasked for a
 * while.
 */
export class Newness {
  readonly #statement: StatementSync;
  #resting = 0;
  #asked = 0;
  #same = 0;
  #other = 0;

  constructor(connection: DatabaseSync) {
    this.#statement = connection.prepare('PRAGMA data_version');
    // A fifth less than an object each time.
    this.#statement.setReturnArrays(true);
  }

  /** Undefined where it is not asked: nothing kept can be relied on. */
  version(): number | undefined {
    if (this.#resting > 0) {
      this.#resting -= 1;
      return undefined;
    }
    if (this.#same + this.#other >= compared || this.#asked >= asked) this.#judge();
    this.#asked += 1;
    const row: unknown = this.#statement.get();
    const version: unknown = Array.isArray(row) ? row[0] : undefined;
    return typeof version === 'number' ? version : undefined;
  }

  /** Compares two versions, of which one may not have been asked. */
  isUnchanged(before: number | undefined, now: number | undefined): boolean {
    if (before === undefined || now === undefined) return false;
    if (before === now) this.#same += 1;
    else this.#other += 1;
    return before === now;
  }

  #judge(): void {
    if (this.#same < this.#asked * worth) this.#resting = this.#asked * restFactor;
    this.#asked = this.#same = this.#other = 0;
  }
}

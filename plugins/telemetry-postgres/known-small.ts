import type { StatementLabel } from '../../src/contract/index.ts';
import { askerComment } from './label.ts';

const mostKept = 500;
const longestKept = 4_096;
const mostAskers = 16;

/** A statement that a session's server keeps by its name, once it has read and planned it: for one asker, who is named in it. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** A statement that had few rows the last time. */
export class SmallStatement {
  /** Of its rows. */
  bytes: number;
  readonly #text: string;
  readonly #askers = new Map<string, NamedStatement>();

  constructor(text: string, bytes: number) {
    this.#text = text;
    this.bytes = bytes;
  }

  /** Without its trace id, which is another each time. Undefined where it has so many askers that none is worth keeping. */
  of(label: StatementLabel | undefined): NamedStatement | undefined {
    const comment = askerComment(label);
    const known = this.#askers.get(comment);
    if (known !== undefined || this.#askers.size >= mostAskers) return known;
    made += 1;
    const named = { name: `sightline_${made.toString(36)}`, text: comment + this.#text };
    this.#askers.set(comment, named);
    return named;
  }
}

/** Of this process: the names of two are never the same. */
let made = 0;

/** Statements that had few rows the last time. To be wrong about one costs memory within the limits, and nothing else. */
export class KnownSmall {
  readonly #statements = new Map<string, SmallStatement>();

  get(text: string): SmallStatement | undefined {
    return this.#statements.get(text);
  }

  /** @param bytes undefined where they were not few. */
  note(text: string, bytes: number | undefined): void {
    const known = this.#statements.get(text);
    if (bytes === undefined) {
      this.#statements.delete(text);
    } else if (known !== undefined) {
      known.bytes = bytes;
    } else if (text.length <= longestKept) {
      this.#statements.set(text, new SmallStatement(text, bytes));
      if (this.#statements.size > mostKept) this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    for (const oldest of this.#statements.keys()) {
      this.#statements.delete(oldest);
      return;
    }
  }
}

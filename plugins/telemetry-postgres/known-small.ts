import { hash } from 'node:crypto';
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

/** What is made room for where nobody knows yet. */
const expectedBytes = 4_096;

/** A statement that had few rows the last time, or says that it will. */
export class SmallStatement {
  /** Of its rows. */
  bytes: number;
  /** Whether it was asked before. */
  answered: boolean;
  readonly #text: string;
  readonly #askers = new Map<string, NamedStatement>();

  constructor(text: string, bytes: number, answered: boolean) {
    this.#text = text;
    this.bytes = bytes;
    this.answered = answered;
  }

  /** Without its trace id, which is another each time. Undefined at first, and where it has so many askers that none is worth keeping. */
  of(label: StatementLabel | undefined): NamedStatement | undefined {
    if (!this.answered) return undefined;
    const comment = askerComment(label);
    const known = this.#askers.get(comment);
    if (known !== undefined || this.#askers.size >= mostAskers) return known;
    const text = comment + this.#text;
    // By what it says: behind a pooler a session may be one that another process gave its names to.
    const named = { name: `sightline_q_${hash('sha256', text, 'hex').slice(0, 32)}`, text };
    this.#askers.set(comment, named);
    return named;
  }
}

/**
 * Statements of few rows. To be wrong about one costs memory within the limits, and at worst a connection that is closed under
 * what nobody wants.
 */
export class KnownSmall {
  /** Undefined of those that had many rows, whatever they say. */
  readonly #statements = new Map<string, SmallStatement | undefined>();

  get(text: string): SmallStatement | undefined {
    return this.#statements.get(text);
  }

  /** It says that it has few. */
  expect(text: string): void {
    if (!this.#statements.has(text)) this.#keep(text, new SmallStatement(text, expectedBytes, false));
  }

  /** @param bytes undefined where they were not few. */
  note(text: string, bytes: number | undefined): void {
    const known = this.#statements.get(text);
    if (bytes === undefined) {
      this.#keep(text, undefined);
    } else if (known === undefined) {
      this.#keep(text, new SmallStatement(text, bytes, true));
    } else {
      known.bytes = bytes;
      known.answered = true;
    }
  }

  /** Nothing is known of it any more. */
  forget(text: string): void {
    this.#statements.delete(text);
  }

  #keep(text: string, statement: SmallStatement | undefined): void {
    if (text.length > longestKept) return;
    this.#statements.set(text, statement);
    if (this.#statements.size > mostKept) this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const oldest of this.#statements.keys()) {
      this.#statements.delete(oldest);
      return;
    }
  }
}

import { hash } from 'node:crypto';
import { labelText, type StatementLabel } from '../../src/contract/telemetry/index.ts';

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

/** The label's comment without what differs from one statement to the next. */
export function askerComment(label: StatementLabel | undefined): string {
  return label === undefined ? '' : `/*principal='${labelText(label.principal)}',tool='${labelText(label.tool)}'*/ `;
}

const mostKept = 2_000;

const longestKept = 4_096;

const mostAskers = 16;

/** Ends a statement that is not prepared: the server parses it each time. */
export const notKept = ' /* not prepared */';

/** A statement that a session's server keeps by its name, once it has read and planned it: for one asker, who is named in it. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Initial buffer size for statements not seen before. */
const expectedBytes = 4_096;

/**
 * From what is sent to its rows: of one statement, and of each that goes with others. Whatever takes longer would lose more by
 * waiting for others than its own transaction costs.
 */
export const quickMs = { alone: 1, each: 0.5 };

const mostSlowTimes = 4;

/** Of what goes with others: all of it has to arrive in a moment, over whatever network. */
const mostQuickBytes = 16_384;

export interface Seen {
  readonly bytes: number;
  /** They were there in `quickMs`. */
  readonly quick: boolean;
}

/** A statement that had few rows the last time, or says that it will. */
export class SmallStatement {
  #bytes = expectedBytes;
  #answered = false;
  #quick = false;
  #slowTimes = 0;
  readonly #text: string;
  readonly #askers = new Map<string, NamedStatement>();

  constructor(text: string, seen?: Seen) {
    this.#text = text;
    if (seen !== undefined) this.saw(seen);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** It goes with others: they wait for it, and it for them. */
  get quick(): boolean {
    return this.#quick;
  }

  saw(seen: Seen): void {
    const quick = seen.quick && seen.bytes <= mostQuickBytes;
    this.#bytes = seen.bytes;
    this.#answered = true;
    if (quick === this.#quick) return;
    this.#quick = quick;
    this.#slowTimes = 0;
  }

  /** With others it took longer than `quickMs` for each: a busy machine may be why, and not the statement. */
  wasSlow(slow: boolean): void {
    this.#slowTimes = slow ? this.#slowTimes + 1 : 0;
    if (this.#slowTimes === mostSlowTimes) this.isSlow();
  }

  isSlow(): void {
    this.#quick = false;
    this.#slowTimes = 0;
  }

  /** Without its trace id, which is another each time. Undefined at first, and where it has so many askers that none is worth keeping. */
  of(label: StatementLabel | undefined): NamedStatement | undefined {
    if (!this.#answered || this.#text.endsWith(notKept)) return undefined;
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
 * Statements of few rows, each tenant's own: the same text may have few for one and many for another. To be wrong about one
 * costs memory within the limits, and at worst a connection that is closed under what nobody wants.
 */
export class KnownSmall {
  /** Undefined for statements that returned many rows despite their LIMIT or grouping. */
  readonly #tenants = new Map<string, Map<string, SmallStatement | undefined>>();
  #size = 0;

  get(tenant: string, text: string): SmallStatement | undefined {
    return this.#tenants.get(tenant)?.get(text);
  }

  expect(tenant: string, text: string): void {
    if (this.#tenants.get(tenant)?.has(text) !== true) {
      this.#keep(tenant, text, new SmallStatement(text));
    }
  }

  /** @param seen undefined where they were not few. */
  note(tenant: string, text: string, seen: Seen | undefined): void {
    const known = seen && this.get(tenant, text);
    if (seen === undefined) this.#keep(tenant, text, undefined);
    else if (known === undefined) this.#keep(tenant, text, new SmallStatement(text, seen));
    else known.saw(seen);
  }

  forget(tenant: string, text: string): void {
    if (this.#tenants.get(tenant)?.delete(text) === true) this.#size -= 1;
  }

  #keep(tenant: string, text: string, statement: SmallStatement | undefined): void {
    if (text.length > longestKept) return;
    const statements = this.#tenants.get(tenant) ?? new Map<string, SmallStatement | undefined>();
    this.#tenants.set(tenant, statements);
    if (!statements.has(text)) this.#size += 1;
    statements.set(text, statement);
    if (this.#size > mostKept) this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const [tenant, statements] of this.#tenants) {
      for (const oldest of statements.keys()) {
        statements.delete(oldest);
        this.#size -= 1;
        return;
      }
      this.#tenants.delete(tenant);
    }
  }
}

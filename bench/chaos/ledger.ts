/** What was sent under a name that is sent once: whether it was acknowledged, and when, by whom. */
export interface Entry {
  readonly at: number;
  readonly replica: number | undefined;
  acknowledged: boolean;
}

export type Register = ReadonlyMap<string, Entry>;

/** A kind of write. Each name is written once, or again and again under one idempotency key. */
export class Book {
  readonly #entries = new Map<string, Entry>();

  sent(name: string): void {
    if (!this.#entries.has(name))
      this.#entries.set(name, { at: performance.now(), replica: undefined, acknowledged: false });
  }

  acknowledged(name: string, replica?: number): void {
    this.#entries.set(name, { at: performance.now(), replica, acknowledged: true });
  }

  get entries(): Register {
    return this.#entries;
  }

  get acknowledgedCount(): number {
    return [...this.#entries.values()].filter(({ acknowledged }) => acknowledged).length;
  }
}

/** A moment at which something was answered by a replica. */
export interface Moment {
  readonly at: number;
  readonly replica: number | undefined;
}

/** The truth that the database is compared with at the end. */
export class Ledger {
  /** By title; the title is the first message too. */
  readonly chats = new Book();
  /** Of replies, by content. */
  readonly replies = new Book();
  readonly incidents = new Book();
  /** By client id, once that is known: what is sent under no name of ours is only known when it is acknowledged. */
  readonly keys = new Book();
  readonly revocations = new Book();
  readonly spans = new Book();
  readonly logs = new Book();
  /** Tokens of the main key. */
  readonly tokens = { sent: 0, given: [] as Moment[] };
  readonly toolCalls = { sent: 0, answered: [] as Moment[] };
  /** Promises that a single answer broke. */
  readonly broken: string[] = [];
}

export interface WithName {
  readonly name: string;
  /** What the query is called in what we write: no name of a caller can mean it. */
  readonly written: string;
  /** Telemetry tables that one use of it reads. */
  readonly reads: number;
}

/** Names that a FROM item may mean at one place of the statement: queries of WITH, and FROM items around it. */
export class Scope {
  readonly #before: Scope | undefined;
  readonly #query: WithName | undefined;
  readonly #items = new Set<string>();
  readonly fold: (name: string) => string;

  constructor(fold: (name: string) => string, before?: Scope, query?: WithName) {
    this.fold = fold;
    this.#before = before;
    this.#query = query;
  }

  /** What to write for the query of WITH that has this name here. */
  query(name: string): WithName | undefined {
    const own = this.#query !== undefined && this.fold(this.#query.name) === this.fold(name);
    return own ? this.#query : this.#before?.query(name);
  }

  hasItem(name: string): boolean {
    return this.#items.has(this.fold(name)) || (this.#before?.hasItem(name) ?? false);
  }

  addItem(name: string): void {
    this.#items.add(this.fold(name));
  }

  withQuery(query: WithName): Scope {
    return new Scope(this.fold, this, query);
  }

  inner(): Scope {
    return new Scope(this.fold, this);
  }
}

/** As BigQuery compares names: ASCII letters only. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

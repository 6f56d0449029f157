/** Names of the CTEs that a FROM item may mean at one place of the statement. */
export class Scope {
  readonly #names: ReadonlySet<string>;

  constructor(names: ReadonlySet<string> = new Set()) {
    this.#names = names;
  }

  has(name: string): boolean {
    return this.#names.has(fold(name));
  }

  with(name: string): Scope {
    return new Scope(new Set([...this.#names, fold(name)]));
  }
}

/** Names that the engine's own views have: a CTE may not be called so, lest a gap in the scoping rules opens one. */
export function isSystemName(name: string): boolean {
  return /^(duckdb_|pragma_|sqlite_|pg_|information_schema|show_|otel$|sightline$)/.test(fold(name));
}

/** As the engine compares identifiers: ASCII letters only. */
export function fold(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

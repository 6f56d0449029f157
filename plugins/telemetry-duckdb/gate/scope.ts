/** The engine's syntax tree: what json_serialize_sql writes. Numbers beyond 2^53 come rounded; no tree is written back. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Node = { readonly [key: string]: Json };

export function parseTree(text: string): Json {
  return JSON.parse(text);
}

export function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

interface Link {
  readonly name: string;
  readonly before: Link | undefined;
}

/** Names of the CTEs that a FROM item may mean at one place of the statement. Chained, since each CTE begins a scope. */
export class Scope {
  readonly #last: Link | undefined;

  constructor(last?: Link) {
    this.#last = last;
  }

  has(name: string): boolean {
    const wanted = fold(name);
    for (let link = this.#last; link !== undefined; link = link.before) if (link.name === wanted) return true;
    return false;
  }

  with(name: string): Scope {
    return new Scope({ name: fold(name), before: this.#last });
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

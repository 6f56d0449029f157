interface Link {
  readonly name: string;
  readonly before: Link | undefined;
}

/** Names of the CTEs that an unqualified FROM item may mean at one place of the statement. */
export class Scope {
  readonly #last: Link | undefined;

  constructor(last?: Link) {
    this.#last = last;
  }

  has(name: string): boolean {
    for (let link = this.#last; link !== undefined; link = link.before) if (link.name === name) return true;
    return false;
  }

  with(name: string): Scope {
    return new Scope({ name, before: this.#last });
  }
}

/** A CTE may not be called so: lest a gap in the scoping rules opens a relation of the system. */
export function isSystemName(name: string): boolean {
  return /^(?:pg_|information_schema$|otel)/i.test(name);
}

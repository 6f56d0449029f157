/** A replica by its number, or all of them: the database. */
export type Struck = number | 'all';

interface Outage {
  readonly what: string;
  readonly of: Struck;
  readonly from: number;
  to: number;
}

/** When what was out of order, in milliseconds of `performance.now()`: a request that fails at another time breaks a promise. */
export class Outages {
  readonly #graceMs: number;
  readonly #known: Outage[] = [];

  /** @param graceMs how long after an outage's end requests may still fail, as it is documented. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** Answers the function that ends it. */
  begin(what: string, of: Struck): () => void {
    const outage: Outage = { what, of, from: performance.now(), to: Number.POSITIVE_INFINITY };
    this.#known.push(outage);
    return () => {
      outage.to = performance.now();
    };
  }

  /** One that was seen when it was over. */
  record(outage: Readonly<Outage>): void {
    this.#known.push({ ...outage });
  }

  get all(): readonly Readonly<Outage>[] {
    return this.#known;
  }

  /** What is out of order at this moment. */
  get now(): ReadonlySet<Struck> {
    return new Set(this.#known.filter(({ to }) => to === Number.POSITIVE_INFINITY).map(({ of }) => of));
  }

  /** What was out of order for a request in that time. A replica that is not known is any that is struck. */
  during(from: number, to: number, replica: number | undefined): Readonly<Outage> | undefined {
    return this.#known.find(
      (outage) =>
        outage.from <= to &&
        from <= outage.to + this.#graceMs &&
        (outage.of === 'all' || replica === undefined || outage.of === replica),
    );
  }
}

/** Bytes and requests that may be in memory at once, together and for one organization. */
export type Allowance = Readonly<Use>;

interface Use {
  bytes: number;
  requests: number;
}

/** Memory that requests hold until they are answered. Never queues: a sender without a share is told to retry. */
export class Budget {
  readonly #total: Allowance;
  readonly #each: Allowance;
  readonly #used: Use = { bytes: 0, requests: 0 };
  readonly #usedBy = new Map<string, Use>();

  constructor(total: Allowance, each: Allowance) {
    this.#total = total;
    this.#each = each;
  }

  /** A request of this organization; says whose limit is met if it cannot come in. */
  enter(organization: string): Share | 'organization' | 'total' {
    const own = this.#usedBy.get(organization) ?? { bytes: 0, requests: 0 };
    if (own.requests >= this.#each.requests) return 'organization';
    if (this.#used.requests >= this.#total.requests) return 'total';
    own.requests += 1;
    this.#used.requests += 1;
    this.#usedBy.set(organization, own);
    return new Share(
      (bytes) => {
        if (own.bytes + bytes > this.#each.bytes || this.#used.bytes + bytes > this.#total.bytes) return false;
        own.bytes += bytes;
        this.#used.bytes += bytes;
        return true;
      },
      (bytes) => {
        own.bytes -= bytes;
        own.requests -= 1;
        this.#used.bytes -= bytes;
        this.#used.requests -= 1;
        if (own.requests === 0) this.#usedBy.delete(organization);
      },
    );
  }
}

/** One request's part of the budget. */
export class Share {
  readonly #take: (bytes: number) => boolean;
  readonly #giveBack: (bytes: number) => void;
  #bytes = 0;
  #left = false;

  constructor(take: (bytes: number) => boolean, giveBack: (bytes: number) => void) {
    this.#take = take;
    this.#giveBack = giveBack;
  }

  /** False, and nothing is taken, if it is too much. */
  take(bytes: number): boolean {
    if (!this.#take(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#giveBack(this.#bytes);
  }
}

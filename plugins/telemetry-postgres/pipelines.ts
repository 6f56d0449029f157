import type { Cursor } from '../../src/contract/index.ts';
import type { NamedStatement, SmallStatement } from './known-small.ts';
import type { Lease } from './lease.ts';
import { askerComment } from './label.ts';
import { Pipeline, type Member } from './pipeline.ts';
import type { QueryRequest } from './query.ts';

/** Behind each other: the last one waits for all of them. */
const mostMembers = 16;
/** Of one asker; what comes meanwhile goes together when one of them is back. */
const mostUnderWay = 2;
/** For a session. */
const patienceMs = 100;
const never = new AbortController().signal;

interface Asker {
  readonly key: string;
  gathered: Member[];
  underWay: number;
}

/**
 * Small statements that are asked at once: those of one asker go out together. Never with another's: what one changes in its
 * transaction is there for those behind it.
 */
export class Pipelines {
  readonly #askers = new Map<string, Asker>();
  #due: Asker[] = [];

  /** Undefined where it must be sent by itself. */
  join(request: QueryRequest, named: NamedStatement, known: SmallStatement): Promise<Cursor | undefined> {
    const { promise, resolve } = Promise.withResolvers<Cursor | undefined>();
    const key = askerComment(request.label) + request.tenant;
    let asker = this.#askers.get(key);
    if (asker === undefined) {
      asker = { key, gathered: [], underWay: 0 };
      this.#askers.set(key, asker);
    }
    // With what else this turn of the event loop brings.
    if (asker.gathered.length === 0) {
      if (this.#due.length === 0) setImmediate(() => this.#departDue());
      this.#due.push(asker);
    }
    asker.gathered.push({ request, named, known, answer: resolve });
    return promise;
  }

  #departDue(): void {
    const due = this.#due;
    this.#due = [];
    for (const asker of due) this.#depart(asker);
  }

  #depart(asker: Asker): void {
    while (asker.gathered.length > 0 && asker.underWay < mostUnderWay) {
      const [first] = asker.gathered;
      if (first === undefined) return;
      const other = asker.gathered.findIndex(({ request }) => request.before !== first.request.before);
      const members = asker.gathered.splice(0, Math.min(mostMembers, other === -1 ? mostMembers : other));
      asker.underWay += 1;
      void this.#send(asker, first, members);
    }
  }

  async #send(asker: Asker, first: Member, members: readonly Member[]): Promise<void> {
    const lease = await leaseFor(first);
    if (lease === undefined) {
      for (const { answer } of members) answer(undefined);
      this.#back(asker);
    } else {
      new Pipeline(lease, members, first.request, () => this.#back(asker)).send();
    }
  }

  #back(asker: Asker): void {
    asker.underWay -= 1;
    if (asker.gathered.length > 0) this.#depart(asker);
    else if (asker.underWay === 0) this.#askers.delete(asker.key);
  }
}

async function leaseFor({ request: { connections, tenant } }: Member): Promise<Lease | undefined> {
  try {
    return connections.take(tenant) ?? (await connections.lease(never, tenant, patienceMs));
  } catch {
    // By itself each hears why there is none.
    return undefined;
  }
}

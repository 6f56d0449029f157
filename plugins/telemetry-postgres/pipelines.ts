import type { Cursor } from '../../src/contract/telemetry/index.ts';
import { askerComment } from './known-small.ts';
import type { Lease } from './session.ts';
import { Pipeline, type Member, type QueryRequest } from './pipeline.ts';
import type { Step } from './wire/packets.ts';

/** Behind each other: the last one waits for all of them. */
const mostMembers = 16;
/** Of one asker; what comes meanwhile goes together when one of them is back. */
const mostUnderWay = 2;
/** Of one asker; more go by themselves. */
const mostGathered = 128;

/** Statements of one asker that begin with the same steps. */
interface Asker {
  readonly gathered: Member[];
  underWay: number;
  /** One of them waits for a session, which all of them will use. */
  waits: boolean;
  /** Removes the asker once nothing is pending. */
  readonly forget: () => void;
}

/**
 * Sends concurrent small statements of one asker together. Never with another asker's: changes of one statement to the
 * transaction are visible to the next.
 */
export class Pipelines {
  readonly #askers = new WeakMap<readonly Step[], Map<string, Asker>>();
  readonly #due = new Set<Asker>();

  /** Undefined if it must be sent alone. */
  join(member: Omit<Member, 'answer'>): Promise<Cursor | undefined> | undefined {
    const asker = this.#askerOf(member.request);
    if (asker.gathered.length >= mostGathered) return undefined;
    const { promise, resolve } = Promise.withResolvers<Cursor | undefined>();
    // With what else this turn of the event loop brings.
    if (this.#due.size === 0) setImmediate(() => this.#departDue());
    this.#due.add(asker);
    asker.gathered.push({ ...member, answer: resolve });
    return promise;
  }

  #askerOf({ before, label, tenant }: QueryRequest): Asker {
    const key = askerComment(label) + tenant;
    let askers = this.#askers.get(before);
    if (askers === undefined) this.#askers.set(before, (askers = new Map()));
    const known = askers.get(key);
    if (known !== undefined) return known;
    const forget = (): boolean => askers.get(key) === asker && askers.delete(key);
    const asker: Asker = { gathered: [], underWay: 0, waits: false, forget };
    askers.set(key, asker);
    return asker;
  }

  #departDue(): void {
    const due = [...this.#due];
    this.#due.clear();
    for (const asker of due) this.#depart(asker);
  }

  #depart(asker: Asker): void {
    const { gathered } = asker;
    while (!asker.waits && asker.underWay < mostUnderWay) {
      const [first] = gathered;
      if (first === undefined) break;
      // With nothing to share, alone is as fast.
      if (gathered.length + asker.underWay === 1) {
        goAlone(gathered);
        break;
      }
      const lease = first.request.connections.take(first.request.tenant);
      if (lease === undefined) void this.#wait(asker, first);
      else this.#departIn(lease, asker);
    }
    if (asker.underWay === 0 && !asker.waits) asker.forget();
  }

  /** One wait for all of them: alone, each would queue for longer than it runs. */
  async #wait(asker: Asker, { request: { connections, tenant, signal, limits } }: Member): Promise<void> {
    asker.waits = true;
    const lease = await connections.lease(signal, tenant, limits.timeoutMs).catch(() => {
      // Its caller left, and the next one waits.
      if (signal.aborted) dropLeft(asker.gathered);
      // Each says itself why it has no session.
      else goAlone(asker.gathered);
    });
    asker.waits = false;
    if (lease !== undefined) this.#departIn(lease, asker);
    this.#depart(asker);
  }

  #departIn(lease: Lease, asker: Asker): void {
    dropLeft(asker.gathered);
    const members = asker.gathered.splice(0, mostMembers);
    const [first] = members;
    if (first === undefined) {
      lease.release();
      return;
    }
    asker.underWay += 1;
    new Pipeline(lease, members, first.request, (late) => this.#back(asker, late)).send();
  }

  #back(asker: Asker, late: boolean): void {
    asker.underWay -= 1;
    // They have waited for long enough.
    if (late) goAlone(asker.gathered);
    this.#depart(asker);
  }
}

/** Statements of callers that left are sent alone, where each reports its cancellation. */
function dropLeft(gathered: Member[]): void {
  for (let index = gathered.length - 1; index >= 0; index -= 1) {
    if (gathered[index]?.request.signal.aborted === true) goAlone(gathered.splice(index, 1));
  }
}

function goAlone(gathered: Member[]): void {
  for (const { answer } of gathered.splice(0)) answer(undefined);
}

import type { Cursor } from '../../src/contract/index.ts';
import { askerComment } from './label.ts';
import { Pipeline, type Member, type PipelineSeat } from './pipeline.ts';
import type { QueryRequest } from './query.ts';
import type { Step } from './wire/packets.ts';

/** Behind each other: the last one waits for all of them. */
const mostMembers = 16;
/** Of one asker; what comes meanwhile goes together when one of them is back. */
const mostUnderWay = 2;
/** Of one asker; more go by themselves, and wait in line for a place. */
const mostGathered = 64;

/** Statements of one asker that begin with the same steps. */
interface Asker {
  readonly gathered: Member[];
  underWay: number;
  /** Nothing of it is left. */
  readonly forget: () => void;
}

/**
 * Small statements that are asked at once: those of one asker go out together. Never with another's: what one changes in its
 * transaction is there for those behind it.
 */
export class Pipelines {
  readonly #askers = new WeakMap<readonly Step[], Map<string, Asker>>();
  readonly #due = new Set<Asker>();

  /** Undefined where it must be sent by itself. */
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
    const asker: Asker = { gathered: [], underWay: 0, forget };
    askers.set(key, asker);
    return asker;
  }

  #departDue(): void {
    for (const asker of this.#due) {
      this.#due.delete(asker);
      this.#depart(asker);
    }
  }

  #depart(asker: Asker): void {
    const { gathered } = asker;
    while (asker.underWay < mostUnderWay && gathered.length > 0) {
      // Nobody to share with, or no session or place free: by itself it is as fast, and waits its turn.
      const seat = gathered.length + asker.underWay > 1 ? seatFor(gathered) : undefined;
      if (seat === undefined) {
        // The one under way comes back soon, and takes them.
        if (asker.underWay === 0) goAlone(gathered.splice(0));
        break;
      }
      asker.underWay += 1;
      const members = gathered.splice(0, mostMembers);
      new Pipeline(seat, members, (late) => this.#back(asker, late)).send();
    }
    if (asker.underWay === 0) asker.forget();
  }

  #back(asker: Asker, late: boolean): void {
    asker.underWay -= 1;
    // They have waited for long enough.
    if (late) goAlone(asker.gathered.splice(0));
    this.#depart(asker);
  }
}

function seatFor([first]: readonly Member[]): PipelineSeat | undefined {
  if (first === undefined) return undefined;
  const { connections, tenant } = first.request;
  const place = first.enter();
  const lease = place && connections.take(tenant);
  if (lease === undefined) place?.leave();
  return place && lease && { place, lease };
}

function goAlone(members: readonly Member[]): void {
  for (const { answer } of members) answer(undefined);
}

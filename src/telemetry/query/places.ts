import { SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { FairQueue, NoPlace } from '../../limits/fair-queue.ts';

export interface QueryPlacesOptions {
  /** Queries that run at once. */
  readonly atOnce: number;
  /** Of one organization. */
  readonly organization: number;
}

export const defaultQueryPlaces: QueryPlacesOptions = { atOnce: 64, organization: 48 };

const waiting = 1_000;
const waitingEach = 128;
const patienceMs = 10_000;
/** How long a place is kept for a warehouse that does not say whether it has stopped. */
const stopMs = 2_000;

/** What is as wide as the warehouse itself at most; and where the places are few, a quarter of them is always for others. */
export function placesIn(
  { atOnce: here = {} }: Pick<Telemetry, 'atOnce'>,
  { atOnce, organization }: QueryPlacesOptions,
): QueryPlacesOptions {
  const all = Math.min(atOnce, here.all ?? atOnce);
  const share = Math.max(1, Math.floor((all * 3) / 4));
  return { atOnce: all, organization: Math.min(organization, here.organization ?? organization, share) };
}

/** Where queries run. Organizations take turns for a place, so that one that sends many does not keep out the others. */
export class QueryPlaces {
  readonly #queue: FairQueue;

  constructor({ atOnce, organization }: QueryPlacesOptions) {
    this.#queue = new FairQueue({ places: atOnce, placesEach: organization, waiting, waitingEach, patienceMs });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Queries that have a place. */
  get running(): number {
    return this.#queue.taken;
  }

  /** At once where there is one. Rejects with `rate_limited`, `overloaded` or the signal's reason. */
  take(organizationId: OrganizationId, principal: string, signal: AbortSignal): Place | Promise<Place> {
    return this.#queue.enter(organizationId)
      ? new Place(this.#queue, organizationId)
      : this.#wait(organizationId, principal, signal);
  }

  async #wait(organizationId: OrganizationId, principal: string, signal: AbortSignal): Promise<Place> {
    try {
      await this.#queue.wait(organizationId, principal, signal);
      return new Place(this.#queue, organizationId);
    } catch (error) {
      throw error instanceof NoPlace ? refusal(error) : error;
    }
  }
}

/** A query's, until `leave`, or until what it set going has ended. */
export class Place {
  readonly #queue: FairQueue;
  readonly #organizationId: OrganizationId;
  #ending: Promise<unknown> | undefined;
  #left = false;

  constructor(queue: FairQueue, organizationId: OrganizationId) {
    this.#queue = queue;
    this.#organizationId = organizationId;
  }

  /** `leave` waits for it, two seconds at most. Its failure is not reported here. */
  until(ending: Promise<unknown>): void {
    this.#ending = ending;
  }

  leave(): void {
    if (this.#ending === undefined) return this.#leave();
    const timer = setTimeout(() => this.#leave(), stopMs).unref();
    const ended = (): void => {
      clearTimeout(timer);
      this.#leave();
    };
    this.#ending.then(ended, ended);
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#queue.leave(this.#organizationId);
  }
}

/** What a query is refused with that had no place. */
function refusal({ short }: NoPlace): SightlineError {
  return short === 'each'
    ? new SightlineError('rate_limited', 'Too many queries of this organization run and wait.', {
        hint: 'Wait, then send the query again; send fewer at once, or narrower ones.',
        retryAfterSeconds: 2,
      })
    : new SightlineError('overloaded', 'Too many queries run and wait.', {
        hint: 'Wait, then send the query again.',
        retryAfterSeconds: 2,
      });
}

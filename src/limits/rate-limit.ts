import { LRUCache } from 'lru-cache';
import type { Principal } from '../contract/issuer/index.ts';
import type { OrganizationId } from '../contract/core/index.ts';

export interface RequestRates {
  /** Of one principal. */
  readonly perMinute: number;
  /** Of all of an organization. */
  readonly organizationPerMinute: number;
  /** Calls of a tool by all of an organization. */
  readonly toolPerMinute: Readonly<Record<string, number>>;
}

/** What is counted for a whole organization stands beside its principals, under names that none of them can have. */
const everybody = '*';
const toolPrefix = 'tool:';

/** At once a sixth of what a minute allows; never so few that a client could not begin. */
function rate(perMinute: number): Rate {
  return { perMinute, burst: Math.max(20, Math.ceil(perMinute / 6)) };
}

export function rateOf(rates: RequestRates): (subject: string) => Rate {
  const usual = rate(rates.perMinute);
  const organization = rate(rates.organizationPerMinute);
  const tools = new Map(Object.entries(rates.toolPerMinute).map(([tool, of]) => [`${toolPrefix}${tool}`, rate(of)]));
  return (subject) => (subject === everybody ? organization : (tools.get(subject) ?? usual));
}

/** The buckets that a principal's requests are charged to. */
interface Counted {
  readonly always: readonly Caller[];
  /** Made when it is needed: there is one for each token that is known. */
  byTool?: Map<string, readonly Caller[]>;
}

/**
 * One request counts for the principal, the organization, and the tool if that has a rate.
 * @param rates asked for each request.
 */
export function limitRequests(
  limiter: RateLimiter,
  rates: () => Pick<RequestRates, 'toolPerMinute'>,
): { take(principal: Principal, tool?: string): number } {
  // A principal is the same object with each request while its token says the same.
  const known = new WeakMap<Principal, Counted>();
  return {
    take(principal, tool) {
      let counted = known.get(principal);
      if (counted === undefined) known.set(principal, (counted = countedFor(principal)));
      if (tool === undefined || !Object.hasOwn(rates().toolPerMinute, tool)) return limiter.takeAll(counted.always);
      const byTool = (counted.byTool ??= new Map());
      let callers = byTool.get(tool);
      if (callers === undefined) {
        callers = [...counted.always, named(principal.organizationId, `${toolPrefix}${tool}`)];
        byTool.set(tool, callers);
      }
      return limiter.takeAll(callers);
    },
  };
}

function countedFor({ organizationId, subject }: Principal): Counted {
  return { always: [named(organizationId, subject), named(organizationId, everybody)] };
}

function named(organizationId: OrganizationId, subject: string): Caller {
  return { organizationId, subject, key: keyOf({ organizationId, subject }) };
}

/** Names remembered; the one seen longest ago is forgotten first. */
const capacity = 10_000;

/** A bucket for each name. It counts one event for a name: 0 if it may go on, else the seconds until the next one may. */
export function createThrottle({ now, ...rate }: Rate & { readonly now: () => Date }): (name: string) => number {
  const buckets = new LRUCache<string, TokenBucket>({ max: capacity });
  return (name) => {
    const at = now().getTime();
    let bucket = buckets.get(name);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, at);
      buckets.set(name, bucket);
    }
    bucket.fill(at);
    const wait = Math.ceil(bucket.wait);
    if (wait === 0) bucket.take();
    return wait;
  };
}

export interface Rate {
  /** Requests a minute that may go on for ever. */
  readonly perMinute: number;
  /** Requests at once after a rest. */
  readonly burst: number;
}

/** Filled when it is looked at: no timer. Times are milliseconds; one that goes back adds nothing. */
export class TokenBucket {
  #rate: Rate;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, at: number) {
    this.#rate = checkedRate(rate);
    this.#tokens = rate.burst;
    this.#filledAt = at;
  }

  /** What has come since; a new rate holds for it already. */
  fill(at: number, rate: Rate = this.#rate): void {
    if (rate !== this.#rate) this.#rate = checkedRate(rate);
    const { perMinute, burst } = rate;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, at - this.#filledAt) * perMinute) / 60_000);
    this.#filledAt = at;
  }

  /** Seconds until there is a token; 0 where there is one now. */
  get wait(): number {
    return this.#tokens < 1 ? ((1 - this.#tokens) * 60) / this.#rate.perMinute : 0;
  }

  /** More than there are leave a debt, which is waited off. */
  take(tokens = 1): void {
    this.#tokens -= tokens;
  }
}

/** Throws where no bucket could have the rate. */
function checkedRate(rate: Rate): Rate {
  if (!(rate.perMinute > 0) || !(rate.burst >= 1)) throw new RangeError('perMinute and burst must be positive');
  return rate;
}

export interface RateLimitOptions extends Rate {
  /** Of subjects that have a rate of their own. Asked each time: a rate may become another. */
  readonly rateOf?: (subject: string) => Rate | undefined;
  /** Milliseconds that never go back; `performance.now` by default. */
  readonly now?: () => number;
  /** Principals remembered; the least recently seen is dropped first and starts with a full bucket. */
  readonly maxPrincipals?: number;
}

/** Whose requests are counted together. */
export interface Caller extends Pick<Principal, 'organizationId' | 'subject'> {
  /** As `keyOf` makes it, where somebody keeps it for the next time. */
  readonly key?: string;
}

/** Under what a caller is counted. */
export function keyOf({ organizationId, subject }: Caller): string {
  return `${organizationId} ${subject}`;
}

export interface RateLimiter {
  /** Counts one request; 0 if it may go on, else the seconds until the next one may. A refused request costs nothing. */
  take(caller: Caller): number;
  /** One request that counts for each of these, or for none: 0 if all of them may, else the longest wait. */
  takeAll(callers: readonly Caller[]): number;
}

/** A limiter that counts part of its principals' requests itself and is informed of the rest. */
export interface PartialRateLimiter extends RateLimiter {
  /** Counts requests let in elsewhere. They may put the principal into debt, which it waits off. */
  debit(caller: Caller, requests: number): void;
}

/** A token bucket for each principal, in bounded memory. */
export function createRateLimit(options: RateLimitOptions): PartialRateLimiter {
  const { perMinute, burst, rateOf, now = () => performance.now(), maxPrincipals = 50_000 } = options;
  const usual = checkedRate({ perMinute, burst });
  const buckets = new LRUCache<string, TokenBucket>({ max: maxPrincipals });
  /** Of the call that is answered: nothing else runs meanwhile, and an array each time would be garbage. */
  const asked: TokenBucket[] = [];
  function filled(caller: Caller, at: number): TokenBucket {
    const key = caller.key ?? keyOf(caller);
    const rate = rateOf?.(caller.subject) ?? usual;
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, at);
      buckets.set(key, bucket);
    } else {
      bucket.fill(at, rate);
    }
    return bucket;
  }
  return {
    take(caller) {
      const bucket = filled(caller, now());
      const { wait } = bucket;
      if (wait === 0) bucket.take();
      return wait;
    },
    takeAll(callers) {
      const at = now();
      let wait = 0;
      let count = 0;
      for (const caller of callers) {
        const bucket = filled(caller, at);
        wait = Math.max(wait, bucket.wait);
        asked[count] = bucket;
        count += 1;
      }
      if (wait > 0) return wait;
      for (let index = 0; index < count; index += 1) asked[index]?.take();
      return 0;
    },
    debit(caller, requests) {
      filled(caller, now()).take(requests);
    },
  };
}

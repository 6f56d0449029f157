import { keyOf, type Caller, type RateLimiter, type Rate } from './rate-limit.ts';
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

/** The rates in force, by subject. */
export interface CurrentRates {
  readonly of: (subject: string) => Rate;
  readonly limitsTool: (tool: string) => boolean;
  /** For principals that are known too. */
  readonly change: (rates: RequestRates) => void;
}

export function createRates(initial: RequestRates): CurrentRates {
  let usual: Rate;
  let others: ReadonlyMap<string, Rate>;
  const change = ({ perMinute, organizationPerMinute, toolPerMinute }: RequestRates): void => {
    usual = rate(perMinute);
    const tools = Object.entries(toolPerMinute).map(([tool, of]) => [`${toolPrefix}${tool}`, rate(of)] as const);
    others = new Map([[everybody, rate(organizationPerMinute)], ...tools]);
  };
  change(initial);
  return {
    of: (subject) => others.get(subject) ?? usual,
    limitsTool: (tool) => others.has(`${toolPrefix}${tool}`),
    change,
  };
}

/** At once a sixth of what a minute allows; never so few that a client could not begin. */
function rate(perMinute: number): Rate {
  return { perMinute, burst: Math.max(20, Math.ceil(perMinute / 6)) };
}

/** The buckets that a principal's requests are charged to. */
interface Counted {
  readonly always: readonly Caller[];
  /** Made when it is needed: there is one for each token that is known. */
  byTool?: Map<string, readonly Caller[]>;
}

/** One request counts for the principal, the organization, and the tool if that has a rate. */
export function limitRequests(
  limiter: RateLimiter,
  { limitsTool }: Pick<CurrentRates, 'limitsTool'>,
): { take(principal: Principal, tool?: string): number } {
  // A principal is the same object with each request while its token says the same.
  const known = new WeakMap<Principal, Counted>();
  return {
    take(principal, tool) {
      let counted = known.get(principal);
      if (counted === undefined) known.set(principal, (counted = countedFor(principal)));
      if (tool === undefined || !limitsTool(tool)) return limiter.takeAll(counted.always);
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

import type { Principal } from '../contract/auth.ts';
import type { Rate, RateLimiter } from './rate-limit.ts';

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

/**
 * One request counts for the principal, the organization, and the tool if that has a rate.
 * @param rates asked for each request.
 */
export function limitRequests(
  limiter: RateLimiter,
  rates: () => Pick<RequestRates, 'toolPerMinute'>,
): { take(principal: Principal, tool?: string): number } {
  return {
    take({ organizationId, subject }, tool) {
      const callers = [
        { organizationId, subject },
        { organizationId, subject: everybody },
      ];
      if (tool !== undefined && Object.hasOwn(rates().toolPerMinute, tool)) {
        callers.push({ organizationId, subject: `${toolPrefix}${tool}` });
      }
      return limiter.takeAll(callers);
    },
  };
}

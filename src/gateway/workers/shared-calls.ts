import type { RunningCalls } from '../../mcp/running.ts';
import type { Seat } from './seat.ts';
import { keyOf, type Caller, type PartialRateLimiter, type RateLimiter } from '../../limits/rate-limit.ts';

const tellEveryMs = 50;

/**
 * One limit for a principal, whichever worker it calls. Dividing the limit would give a client that keeps one connection a
 * part of what it may have, and asking on each request would cost each a turn of another process. So each worker counts at
 * once and tells the others a moment later; a burst at several workers within that moment is paid back afterwards.
 */
export function shareRateLimit(limiter: PartialRateLimiter, { tell, hear }: Pick<Seat, 'tell' | 'hear'>): RateLimiter {
  const counts = new Map<string, [Caller, number]>();
  hear((message) => {
    if (message.kind !== 'admitted') return;
    for (const [caller, count] of message.counts) limiter.debit(caller, count);
  });
  const tellAll = (): void => {
    tell({ kind: 'admitted', counts: [...counts.values()] });
    counts.clear();
  };
  const count = ({ organizationId, subject }: Caller): void => {
    const key = keyOf({ organizationId, subject });
    const known = counts.get(key);
    if (known === undefined) {
      if (counts.size === 0) setTimeout(tellAll, tellEveryMs).unref();
      counts.set(key, [{ organizationId, subject }, 1]);
    } else {
      known[1] += 1;
    }
  };
  return {
    take(caller) {
      const wait = limiter.take(caller);
      if (wait === 0) count(caller);
      return wait;
    },
    takeAll(callers) {
      const wait = limiter.takeAll(callers);
      if (wait === 0) for (const caller of callers) count(caller);
      return wait;
    },
  };
}

/** A call is cancelled at whichever worker it runs. */
export function shareRunningCalls(own: RunningCalls, { tell, hear }: Pick<Seat, 'tell' | 'hear'>): RunningCalls {
  hear((message) => {
    if (message.kind === 'cancelled') own.cancel(message.caller, message.sessionId, message.id);
  });
  return {
    add: (...call) => own.add(...call),
    cancel(caller, sessionId, id) {
      if (own.cancel(caller, sessionId, id)) return true;
      if (sessionId === undefined || (typeof id !== 'string' && typeof id !== 'number')) return false;
      const { organizationId, subject } = caller;
      tell({ kind: 'cancelled', caller: { organizationId, subject }, sessionId, id });
      return false;
    },
  };
}

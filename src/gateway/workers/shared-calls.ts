import type { RunningCalls } from '../../mcp/running.ts';
import type { Seat } from './seat.ts';
import type { PartialRateLimiter } from '../../limits/rate-limit.ts';

const tellEveryMs = 50;

/**
 * One limit for a principal, whichever worker it calls. Each worker counts at once and tells the others a moment later;
 * a burst at several within that moment is paid back afterwards.
 */
export function shareRateLimit(limiter: PartialRateLimiter, { tell, hear }: Pick<Seat, 'tell' | 'hear'>): void {
  const admitted = limiter.tally(() => void setTimeout(tellAll, tellEveryMs).unref());
  function tellAll(): void {
    tell({ kind: 'admitted', counts: [...admitted] });
    admitted.clear();
  }
  hear((message) => {
    if (message.kind !== 'admitted') return;
    for (const [caller, count] of message.counts) limiter.debit(caller, count, admitted);
  });
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

import type { RunningCalls } from '../../mcp/running.ts';
import type { Seat } from './seat.ts';

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

import { callerOf } from '../../../limits/network.ts';
import { createThrottle } from '../../../limits/throttle.ts';

/** Nothing was fetched, for too much is being fetched already. It says nothing about the document. */
export class BudgetExceeded extends Error {}

export interface FetchBudget {
  /** Before each fetch; answers what to call at its end. Throws `BudgetExceeded`. */
  take(host: string): () => void;
}

export interface FetchBudgetOptions {
  readonly now: () => Date;
  /** Network address of who is the cause. */
  readonly caller: () => string;
}

const atOnce = 16;
const callerPerMinute = 30;
const hostPerMinute = 60;

/** Anyone can have us fetch what they like: so much that one instance is of no use against another host, nor can be held up. */
export function createFetchBudget({ now, caller }: FetchBudgetOptions): FetchBudget {
  const ofCaller = createThrottle({ perMinute: callerPerMinute, burst: callerPerMinute, now });
  const ofHost = createThrottle({ perMinute: hostPerMinute, burst: hostPerMinute, now });
  let running = 0;
  return {
    take(host) {
      if (running >= atOnce) throw new BudgetExceeded('too many documents are being fetched at once');
      if (ofCaller(callerOf(caller())) > 0) throw new BudgetExceeded('too many documents were fetched for this caller');
      if (ofHost(host) > 0) throw new BudgetExceeded('too many documents were fetched from this host');
      running += 1;
      return () => {
        running -= 1;
      };
    },
  };
}

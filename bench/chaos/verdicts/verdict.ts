import type { Gauges } from '../gauges.ts';
import type { FaultContext } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { Outages } from '../outages.ts';
import type { Stage } from '../stage.ts';
import type { Traffic } from '../traffic.ts';

/** A promise, and whether it was kept. */
export interface Verdict {
  readonly promise: string;
  /** What was looked at, in a few words. */
  readonly looked: string;
  /** Empty where it was kept. */
  readonly evidence: readonly string[];
}

/** All that was done and seen. */
export interface Run extends Pick<FaultContext, 'broken' | 'recoveries' | 'speedJudged'> {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly traffic: Traffic;
  readonly outages: Outages;
  readonly gauges: Gauges;
  readonly clientId: string;
}

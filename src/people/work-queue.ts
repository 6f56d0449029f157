import { SightlineError } from '../contract/index.ts';

/** Runs a few pieces of work at once and lets a bounded number wait. */
export interface WorkQueue {
  /**
   * Lanes take turns, so that what strangers ask for holds up nobody known. Rejects with `unavailable` when the lane is
   * full.
   */
  run<Result>(lane: Lane, work: () => Promise<Result>): Promise<Result>;
}

export const lanes = ['known', 'stranger'] as const;
export type Lane = (typeof lanes)[number];

export interface WorkQueueOptions {
  readonly atOnce: number;
  /** Of each lane. */
  readonly mostWaiting: number;
}

export function createWorkQueue({ atOnce, mostWaiting }: WorkQueueOptions): WorkQueue {
  const waiting: Record<Lane, (() => void)[]> = { known: [], stranger: [] };
  let running = 0;
  let last: Lane = 'stranger';

  function next(): (() => void) | undefined {
    const turn = last === 'known' ? (['stranger', 'known'] as const) : lanes;
    last = turn.find((lane) => waiting[lane].length > 0) ?? last;
    return waiting[last].shift();
  }

  async function place(lane: Lane): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return;
    }
    if (waiting[lane].length >= mostWaiting) {
      throw new SightlineError(
        'unavailable',
        'Too many people are signing in at this moment. Try again in a few seconds.',
        {
          retryAfterSeconds: 5,
        },
      );
    }
    await new Promise<void>((resolve) => waiting[lane].push(resolve));
  }

  return {
    async run(lane, work) {
      await place(lane);
      try {
        return await work();
      } finally {
        // The place goes to the next one as it is, so that nobody who comes now is first.
        const heir = next();
        if (heir === undefined) running -= 1;
        else heir();
      }
    },
  };
}

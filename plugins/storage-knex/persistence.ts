import { setTimeout as sleep } from 'node:timers/promises';
import type { Setback } from './dialect.ts';

/** How often the same is tried, and the longest pause between two tries, milliseconds. */
const patience = {
  // Each time another one got through, so it is a matter of turns.
  undone: { attempts: 12, pauseMs: 200 },
  // A server that restarts refuses for seconds, which nobody should wait for here; a lost connection is replaced at once.
  lost: { attempts: 3, pauseMs: 300 },
} as const satisfies Record<Setback, object>;

/** A loss that was found out no sooner was one of silence: the next try would take as long. */
export const promptMs = 2_000;

/** Repeats what failed without leaving anything behind; what `setback` does not know is the caller's at once. */
export async function persistently<Result>(
  attempt: () => Promise<Result>,
  setback: (error: unknown) => Setback | undefined,
): Promise<Result> {
  const begun = performance.now();
  const tries: Record<Setback, number> = { undone: 0, lost: 0 };
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const kind = setback(error);
      if (kind === undefined) throw error;
      const { attempts, pauseMs } = patience[kind];
      tries[kind] += 1;
      if (tries[kind] >= attempts) throw error;
      if (kind === 'lost' && performance.now() - begun > promptMs) throw error;
      await sleep(Math.min(5 * 2 ** tries[kind], pauseMs) * (0.5 + Math.random()));
    }
  }
}

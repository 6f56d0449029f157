import type { SightlineError } from '../contract/core/index.ts';

/** Runs a few pieces of work at once and lets a bounded number wait. */
interface WorkQueue {
  /**
   * Round robin over lanes, and over the parties of a lane. A full lane rejects with `unavailable`, work of the party
   * with the most waiting first, so that a flood only hurts its sender.
   */
  run<Result>(place: Place, work: () => Promise<Result>): Promise<Result>;
}

export const lanes = ['known', 'stranger'] as const;
export type Lane = (typeof lanes)[number];

export interface Place {
  readonly lane: Lane;
  /** Who asks, as far as that can be told. */
  readonly party: string;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: SightlineError) => void;
}

/** By party; the one whose turn is next is the first. */
type Parties = Map<string, Waiting[]>;

interface WorkLimits {
  readonly atOnce: number;
  /** Of each lane. */
  readonly mostWaiting: number;
  /** What work is refused with, `unavailable`. */
  readonly full: () => SightlineError;
}

export function createWorkQueue({ atOnce, mostWaiting, full }: WorkLimits): WorkQueue {
  const waiting: Record<Lane, Parties> = { known: new Map(), stranger: new Map() };
  let running = 0;
  let last: Lane = 'stranger';

  function next(): Waiting | undefined {
    const turn = last === 'known' ? (['stranger', 'known'] as const) : lanes;
    last = turn.find((lane) => waiting[lane].size > 0) ?? last;
    return firstOf(waiting[last]);
  }

  async function wait({ lane, party }: Place): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return;
    }
    const parties = waiting[lane];
    if (totalOf(parties) >= mostWaiting) makeRoom(parties, party, full);
    await new Promise<void>((begin, refuse) => {
      const own = parties.get(party);
      if (own) own.push({ begin, refuse });
      else parties.set(party, [{ begin, refuse }]);
    });
  }

  return {
    async run(place, work) {
      await wait(place);
      try {
        return await work();
      } finally {
        // Hands the slot over directly, so that no newcomer can take it first.
        const heir = next();
        if (heir === undefined) running -= 1;
        else heir.begin();
      }
    },
  };
}

function firstOf(parties: Parties): Waiting | undefined {
  for (const [party, own] of parties) {
    parties.delete(party);
    const first = own.shift();
    if (own.length > 0) parties.set(party, own);
    return first;
  }
  return undefined;
}

function totalOf(parties: Parties): number {
  return Array.from(parties.values(), ({ length }) => length).reduce((sum, length) => sum + length, 0);
}

/** Refuses the latest of the party with the most waiting, or, where `newcomer` would have as many, throws. */
function makeRoom(parties: Parties, newcomer: string, full: WorkLimits['full']): void {
  const [greediest] = [...parties.values()].toSorted((one, other) => other.length - one.length);
  if (greediest === undefined || greediest.length <= (parties.get(newcomer)?.length ?? 0) + 1) throw full();
  greediest.pop()?.refuse(full());
}

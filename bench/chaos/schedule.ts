import { setTimeout as sleep } from 'node:timers/promises';
import { faults, frozen, type FaultContext } from './faults.ts';
import { recoverySeconds } from './speed.ts';

const shortRestSeconds = [0.5, 3] as const;
/** Longer than requests may fail after a fault, so that there is time in which none may. */
const longRestSeconds = [recoverySeconds + 1, recoverySeconds + 4] as const;
const longRestShare = 0.4;

/**
 * Rounds of all faults, each round in an order of its own, until it is told to stop, though not before the end of the first.
 * They come one after another, but for a gateway that is frozen: the others happen beside it.
 */
export async function runSchedule(
  context: FaultContext,
  signal: AbortSignal,
  begins: (fault: string) => void,
): Promise<void> {
  const { random } = context;
  let beside: Promise<void> = Promise.resolve();
  let first = true;
  do {
    const order = [...faults, frozen]
      .map((fault) => ({ fault, at: random.unit() }))
      .toSorted((one, other) => one.at - other.at);
    for (const { fault } of order) {
      const rest = random.between(...(random.chance(longRestShare) ? longRestSeconds : shortRestSeconds));
      await sleep(rest * 1_000, undefined, first ? {} : { signal }).catch(() => {});
      if (signal.aborted && !first) break;
      if (fault === frozen) {
        await beside;
        begins(fault.name);
        beside = frozen.run(context);
      } else {
        begins(fault.name);
        await fault.run(context);
      }
    }
    first = false;
  } while (!signal.aborted);
  await beside;
}

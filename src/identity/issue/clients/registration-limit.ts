import { hashSecret } from '../../../contract/core/index.ts';
import type { BucketRepository } from '../../../contract/storage/index.ts';
import { callerOf } from '../../../limits/network.ts';
import { createThrottle } from '../../../limits/throttle.ts';

/** A team behind one address connects in a morning; a thousand registrations take one address most of a day. */
const perMinute = 1;
const burst = 30;
const eachMs = 60_000 / perMinute;

export interface RegistrationLimitOptions {
  /** Asked anew each time: storage may be opened after this is made. */
  readonly buckets: () => Pick<BucketRepository, 'read' | 'pour'>;
  readonly now: () => Date;
}

/**
 * Counts a registration from an address. Answers 0 if it may go on, else the seconds until the next one may. Counted over all
 * gateways, whose number would else make the day into hours; a refused one is not, but for those that come at once.
 */
export function createRegistrationLimit({
  buckets,
  now,
}: RegistrationLimitOptions): (address: string) => Promise<number> {
  // Before it, so that a flood is none of reads of the storage.
  const here = createThrottle({ perMinute, burst, now });
  return async (address) => {
    const caller = callerOf(address);
    const wait = here(caller);
    if (wait > 0) return wait;
    const name = `registration ${hashSecret(caller)}`;
    const time = now();
    const emptyAt = (await buckets().read([name], time)).get(name) ?? time;
    const tooMuchMs = emptyAt.getTime() - time.getTime() - (burst - 1) * eachMs;
    if (tooMuchMs > 0) return Math.ceil(tooMuchMs / 1_000);
    await buckets().pour(new Map([[name, eachMs]]), time);
    return 0;
  };
}

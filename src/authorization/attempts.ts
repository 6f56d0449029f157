/** How many wrong secrets one address may show for one client id before it is told to slow down. */
const allowed = 10;
const windowMs = 60_000;
/** Counters kept; the oldest go first. An attacker who fills them only loses count of their own failures. */
const capacity = 10_000;

/**
 * Counts failed attempts by address and client id. It never refuses a good secret: secrets are 256 random bits, so the
 * danger is not a guess but a key locked out by a stranger who knows its id, or by one stale copy behind the same address.
 */
export interface Attempts {
  /** Notes a failure. Answers how many seconds to wait once there were too many, else undefined. */
  fail(address: string, clientId: string): number | undefined;
}

export function createAttempts(now: () => Date): Attempts {
  const counters = new Map<string, { count: number; readonly endsAt: number }>();

  return {
    fail(address, clientId) {
      const time = now().getTime();
      const name = `${address} ${clientId}`;
      let counter = counters.get(name);
      if (!counter || counter.endsAt <= time) {
        counters.delete(name);
        counter = { count: 0, endsAt: time + windowMs };
        counters.set(name, counter);
        if (counters.size > capacity) {
          for (const oldest of counters.keys()) {
            counters.delete(oldest);
            break;
          }
        }
      }
      counter.count += 1;
      return counter.count > allowed ? Math.ceil((counter.endsAt - time) / 1000) : undefined;
    },
  };
}

import { isIPv6 } from 'node:net';

export interface ThrottleOptions {
  readonly perMinute: number;
  /** At once, after a rest. */
  readonly burst: number;
  readonly now: () => Date;
}

/** Counts one event for a name. Answers 0 if it may go on, else the seconds until the next one may. */
export type Throttle = (name: string) => number;

/** Names remembered; the one seen longest ago is forgotten first. */
const capacity = 10_000;

/** A bucket for each name, filled when it is looked at. */
export function createThrottle({ perMinute, burst, now }: ThrottleOptions): Throttle {
  const buckets = new Map<string, { left: number; at: number }>();
  return (name) => {
    const at = now().getTime();
    const bucket = buckets.get(name) ?? { left: burst, at };
    buckets.delete(name);
    buckets.set(name, bucket);
    if (buckets.size > capacity) {
      for (const oldest of buckets.keys()) {
        buckets.delete(oldest);
        break;
      }
    }
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) * perMinute) / 60_000);
    bucket.at = at;
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * 60) / perMinute);
    bucket.left -= 1;
    return 0;
  };
}

/** By what a caller is counted: an IPv6 host has a whole /64 to call from. */
export function callerOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.toLowerCase().replace(/%.*/, '').split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = tail.split(':').filter((group) => group !== '');
  const groups = address.includes('::')
    ? [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
    : left;
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

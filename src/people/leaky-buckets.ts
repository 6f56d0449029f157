import { RecentMap } from './recent-map.ts';

/**
 * Counts by name what leaks away again, one every `leakMs`. A full bucket takes no more, so that nobody waits longer than
 * `leakMs` for a place. Bounded: the name longest untouched is forgotten first.
 */
export interface LeakyBuckets {
  /** Seconds until there is a place, or until fewer than `size` are in it; 0 where that is so now. */
  wait(name: string, size?: number): number;
  add(name: string): void;
  takeBack(name: string): void;
  empty(name: string): void;
  level(name: string): number;
  /** How many names are kept. */
  readonly names: number;
}

export interface LeakyBucketsOptions {
  readonly size: number;
  readonly leakMs: number;
  readonly now: () => Date;
  readonly capacity: number;
}

export function createLeakyBuckets({ size, leakMs, now, capacity }: LeakyBucketsOptions): LeakyBuckets {
  /** When the bucket will be empty, in epoch milliseconds: all there is to know of it. */
  const emptyAt = new RecentMap<number>(capacity);

  const content = (name: string): number => Math.max(0, (emptyAt.get(name) ?? 0) - now().getTime());

  function change(name: string, by: number): void {
    const ms = Math.min(size * leakMs, content(name) + by);
    if (ms <= 0) emptyAt.delete(name);
    else emptyAt.set(name, now().getTime() + ms);
  }

  return {
    wait: (name, places = size) => Math.max(0, Math.ceil((content(name) - (places - 1) * leakMs) / 1_000)),
    add: (name) => change(name, leakMs),
    takeBack: (name) => change(name, -leakMs),
    empty: (name) => emptyAt.delete(name),
    level: (name) => Math.ceil(content(name) / leakMs),
    get names() {
      return emptyAt.size;
    },
  };
}

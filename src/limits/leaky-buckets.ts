import type { BucketRepository } from '../contract/storage/index.ts';
import { Counts } from './at-once.ts';

export interface BucketKind {
  /** How the storage's names of this kind begin. */
  readonly prefix: string;
  readonly size: number;
  /** One leaks away in this time. */
  readonly leakMs: number;
}

/**
 * Leaky buckets by name, shared by all gateways over one storage. A full bucket takes no more, so that no wait exceeds `leakMs`.
 * Only additions are written.
 */
export interface LeakyBuckets {
  look(of: readonly (readonly [kind: BucketKind, name: string])[]): Promise<readonly Bucket[]>;
  /** Adds one to each. */
  add(buckets: readonly Bucket[]): Promise<void>;
  empty(bucket: Bucket): Promise<void>;
  /** Counts one in each at this gateway, until the answered function is called. */
  hold(buckets: readonly Bucket[]): () => void;
}

/** A bucket as it was when it was looked at. */
export interface Bucket {
  readonly kind: BucketKind;
  /** In the storage. */
  readonly name: string;
  /** Of what is held, too. */
  readonly level: number;
  /** How many are held at this gateway. */
  readonly held: number;
  /** How full, in milliseconds until it is empty. */
  readonly content: number;
  /** Seconds until there is a place, or until fewer than `size` are in it; 0 where that is so now. */
  wait(size?: number): number;
}

/** The repository is looked up for each call: storage may open after this is created. */
export function createLeakyBuckets(options: { repository: () => BucketRepository; now: () => Date }): LeakyBuckets {
  const { repository, now } = options;
  const held = new Counts();
  const emptyAt = new WeakMap<Bucket, number>();

  function bucket(kind: BucketKind, name: string): Bucket {
    const content = (): number => Math.max(0, (emptyAt.get(one) ?? 0) - now().getTime());
    const withHeld = (): number => Math.min(sizeOf(kind), content() + held.of(name) * kind.leakMs);
    const one: Bucket = {
      kind,
      name,
      get level() {
        return Math.ceil(withHeld() / kind.leakMs);
      },
      get held() {
        return held.of(name);
      },
      get content() {
        return content();
      },
      wait: (places = kind.size) => Math.max(0, Math.ceil((withHeld() - (places - 1) * kind.leakMs) / 1_000)),
    };
    return one;
  }

  return {
    async look(of) {
      const buckets = of.map(([kind, name]) => bucket(kind, `${kind.prefix}${name}`));
      const found = await repository().read(new Map(buckets.map(({ name, kind }) => [name, sizeOf(kind)])), now());
      for (const one of buckets) emptyAt.set(one, found.get(one.name)?.getTime() ?? 0);
      return buckets;
    },
    async add(buckets) {
      const portions = buckets
        .filter(({ kind, content }) => content < sizeOf(kind))
        .map(({ name, kind }) => [name, { amount: kind.leakMs, size: sizeOf(kind) }] as const);
      const poured = await repository().pour(new Map(portions), now());
      for (const one of buckets) {
        const at = poured.get(one.name);
        if (at !== undefined) emptyAt.set(one, at.getTime());
      }
    },
    async empty(one) {
      if (one.content > 0) await repository().empty([one.name]);
      emptyAt.delete(one);
    },
    hold(buckets) {
      for (const { name } of buckets) held.add(name, 1);
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        for (const { name } of buckets) held.add(name, -1);
      };
    },
  };
}

/** In milliseconds. */
function sizeOf({ size, leakMs }: BucketKind): number {
  return size * leakMs;
}

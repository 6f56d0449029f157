/** A gateway that serves. */
export interface RunningGateway {
  /** Its own for as long as it runs, however many processes it has; at most 40 characters. */
  readonly id: string;
  /** Where it runs, for a person to read; at most 200 characters. */
  readonly host: string;
  /** Names the data directory that holds its telemetry; at most 40 characters. Absent where telemetry is in a warehouse. */
  readonly telemetryIn?: string;
  readonly seenAt: Date;
}

export interface GatewayRepository {
  /** Says that this one serves; again, with a new `seenAt`, while it does. */
  announce(gateway: RunningGateway): Promise<void>;
  /** Those seen since, in the order of their ids. */
  list(since: Date): Promise<readonly RunningGateway[]>;
  remove(id: string): Promise<void>;
  /** Those that ended without a word. */
  removeUnseen(before: Date): Promise<void>;
}

/**
 * Leaky buckets by name, filled by all gateways together. Each loses a millisecond of its content in a millisecond, so that
 * the moment at which it will be empty is all there is to know of it. The gateways' clocks should agree to a second.
 * A name has 1 to 200 characters of printable ASCII, and no `~`; a call takes at most 500 of them.
 *
 * A bucket holds at most its size, in milliseconds, which is always told the same. One that is fuller by more than a minute was
 * filled by a clock that has been set back since, and counts as empty.
 */
export interface BucketRepository {
  /** When these will be empty; without those that are. Sizes by name. */
  read(sizes: ReadonlyMap<string, number>, now: Date): Promise<ReadonlyMap<string, Date>>;
  /** Those whose names begin so and that are not empty, the fullest first. All are of one size. */
  list(prefix: string, size: number, now: Date, limit: number): Promise<ReadonlyMap<string, Date>>;
  /** Adds to each bucket what still goes into it and returns when it will be empty. Concurrent calls lose nothing else. */
  pour(portions: ReadonlyMap<string, Portion>, now: Date): Promise<ReadonlyMap<string, Date>>;
  /** Empties these. */
  empty(names: readonly string[]): Promise<void>;
  /** Empties those whose names begin so. */
  emptyAll(prefix: string): Promise<void>;
  /** Forgets what was empty before. */
  removeEmpty(before: Date): Promise<void>;
}

/** What is poured into a bucket, in milliseconds. */
export interface Portion {
  readonly amount: number;
  /** Of the bucket. */
  readonly size: number;
}

/** A query's result that was cut, for the gateways beside the one that read it. */
export interface KeptResultRecord {
  /** At most 40 characters. */
  readonly id: string;
  /** Stands for who may read it; at most 64 characters. */
  readonly holder: string;
  /** Sealed by the vault. */
  readonly sealed: string;
  readonly expiresAt: Date;
}

/** Bytes count the sealed form. */
export interface KeptResultBounds {
  readonly perHolder: { readonly results: number; readonly bytes: number };
  readonly overall: { readonly results: number; readonly bytes: number };
}

/** Kept for a short time. The gateways' clocks should agree to a second. */
export interface KeptResultRepository {
  /**
   * Keeps it, at the cost of what has expired, of its holder's older ones beyond their bounds, and of the organization's
   * oldest beyond the overall ones. Gateways that keep at the same moment may pass the bounds by what they keep.
   */
  keep(record: KeptResultRecord, bounds: KeptResultBounds, now: Date): Promise<void>;
  /** What is sealed. Expired, dropped and another holder's are as what was never there. */
  find(id: string, holder: string, now: Date): Promise<string | undefined>;
}

/** What queries read of the warehouse, counted by day. All gateways over one storage count together. */
export interface ScanRepository {
  /**
   * Adds to the day's count and answers the new total. Negative gives back what was counted and not read; the total never
   * falls below 0, and never passes Number.MAX_SAFE_INTEGER.
   * @param day UTC, `2026-01-31`.
   * @param bytes an integer.
   */
  add(day: string, bytes: number): Promise<number>;
  /** 0 for a day of which nothing is known. */
  total(day: string): Promise<number>;
}

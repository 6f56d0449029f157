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
 */
export interface BucketRepository {
  /** When these will be empty; without those that are. */
  read(names: readonly string[], now: Date): Promise<ReadonlyMap<string, Date>>;
  /** Those whose names begin so and that are not empty, the fullest first. */
  list(prefix: string, now: Date, limit: number): Promise<ReadonlyMap<string, Date>>;
  /** Adds milliseconds to each bucket and returns when it will be empty. Concurrent calls lose nothing. */
  pour(milliseconds: ReadonlyMap<string, number>, now: Date): Promise<ReadonlyMap<string, Date>>;
  /** Empties these. */
  empty(names: readonly string[]): Promise<void>;
  /** Empties those whose names begin so. */
  emptyAll(prefix: string): Promise<void>;
  /** Forgets what was empty before. */
  removeEmpty(before: Date): Promise<void>;
}

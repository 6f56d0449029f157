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

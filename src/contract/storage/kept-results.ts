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

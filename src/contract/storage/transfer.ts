import type { OrganizationId } from '../core/ids.ts';

/*
 * What a storage keeps, on its way into another one: rows of named tables, organization by organization. What they mean
 * is the schema's matter, so only storages of one schema understand each other; the core carries them and reads little.
 */

export type TransferRow = Readonly<Record<string, string | number | boolean | null>>;

/** Rows of one table, few enough to be held. */
export interface TransferBatch {
  /** Whose they are; absent for what belongs to no organization. Rows do not repeat it. */
  readonly organizationId?: OrganizationId;
  readonly table: string;
  readonly rows: readonly TransferRow[];
}

export interface Transfer {
  /** Names the schema that rows are of. */
  readonly schema: string;
  /**
   * Gives `work` a consistent snapshot of everything, unaffected by concurrent writes. Without web sessions; of the issuer's
   * artifacts, only the models that `artifacts` names.
   */
  snapshot<Result>(artifacts: readonly string[], work: (snapshot: StorageSnapshot) => Promise<Result>): Promise<Result>;
  /**
   * Writes everything in one transaction: all of it is there when this resolves, and nothing when it rejects, with
   * `conflict` where the storage holds anything already, or `invalid_argument` for rows that no storage of this schema gave.
   */
  restore(batches: AsyncIterable<TransferBatch>): Promise<void>;
}

export interface StorageSnapshot {
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>;
  /** In an order in which they can be written: what is referred to comes first. Once. */
  batches(): AsyncIterable<TransferBatch>;
}

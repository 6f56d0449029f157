import type { Knex } from 'knex';
import type { SightlineError } from '../../src/contract/index.ts';

/** Everything that differs between the databases behind knex. Nothing outside a dialect's folder names an engine. */
export interface Dialect {
  /** Opens nothing yet. */
  connect(): Connection;
}

/** Refusals a repository answers itself. */
export type Fault = 'duplicate' | 'foreign_key';

export interface Connection {
  /** For transactions that write. */
  readonly writer: Knex;
  /** For single statements that read. They do not wait for a writer, and see what was committed before they began. */
  readonly reader: Knex;
  /** Runs `work` in a transaction while no other process does the same, for migrations. */
  exclusively<Result>(work: (transaction: Knex.Transaction) => Promise<Result>): Promise<Result>;
  /** A one-row look-up for a hot path, with `?` for values. It sees what other processes committed before the call. */
  lookup(sql: string): Lookup;
  fault(error: unknown): Fault | undefined;
  /** An error of the driver or the operating system, in a sentence for an operator; undefined for any other. */
  explain(error: unknown): SightlineError | undefined;
  close(): Promise<void>;
}

export type Lookup = (
  ...values: readonly string[]
) => Readonly<Record<string, unknown>> | undefined | Promise<Readonly<Record<string, unknown>> | undefined>;

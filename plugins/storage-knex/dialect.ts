import type { Knex } from 'knex';
import type { OrganizationId, SightlineError } from '../../src/contract/core/index.ts';
import type { ChainAdvance } from './repositories/audit-rows.ts';
import type { Statements } from './transact.ts';

/** Everything that differs between the databases behind knex. Nothing outside a dialect's folder names an engine. */
export interface Dialect {
  /** Where the database is a file beside the gateway's others. */
  readonly inDataDirectory?: boolean;
  /** Opens nothing yet. */
  connect(): Connection | Promise<Connection>;
}

/** What knex would say of a failed statement holds its values (hashes, sealed keys, messages), which no log may have. */
export const quietly = {
  compileSqlOnError: false,
  // An error is thrown, and logged where it is caught.
  log: { warn: () => {}, error: () => {}, debug: () => {}, deprecate: () => {} },
} as const satisfies Knex.Config;

/** The rows that statements reach: one organization's, or with `directory` those of all. */
export type Reach = OrganizationId | 'directory';

/** Refusals a repository answers itself. */
export type Fault = 'duplicate' | 'foreign_key';

/**
 * What a failure left behind. `undone`: the database took the whole transaction back, for the sake of another one. `lost`: the
 * connection ended, and only who sent a COMMIT cannot know what became of it.
 */
export type Setback = 'undone' | 'lost';

/** A loss that was found out no sooner was one of silence: the next try would take as long. */
export const promptMs = 2_000;

export interface Connection {
  /** For single statements that read. They do not wait for a writer, and see what was committed before they began. */
  read<Result>(reach: Reach, work: (db: Statements) => Promise<Result>): Promise<Result>;
  /** `read` for what may look at every row. Absent where no read holds up others. */
  search?<Result>(reach: Reach, work: (db: Statements) => Promise<Result>): Promise<Result>;
  /**
   * One transaction; durable when it resolves. One at a time for each organization, over all processes; its statements see all
   * earlier commits.
   */
  write<Result>(reach: Reach, work: (transaction: Statements) => Promise<Result>): Promise<Result>;
  /** See advanceChain. Absent where each is a transaction of its own, of `write`. Not repeated where the connection is lost. */
  advance?(organizationId: OrganizationId, advance: ChainAdvance): Promise<boolean>;
  /** Makes a transaction of the directory the only one that writes for the organization, until it ends. */
  claim(transaction: Statements, organizationId: OrganizationId): Promise<void>;
  /** Runs `work` while no other process does the same, for migrations. */
  exclusively<Result>(work: (session: SchemaSession) => Promise<Result>): Promise<Result>;
  /** Shows everything as of one moment, of all organizations. Statements take as long as they take. */
  snapshot<Result>(work: (db: Knex) => Promise<Result>): Promise<Result>;
  /** One long transaction for all organizations, while nobody begins to use the schema. */
  fill<Result>(work: (transaction: Knex) => Promise<Result>): Promise<Result>;
  /** Looks without making anything, also at a store that does not exist yet. */
  inspect<Result>(work: (db: Knex) => Promise<Result>): Promise<Result>;
  /**
   * A one-row look-up for a hot path, with `?` for values. It sees what other processes committed before the call. Where it is
   * answered with the very row of an earlier call, that row is as it was.
   */
  lookup(sql: string): Lookup;
  /** Absent where the database has none. */
  readonly bell?: Bell;
  fault(error: unknown): Fault | undefined;
  setback(error: unknown): Setback | undefined;
  /** An error of the driver or the operating system, in a sentence for an operator; undefined for any other. */
  explain(error: unknown): SightlineError | undefined;
  /** What an operator should know of how the server is set up, a sentence each. */
  concerns(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Also shows the pools beneath it. */
export interface PooledConnection extends Connection {
  readonly writer: Knex;
  readonly reader: Knex;
}

/** Closes the pool when the work is done. */
export async function closing<Result>(knex: Knex, work: (knex: Knex) => Promise<Result>): Promise<Result> {
  try {
    return await work(knex);
  } finally {
    await knex.destroy();
  }
}

export interface SchemaSession {
  readonly knex: Knex;
  /** Runs one migration and records it. A migration interrupted by a crash is finished the next time. */
  apply(name: string, up: (knex: Knex) => Promise<void>, record: () => Promise<void>): Promise<void>;
  /** What every table of an organization has beside its columns; called when all migrations are done. */
  secure(): Promise<void>;
}

export type Row = Readonly<Record<string, unknown>>;

export type Lookup = (...values: readonly string[]) => Promise<Row | undefined>;

/** Tells all processes over one database of something by its name. What is lost on the way is found by looking. */
export interface Bell {
  /** Whether others are heard at this moment. */
  readonly heard: boolean;
  /** Returns at once; never throws. */
  ring(name: string): void;
  /** `hear` is called with what others ring, and with nothing where something may have been missed. Called once. */
  listen(hear: (name?: string) => void): void;
  close(): Promise<void>;
}

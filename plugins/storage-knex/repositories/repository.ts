import type { Knex } from 'knex';
import type { Host } from '../../../src/contract/core/index.ts';
import type { AuditChains } from '../audit-chains.ts';
import type { ChatChanges } from '../chat-changes.ts';
import type { Database, ScopedDatabase } from '../database.ts';
import type { Scope } from '../scope.ts';
import type { Statements } from '../transact.ts';
import type { UsageMarks } from '../usage-marks.ts';

type Work<On, Result> = (on: On) => Promise<Result>;

interface Reached<On> {
  read<Result>(work: Work<On, Result>): Promise<Result>;
  write<Result>(work: Work<On, Result>): Promise<Result>;
}

export interface Parts<Reach> {
  readonly database: Reach;
  readonly now: () => Date;
}

/** No lease is given for so long: one that ends later was given by a clock that was ahead, and is set right since. */
const longestLeaseMs = 600_000;

export function leaseEnded<Row extends object>(query: Knex.QueryBuilder<Row>, column: string, now: Date): void {
  query.where(column, '<=', now.getTime()).orWhere(column, '>', now.getTime() + longestLeaseMs);
}

/** Makes objects of rows. `On` is what its statements begin with. */
abstract class Repository<On, Reach extends Reached<On>, Given extends Parts<Reach>> {
  // Private, so that a repository shows its contract's methods alone.
  readonly #parts: Given;

  constructor(parts: Given) {
    this.#parts = parts;
  }

  protected get parts(): Given {
    return this.#parts;
  }

  protected get database(): Reach {
    return this.#parts.database;
  }

  protected now(): Date {
    return this.#parts.now();
  }

  protected one<Row, Item>(query: Work<On, Row | undefined>, read: (row: Row) => Item): Promise<Item | undefined> {
    return this.database.read(async (on) => {
      const row = await query(on);
      return row === undefined ? undefined : read(row);
    });
  }

  protected all<Row, Item>(query: Work<On, readonly Row[]>, read: (row: Row) => Item): Promise<readonly Item[]> {
    return this.database.read(async (on) => (await query(on)).map((row) => read(row)));
  }

  /** Whether a statement changed or deleted any row. */
  protected async some(statement: Work<On, number>): Promise<boolean> {
    return (await this.database.write(statement)) > 0;
  }
}

/** What an organization's repositories are made of. */
export interface OrganizationParts extends Parts<ScopedDatabase>, Pick<Host, 'vault'> {
  readonly changes: ChatChanges;
  readonly marks: UsageMarks;
  readonly auditChains: AuditChains;
}

export abstract class OrganizationRepository extends Repository<Scope, ScopedDatabase, OrganizationParts> {}

export type DirectoryParts = Parts<Database> & Pick<Host, 'vault'>;

/** Of what belongs to no organization, or is asked before one is known. */
export abstract class DirectoryRepository extends Repository<Statements, Database, DirectoryParts> {}

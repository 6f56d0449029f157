import knex, { type Knex } from 'knex';
import { SightlineError } from '../../src/contract/index.ts';
import type { OrganizationId } from '../../src/contract/index.ts';
import type { Connection, Fault, Lookup } from './dialect.ts';
import { Scope } from './scope.ts';

/** A connected database. What it throws is a SightlineError; a driver's own error is only ever a `cause`. */
export class Database {
  readonly #connection: Connection;
  #closed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  read<Result>(work: (db: Knex) => Promise<Result>): Promise<Result> {
    return this.#guard(() => work(this.#connection.reader));
  }

  /**
   * One transaction that holds the write lock from its start; durable when it resolves. Keep it short. `refused` names the
   * errors that a violated constraint stands for.
   */
  write<Result>(
    work: (transaction: Knex.Transaction) => Promise<Result>,
    refused: Partial<Record<Fault, SightlineError>> = {},
  ): Promise<Result> {
    return this.#guard(() => this.#connection.writer.transaction(work), refused);
  }

  exclusively<Result>(work: (transaction: Knex.Transaction) => Promise<Result>): Promise<Result> {
    return this.#guard(() => this.#connection.exclusively(work));
  }

  /** See Connection.lookup. */
  lookup(sql: string): (...values: readonly string[]) => Promise<Awaited<ReturnType<Lookup>>> {
    const lookup = this.#connection.lookup(sql);
    return async (...values) => {
      try {
        return await lookup(...values);
      } catch (error) {
        throw this.#translate(error, {});
      }
    };
  }

  scoped(organizationId: OrganizationId): ScopedDatabase {
    return new ScopedDatabase(this, organizationId);
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#connection.close();
  }

  async #guard<Result>(
    work: () => Promise<Result>,
    refused: Partial<Record<Fault, SightlineError>> = {},
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#translate(error, refused);
    }
  }

  #translate(error: unknown, refused: Partial<Record<Fault, SightlineError>>): SightlineError {
    if (error instanceof SightlineError) return error;
    const fault = this.#connection.fault(error);
    const refusal = fault === undefined ? undefined : refused[fault];
    if (refusal !== undefined) return refusal;
    if (this.#closed) return new SightlineError('unavailable', 'The storage was stopped.', { cause: error });
    if (error instanceof knex.KnexTimeoutError) {
      return new SightlineError('unavailable', 'The storage has too much to do.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
    const failed = () => new SightlineError('internal', 'The storage failed.', { cause: error });
    return this.#connection.explain(error) ?? failed();
  }
}

/** The database as an organization's repositories see it: only through a Scope. */
export class ScopedDatabase {
  readonly organizationId: OrganizationId;
  readonly #database: Database;

  constructor(database: Database, organizationId: OrganizationId) {
    this.#database = database;
    this.organizationId = organizationId;
  }

  read<Result>(work: (scope: Scope) => Promise<Result>): Promise<Result> {
    return this.#database.read((knex) => work(new Scope(knex, this.organizationId)));
  }

  /** See Database.write. An organization that does not exist is `not_found`. */
  write<Result>(
    work: (scope: Scope) => Promise<Result>,
    refused: Partial<Record<Fault, SightlineError>> = {},
  ): Promise<Result> {
    return this.#database.write((knex) => work(new Scope(knex, this.organizationId)), {
      foreign_key: new SightlineError('not_found', 'The organization does not exist.'),
      ...refused,
    });
  }
}

import knex, { type Knex } from 'knex';
import { SightlineError, type OrganizationId } from '../../src/contract/core/index.ts';
import { busy, type Statements } from './transact.ts';
import { advanceChain, type ChainAdvance } from './repositories/audit-rows.ts';
import {
  promptMs,
  type Connection,
  type Fault,
  type Reach,
  type Row,
  type SchemaSession,
  type Setback,
} from './dialect.ts';
import { Scope } from './scope.ts';
import { setTimeout as sleep } from 'node:timers/promises';

type Refusals = Partial<Record<Fault, SightlineError>>;

/** What may look at every row is a search. */
type Reading = 'read' | 'search';

/** Gives a transaction of the directory the only hand on an organization, and the way to its tables. */
export type EnterScope = (organizationId: OrganizationId) => Promise<Scope>;

/** A connected database. What it throws is a SightlineError; a driver's own error is only ever a `cause`. */
export class Database {
  readonly #connection: Connection;
  #closed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** By default for the directory, which sees the rows of all. `work` may run again when the connection was lost. */
  read<Result>(
    work: (db: Statements) => Promise<Result>,
    reach: Reach = 'directory',
    how: Reading = 'read',
  ): Promise<Result> {
    const connection = this.#connection;
    return this.#guard(() =>
      persistently(
        () => (how === 'search' && connection.search ? connection.search(reach, work) : connection.read(reach, work)),
        (error) => connection.setback(error),
      ),
    );
  }

  /**
   * One transaction, by default of the directory, durable when it resolves. Keep it short; it may run again. Before the
   * directory's touches what an organization owns it enters the scope. `refused` names the errors that a violated constraint
   * stands for.
   */
  write<Result>(
    work: (transaction: Statements, enter: EnterScope) => Promise<Result>,
    refused: Refusals = {},
    reach: Reach = 'directory',
  ): Promise<Result> {
    let committing = false;
    const attempt = (): Promise<Result> => {
      committing = false;
      return this.#connection.write(reach, async (transaction) => {
        const result = await work(transaction, async (organizationId) => {
          await this.#connection.claim(transaction, organizationId);
          return new Scope(transaction, organizationId);
        });
        committing = true;
        return result;
      });
    };
    return this.#guard(
      () =>
        persistently(attempt, (error) => {
          const setback = this.#connection.setback(error);
          if (setback !== 'lost' || !committing) return setback;
          throw lostWhileKeeping(error);
        }),
      refused,
    );
  }

  exclusively<Result>(work: (session: SchemaSession) => Promise<Result>): Promise<Result> {
    return this.#guard(() => this.#connection.exclusively(work));
  }

  inspect<Result>(work: (db: Knex) => Promise<Result>): Promise<Result> {
    return this.#guard(() => this.#connection.inspect(work));
  }

  /** See Connection.snapshot. It is not read again when the connection was lost. */
  snapshot<Result>(work: (db: Knex) => Promise<Result>): Promise<Result> {
    return this.#guard(() => this.#connection.snapshot(work));
  }

  /** See Connection.fill. It is not run again, since what it writes can be read once. */
  fill<Result>(work: (transaction: Knex) => Promise<Result>, refused: Refusals): Promise<Result> {
    return this.#guard(() => this.#connection.fill(work), refused);
  }

  concerns(): Promise<readonly string[]> {
    return this.#guard(() => this.#connection.concerns());
  }

  /** See Connection.lookup. The very same answer as before, where the row is the very same. */
  lookup<Result extends object>(
    sql: string,
    read: (row: Row) => Result,
  ): (...values: readonly string[]) => Promise<Result | undefined> {
    const lookup = this.#connection.lookup(sql);
    const answers = new WeakMap<Row, Result>();
    const found = (row: Row | undefined): Result | undefined => {
      if (row === undefined) return undefined;
      let answer = answers.get(row);
      if (answer === undefined) answers.set(row, (answer = read(row)));
      return answer;
    };
    const failed = (error: unknown): never => {
      throw this.#translate(error, {});
    };
    // Each request asks so once: an async function costs more.
    return (...values) => lookup(...values).then(found, failed);
  }

  scoped(organizationId: OrganizationId): ScopedDatabase {
    return new ScopedDatabase(this, organizationId);
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#connection.close();
  }

  /** See advanceChain. Durable when it resolves. */
  advance(organizationId: OrganizationId, advance: ChainAdvance, refused: Refusals): Promise<boolean> {
    const connection = this.#connection;
    const together = connection.advance?.bind(connection);
    if (together === undefined) {
      return this.write((db) => advanceChain(new Scope(db, organizationId), advance), refused, organizationId);
    }
    return this.#guard(async () => {
      try {
        return await together(organizationId, advance);
      } catch (error) {
        throw connection.setback(error) === 'lost' ? lostWhileKeeping(error) : error;
      }
    }, refused);
  }

  async #guard<Result>(work: () => Promise<Result>, refused: Refusals = {}): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#translate(error, refused);
    }
  }

  #translate(error: unknown, refused: Refusals): SightlineError {
    if (error instanceof SightlineError) return error;
    const fault = this.#connection.fault(error);
    const refusal = fault === undefined ? undefined : refused[fault];
    if (refusal !== undefined) return refusal;
    if (this.#closed) return new SightlineError('unavailable', 'The storage was stopped.', { cause: error });
    if (error instanceof knex.KnexTimeoutError) return busy(error);
    const failed = () => new SightlineError('internal', 'The storage failed.', { cause: error });
    return this.#connection.explain(error) ?? failed();
  }
}

function lostWhileKeeping(cause: unknown): SightlineError {
  return new SightlineError('unavailable', 'The storage was lost while it kept a change; it may be kept or not.', {
    hint: 'Look whether it is there before you repeat it.',
    cause,
  });
}

const unknownOrganization = {
  foreign_key: new SightlineError('not_found', 'The organization does not exist.'),
} as const satisfies Refusals;

interface ListFilter {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly query?: string | undefined;
}

/** The database as an organization's repositories see it: only through a Scope. */
export class ScopedDatabase {
  readonly organizationId: OrganizationId;
  readonly #database: Database;

  constructor(database: Database, organizationId: OrganizationId) {
    this.#database = database;
    this.organizationId = organizationId;
  }

  read<Result>(work: (scope: Scope) => Promise<Result>, how?: Reading): Promise<Result> {
    return this.#database.read((knex) => work(new Scope(knex, this.organizationId)), this.organizationId, how);
  }

  /**
   * A page of a list. Words that no row has, and filters that few meet together, are looked for in every row. Times bound
   * where in its order a list is read, as a cursor does, and are no such filter.
   */
  list<Result>(filter: ListFilter, work: (scope: Scope) => Promise<Result>): Promise<Result> {
    const { limit: _limit, cursor: _cursor, since: _since, until: _until, ...filters } = filter;
    const given = Object.values(filters).filter((value) => value !== undefined);
    return this.read(work, filters.query !== undefined || given.length > 1 ? 'search' : 'read');
  }

  /** The only transaction that writes for the organization. One that does not exist is `not_found`. See Database.write. */
  write<Result>(work: (scope: Scope) => Promise<Result>, refused: Refusals = {}): Promise<Result> {
    return this.#database.write(
      (knex) => work(new Scope(knex, this.organizationId)),
      { ...unknownOrganization, ...refused },
      this.organizationId,
    );
  }

  advance(advance: ChainAdvance): Promise<boolean> {
    return this.#database.advance(this.organizationId, advance, unknownOrganization);
  }
}

/** How often the same is tried, and the longest pause between two tries, milliseconds. */
const patience = {
  // Each time another one got through, so it is a matter of turns.
  undone: { attempts: 12, pauseMs: 200 },
  // A server that restarts refuses for seconds, which nobody should wait for here; a lost connection is replaced at once.
  lost: { attempts: 3, pauseMs: 300 },
} as const satisfies Record<Setback, object>;

/** Repeats what failed without leaving anything behind; what `setback` does not know is the caller's at once. */
async function persistently<Result>(
  attempt: () => Promise<Result>,
  setback: (error: unknown) => Setback | undefined,
): Promise<Result> {
  const begun = performance.now();
  const tries: Record<Setback, number> = { undone: 0, lost: 0 };
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const kind = setback(error);
      if (kind === undefined) throw error;
      const { attempts, pauseMs } = patience[kind];
      tries[kind] += 1;
      if (tries[kind] >= attempts) throw error;
      if (kind === 'lost' && performance.now() - begun > promptMs) throw error;
      await sleep(Math.min(5 * 2 ** tries[kind], pauseMs) * (0.5 + Math.random()));
    }
  }
}

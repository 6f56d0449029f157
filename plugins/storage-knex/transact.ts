import type { Knex } from 'knex';
import type { Tables } from './rows.ts';
import { discard, isDiscarded } from './knex-private.ts';
import { SightlineError } from '../../src/contract/core/index.ts';

/**
 * One transaction on a connection of the pool, with knex's builders but without its object for one: that is a whole knex, some
 * 35 KiB of functions a transaction, which were half of what filled the heap's old generation.
 * @param begin the statement that begins it.
 */
export async function transact<Result>(knex: Knex, begin: string, work: Work<Result>): Promise<Result> {
  const { result, commit } = await run(knex, begin, work);
  await commit();
  return result;
}

/** The same for what only reads: it has nothing to make durable, so nobody waits for its end. */
export async function transactReading<Result>(knex: Knex, begin: string, work: Work<Result>): Promise<Result> {
  const { result, commit } = await run(knex, begin, work);
  // A connection that fails here is not used again.
  void commit().catch(() => {});
  return result;
}

type Work<Result> = (transaction: Statements) => Promise<Result>;

/** A transaction that has done its work, on a connection that its commit gives back. */
interface Ran<Result> {
  readonly result: Result;
  readonly commit: () => Promise<void>;
}

async function run<Result>(knex: Knex, begin: string, work: Work<Result>): Promise<Ran<Result>> {
  const client: Knex.Client = knex.client;
  const connection: object = await client.acquireConnection();
  try {
    await client.query(connection, begin);
    const { statements, end } = bind(knex, connection);
    const result = await undoing(client, connection, () => work(statements).finally(end));
    return { result, commit: () => commit(client, connection) };
  } catch (error) {
    await client.releaseConnection(connection);
    throw error;
  }
}

async function commit(client: Knex.Client, connection: object): Promise<void> {
  try {
    await undoing(client, connection, () => client.query(connection, 'COMMIT;'));
  } finally {
    await client.releaseConnection(connection);
  }
}

/** Rolls back where the step fails. */
async function undoing<Result>(client: Knex.Client, connection: object, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    await rollBack(client, connection);
    throw error;
  }
}

/** Statements on that connection alone. One that comes after the end, when the connection is another's, is refused. */
function bind(knex: Knex, connection: object): { readonly statements: Statements; readonly end: () => void } {
  let ended = false;
  const client: Knex.Client = knex.client;
  const bound: Knex.Client = Object.create(client);
  Object.assign(bound, {
    transacting: true,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    query: async (on: object, statement: unknown): Promise<unknown> => {
      if (ended) throw new Error('a statement came after the end of its transaction');
      return await client.query(on, statement);
    },
  });
  // Of a transaction its client is all that a statement asks for.
  const transaction: Knex.Transaction = Object.create(null, { client: { value: bound, enumerable: true } });
  const statements = Object.assign(
    <Row extends object>(table: string) => rowsOf<Row>(knex, table).transacting(transaction),
    {
      into: (table: string) => knex.into(table).transacting(transaction),
      raw: (sql: string, bindings: Knex.RawBinding[] = []) => knex.raw(sql, bindings).transacting(transaction),
      ref: (column: string) => knex.ref(column),
    },
  ) satisfies Statements;
  return { statements, end: () => void (ended = true) };
}

/** The first error is the caller's; a connection in an unknown state is not used again. */
async function rollBack(client: Knex.Client, connection: object): Promise<void> {
  if (isDiscarded(connection)) return;
  try {
    await client.query(connection, 'ROLLBACK');
  } catch (error) {
    discard(connection, error);
  }
}

/** What is said to a database between the beginning and the end of a transaction. A whole knex is such a thing, too. */
export interface Statements {
  <Name extends keyof Tables>(table: Name | `${Name} as ${string}`): ReturnType<typeof rowsOf<Tables[Name]>>;
  <Row extends object>(table: string): ReturnType<typeof rowsOf<Row>>;
  into(table: string): Knex.QueryBuilder;
  raw(sql: string, bindings?: Knex.RawBinding[]): Knex.Raw;
  ref(column: string): Knex.Ref<string, { [name: string]: string }>;
}

function rowsOf<Row extends object>(knex: Knex, table: string) {
  return knex<Row>(table);
}

/**
 * A mutex for each key, first come first served. Waiters hold no connection, so that one organization's writers cannot take
 * all of them.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();
  readonly #patienceMs: number;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Throws `unavailable` when the turn does not come in time. */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const mine = before.then(() => ended);
    this.#last.set(key, mine);
    try {
      await this.#inTime(before);
      return await work();
    } finally {
      end();
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  async #inTime(turn: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(busy()), this.#patienceMs);
    });
    try {
      await Promise.race([turn, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** More asks for the storage than it can take. */
export function busy(cause?: unknown): SightlineError {
  return new SightlineError('unavailable', 'The storage has too much to do.', { retryAfterSeconds: 1, cause });
}

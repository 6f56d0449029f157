import type { Knex } from 'knex';
import { z } from 'zod';
import { closing, type PooledConnection, type SchemaSession } from '../dialect.ts';
import { Lookups } from '../server/lookups.ts';
import type { ServerSettings } from '../config.ts';
import { transact, type Statements, Turns } from '../transact.ts';
import { connectKnex, openLink, isMariaDb, type SessionKind } from './client.ts';
import { constraintFault, explain, isLost, setback } from './errors.ts';
import { member, textMember } from '../errors.ts';

/*
 * DDL commits implicitly here, so an interrupted migration stays half done. The journal records which statements are done and
 * which one was running: that one may or may not have taken effect, so an error that says it has is ignored.
 */

const table = 'schema_migration_steps';

interface StepRow {
  readonly name: string;
  /** Statements known to be done. */
  readonly done: number;
  /** 1 from when the one after them is sent; 0 once it was refused. */
  readonly begun: number;
}

/** Runs a statement that changes the schema, unless that was done before. */
type Change = (run: () => Promise<void>) => Promise<void>;

/** What a statement answers that was done before: the table, column, index, foreign key or row is there. */
const doneBefore: ReadonlySet<unknown> = new Set([1050, 1060, 1061, 1062, 1826]);

/**
 * Runs a migration from where it stood; it hands each of its changes, always the same in the same order, to its argument.
 * @param record writes down that it is done, before the journal forgets how far it came: else it would start again from the first statement.
 */
export async function journaled(
  knex: Knex,
  name: string,
  migration: (change: Change) => Promise<void>,
  record: () => Promise<void>,
): Promise<void> {
  await knex.raw(
    'create table if not exists ?? (name varchar(255) primary key, done int not null, begun int not null)',
    [table],
  );
  const step = await knex<StepRow>(table).where({ name }).first();
  if (step === undefined) await knex<StepRow>(table).insert({ name, done: 0, begun: 0 });
  const { done, begun } = step ?? { done: 0, begun: 0 };
  let position = 0;
  await migration(async (run) => {
    position += 1;
    if (position <= done) return;
    await knex<StepRow>(table)
      .where({ name })
      .update({ done: position - 1, begun: 1 });
    try {
      await run();
    } catch (error) {
      const forgiven = begun === 1 && position === done + 1 && wasDone(error);
      // What the server refused was not done; what ended with the connection may have been.
      if (!forgiven && member(error, 'sqlState') !== undefined) {
        await knex<StepRow>(table).where({ name }).update({ begun: 0 });
      }
      if (!forgiven) throw error;
    }
  });
  await record();
  await knex<StepRow>(table).where({ name }).delete();
}

function wasDone(error: unknown): boolean {
  // MariaDB's message for an existing foreign key.
  return doneBefore.has(member(error, 'errno')) || textMember(error, 'message')?.includes('errno: 121') === true;
}

/**
 * MySQL and MariaDB. Write transactions of an organization first lock its row, so they are serialized as in a database with one
 * write lock; different organizations do not wait for each other.
 */
export function mysql(settings: ServerSettings): PooledConnection {
  const { connections, acquireMs } = settings;
  const writer = connectKnex(settings, { max: connections.writers, session: 'writer' });
  const reader = connectKnex(settings, { max: connections.readers, session: 'reader' });
  const lookups = new Lookups(connections.lookups, () => openLink(settings), isLost);
  const turns = new Turns(acquireMs);
  return {
    writer,
    reader,
    read: (_reach, work) => work(reader),
    write(reach, work) {
      if (reach === 'directory') return transact(writer, 'BEGIN;', work);
      return turns.take(reach, () =>
        transact(writer, 'BEGIN;', async (transaction) => {
          await lockOrganization(transaction, reach);
          return work(transaction);
        }),
      );
    },
    claim: lockOrganization,
    exclusively: (work) => exclusively(settings, writer, work),
    snapshot: (work) => apart(settings, 'snapshot', work, { isolationLevel: 'repeatable read' }),
    // With the lock of the schema, which every starting process asks for.
    fill: (work) => apart(settings, 'schema', work),
    inspect: (work) => work(reader),
    lookup: (sql) => lookups.prepare(sql),
    fault: constraintFault,
    setback,
    explain: (error) => explain(error, settings),
    concerns: () => concerns(reader),
    async close() {
      await Promise.all([lookups.close(), reader.destroy(), writer.destroy()]);
    },
  };
}

async function lockOrganization(transaction: Statements, id: string): Promise<void> {
  await transaction('organizations').where({ id }).forUpdate().first('id');
}

/** The session's own connection holds the lock of the schema; its journal goes another way. */
async function exclusively<Result>(
  settings: ServerSettings,
  writer: Knex,
  work: (session: SchemaSession) => Promise<Result>,
): Promise<Result> {
  let change: Change | undefined;
  const knex = connectKnex(settings, {
    max: 1,
    session: 'schema',
    collate: await collationOf(writer),
    around: (sql, run) => (change === undefined || /^(?:select|show)\b/i.test(sql) ? run() : change(run)),
  });
  return closing(knex, () =>
    work({
      knex,
      async apply(name, up, record) {
        const migration = async (next: Change): Promise<void> => {
          change = next;
          try {
            await up(knex);
          } finally {
            change = undefined;
          }
        };
        await journaled(writer, name, migration, record);
      },
      secure: async () => {},
    }),
  );
}

/**
 * Texts compare by their code points and to their last space. Others would take a hash, an id or an address for another one
 * that differs in case, accent or trailing space.
 */
async function collationOf(knex: Knex): Promise<string> {
  const [rows]: readonly unknown[] = await knex.raw('select version()');
  return isMariaDb(rows) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}

/** One transaction on a connection of its own. */
function apart<Result>(
  settings: ServerSettings,
  session: SessionKind,
  work: (transaction: Knex) => Promise<Result>,
  config?: Knex.TransactionConfig,
): Promise<Result> {
  return closing(connectKnex(settings, { max: 1, session }), (knex) => knex.transaction(work, config));
}

async function concerns(knex: Knex): Promise<readonly string[]> {
  const [rows] = z
    .tuple([z.array(z.object({ flush: z.coerce.number() }))], z.unknown())
    .parse(await knex.raw('select @@innodb_flush_log_at_trx_commit as flush'));
  return rows.every(({ flush }) => flush === 1)
    ? []
    : [
        'The storage runs with innodb_flush_log_at_trx_commit other than 1: what was acknowledged may be lost in a power cut.',
      ];
}

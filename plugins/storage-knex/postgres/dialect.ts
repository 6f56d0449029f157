import type { Knex } from 'knex';
import { z } from 'zod';
import type { Connection, SchemaSession } from '../dialect.ts';
import { Lookups } from '../server/lookups.ts';
import type { ServerSettings } from '../server/settings.ts';
import { transact } from '../transact.ts';
import { Turns } from '../turns.ts';
import { PostgresBell } from './bell.ts';
import { beginning, connectKnex } from './client.ts';
import { constraintFault, explain, isLost, setback } from './errors.ts';
import { openLink } from './lookups.ts';
import { secureRows } from './row-security.ts';
import { beginReading, beginSnapshot, beginWriting, lockOf } from './session.ts';

export interface PostgresConnection extends Connection {
  readonly writer: Knex;
  readonly reader: Knex;
}

/**
 * PostgreSQL. Transactions that write for an organization take its advisory lock as they begin, and so follow each other as
 * they do in a database with one write lock; those of different organizations do not wait for each other.
 */
export function postgres(settings: ServerSettings): { connect(): PostgresConnection } {
  const { connections, statementMs, acquireMs } = settings;
  return {
    connect() {
      const writer = connectKnex(settings, { max: connections.writers, statementMs });
      const reader = connectKnex(settings, { max: connections.readers, statementMs });
      const lookups = new Lookups(connections.lookups, () => openLink(settings), isLost);
      const turns = new Turns(acquireMs);
      const bell = new PostgresBell(settings);
      const inspect = <Result>(work: (db: Knex) => Promise<Result>): Promise<Result> =>
        reader.transaction(work, beginning(beginReading('directory')));
      return {
        writer,
        reader,
        read: (reach, work) => transact(reader, beginReading(reach), work),
        write(reach, work) {
          const transaction = () => transact(writer, beginWriting(reach), work);
          return reach === 'directory' ? transaction() : turns.take(reach, transaction);
        },
        async claim(transaction, organizationId) {
          await transaction.raw(`select ${lockOf(organizationId)}`);
        },
        exclusively: (work) => exclusively(settings, work),
        snapshot: (work) => snapshot(settings, work),
        fill: (work) => exclusively(settings, ({ knex }) => work(knex)),
        inspect,
        lookup: (sql) => lookups.prepare(sql),
        bell,
        fault: constraintFault,
        setback,
        explain: (error) => explain(error, settings),
        concerns: () => inspect(concerns),
        async close() {
          await Promise.all([bell.close(), lookups.close(), reader.destroy(), writer.destroy()]);
        },
      };
    },
  };
}

/** Schema changes are part of the transaction, so a crash in the middle leaves the old schema. They take as long as they take. */
async function exclusively<Result>(
  settings: ServerSettings,
  work: (session: SchemaSession) => Promise<Result>,
): Promise<Result> {
  const knex = connectKnex(settings, { max: 1, statementMs: undefined });
  try {
    const begin = `${beginWriting('directory')}, ${lockOf('sightline migrations')}`;
    return await knex.transaction(
      (transaction) =>
        work({
          knex: transaction,
          apply: (_name, up, record) => up(transaction).then(record),
          secure: () => secureRows(transaction),
        }),
      beginning(begin),
    );
  } finally {
    await knex.destroy();
  }
}

async function snapshot<Result>(settings: ServerSettings, work: (db: Knex) => Promise<Result>): Promise<Result> {
  const knex = connectKnex(settings, { max: 1, statementMs: undefined });
  try {
    return await knex.transaction(work, beginning(beginSnapshot));
  } finally {
    await knex.destroy();
  }
}

async function concerns(knex: Knex): Promise<readonly string[]> {
  const setup = z.object({ login: z.string(), bypasses: z.boolean(), fsync: z.string() });
  const { rows } = z.object({ rows: z.tuple([setup]) }).parse(
    await knex.raw(`select rolname as login, rolsuper or rolbypassrls as bypasses, current_setting('fsync') as fsync
      from pg_roles where rolname = current_user`),
  );
  const [{ login, bypasses, fsync }] = rows;
  const said: string[] = [];
  if (bypasses) {
    said.push(
      `The storage's login ${login} is a superuser or has BYPASSRLS, so PostgreSQL applies no row-level security to it. Use a role without them.`,
    );
  }
  if (fsync === 'off') said.push('The storage runs with fsync=off: what was acknowledged may be lost in a power cut.');
  return said;
}

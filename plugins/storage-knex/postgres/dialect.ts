import type { Knex } from 'knex';
import { Client } from 'pg';
import { z } from 'zod';
import { SightlineError } from '../../../src/contract/core/index.ts';
import { closing, type PooledConnection, type SchemaSession } from '../dialect.ts';
import { Lookups } from '../server/lookups.ts';
import type { ServerSettings } from '../config.ts';
import { transact, transactReading, Turns } from '../transact.ts';
import { PostgresBell } from './bell.ts';
import {
  clientConfig,
  connectKnex,
  openLink,
  beginReading,
  beginWriting,
  lockOf,
  reaching,
  everyone,
  reachSetting,
} from './client.ts';
import { constraintFault, explain, isLost, setback } from './errors.ts';
import { organizationTables } from '../rows.ts';

const policy = 'sightline_organization';

/*
 * The second layer under the repositories: a statement that forgot its organization finds nothing, and one that writes
 * another's row is refused. It binds the tables' owner too, but no superuser.
 */

/** Puts the policy on every organization's table that lacks it. */
async function secureRows(knex: Knex): Promise<void> {
  const { rows } = z
    .object({ rows: z.array(z.object({ relname: z.string() })) })
    .parse(await knex.raw(unsecured, [policy, [...organizationTables]]));
  for (const { relname } of rows) {
    await knex.raw('alter table ?? enable row level security, force row level security', [relname]);
    await knex.raw('drop policy if exists ?? on ??', [policy, relname]);
    await knex.raw(`create policy ?? on ?? using (organization_id = ${reach} or ${reach} = '${everyone}')`, [
      policy,
      relname,
    ]);
  }
}

/** In a subquery, which is evaluated once a statement and not for each row. */
const reach = `(select current_setting('${reachSetting}', true))`;

const unsecured = `
  select relname from pg_class as c
  where relnamespace = current_schema()::regnamespace
    and not (relrowsecurity and relforcerowsecurity
      and exists (select from pg_policy where polrelid = c.oid and polname = ?))
    and relname = any(?)
  order by relname`;

/**
 * PostgreSQL. Write transactions of an organization first take its advisory lock, so they are serialized as in a database with
 * one write lock; different organizations do not wait for each other.
 */
export function postgres(settings: ServerSettings): PooledConnection {
  const { connections, statementMs, acquireMs } = settings;
  const writer = connectKnex(settings, { max: connections.writers, statementMs });
  const reader = connectKnex(settings, { max: connections.readers, statementMs });
  const lookups = new Lookups(connections.lookups, () => openLink(settings), isLost);
  const turns = new Turns(acquireMs);
  const bell = new PostgresBell(settings);
  const inspect = <Result>(work: (db: Knex) => Promise<Result>): Promise<Result> =>
    overAll(reader, { readOnly: true }, work);
  return {
    writer,
    reader,
    read: (reach, work) => transactReading(reader, beginReading(reach), work),
    write(reach, work) {
      const transaction = () => transact(writer, beginWriting(reach), work);
      return reach === 'directory' ? transaction() : turns.take(reach, transaction);
    },
    async claim(transaction, organizationId) {
      await transaction.raw(`select ${lockOf(organizationId)}`);
    },
    exclusively: (work) => exclusively(settings, work),
    snapshot: (work) => apart(settings, { isolationLevel: 'repeatable read', readOnly: true }, work),
    fill: (work) => exclusively(settings, ({ knex }) => work(knex)),
    inspect,
    lookup: (sql) => lookups.prepare(sql),
    bell,
    fault: constraintFault,
    setback,
    explain: (error) => explain(error, settings),
    async concerns() {
      await refusePooler(settings);
      return inspect(concerns);
    },
    async close() {
      await Promise.all([bell.close(), lookups.close(), reader.destroy(), writer.destroy()]);
    },
  };
}

/** Schema changes are part of the transaction, so a crash in the middle leaves the old schema. */
function exclusively<Result>(
  settings: ServerSettings,
  work: (session: SchemaSession) => Promise<Result>,
): Promise<Result> {
  return apart(settings, { isolationLevel: 'read committed' }, async (transaction) => {
    await transaction.raw(`select ${lockOf('sightline migrations')}`);
    return work({
      knex: transaction,
      apply: (_name, up, record) => up(transaction).then(record),
      secure: () => secureRows(transaction),
    });
  });
}

/** One transaction on a connection of its own, whose statements take as long as they take. */
function apart<Result>(
  settings: ServerSettings,
  config: Knex.TransactionConfig,
  work: (transaction: Knex) => Promise<Result>,
): Promise<Result> {
  return closing(connectKnex(settings, { max: 1, statementMs: undefined }), (knex) => overAll(knex, config, work));
}

/** A transaction of knex's own, which sees the rows of all organizations. */
function overAll<Result>(
  knex: Knex,
  config: Knex.TransactionConfig,
  work: (transaction: Knex) => Promise<Result>,
): Promise<Result> {
  return knex.transaction(async (transaction) => {
    await transaction.raw(`select ${reaching('directory')}`);
    return work(transaction);
  }, config);
}

async function concerns(knex: Knex): Promise<readonly string[]> {
  const setup = z.object({ login: z.string(), bypasses: z.boolean(), fsync: z.string(), encoding: z.string() });
  const { rows } = z.object({ rows: z.tuple([setup]) }).parse(
    await knex.raw(`select rolname as login, rolsuper or rolbypassrls as bypasses, current_setting('fsync') as fsync,
        current_setting('server_encoding') as encoding
      from pg_roles where rolname = current_user`),
  );
  const [{ login, bypasses, fsync, encoding }] = rows;
  // SQL_ASCII keeps the bytes as they come.
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
    throw new SightlineError(
      'config_invalid',
      `The storage's database has the encoding ${encoding}: chats, incidents and audit hold characters that it lacks.`,
      { hint: "Make another one, with ENCODING 'UTF8' TEMPLATE template0; pg_dump moves what is there." },
    );
  }
  const said: string[] = [];
  if (bypasses) {
    said.push(
      `The storage's login ${login} is a superuser or has BYPASSRLS, so PostgreSQL applies no row-level security to it. Use a role without them.`,
    );
  }
  if (fsync === 'off') said.push('The storage runs with fsync=off: what was acknowledged may be lost in a power cut.');
  return said;
}

const backends = z.object({ rows: z.tuple([z.object({ pid: z.number() })]) });

/**
 * Two sessions at one time have a process of the server each. A pooler in transaction mode lends them one after the other, with
 * what others have set in it: look-ups that may only read, organizations.
 */
async function refusePooler(settings: ServerSettings): Promise<void> {
  const config = { ...clientConfig(settings, settings.statementMs), password: await settings.password() };
  const sessions = [1, 2].map(() => new Client(config).on('error', () => {}));
  const [one, two] = sessions;
  try {
    for (const session of sessions) await session.connect();
    const processes: number[] = [];
    // The second twice on end: else a pooler that goes round two sessions of its own would look like two.
    for (const session of [one, two, two, one]) {
      const { rows } = backends.parse(await session?.query('select pg_backend_pid() as pid'));
      processes.push(rows[0].pid);
    }
    const [first, second, third, fourth] = processes;
    if (first === fourth && second === third && first !== second) return;
  } finally {
    for (const session of sessions) await session.end().catch(() => undefined);
  }
  throw new SightlineError('config_invalid', 'The storage is behind a pooler in transaction mode.', {
    hint: 'Connect to the server itself, or set pool_mode = session.',
  });
}

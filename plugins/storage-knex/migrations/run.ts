import type { Knex } from 'knex';
import { SightlineError } from '../../../src/contract/core/index.ts';
import type { MigrationPlan, MigrationReport } from '../../../src/contract/storage/index.ts';
import type { Database } from '../database.ts';
import type { Migration } from './columns.ts';
import { first } from './0001-0007.ts';
import { second } from './0008-0016.ts';
import { third } from './0017-0030.ts';

/** In order; names are recorded in the database and never change. */
export const migrations: readonly (readonly [name: string, up: Migration])[] = Object.entries({
  ...first,
  ...second,
  ...third,
});

const recordTable = 'schema_migrations';

/** The newest that this version knows. */
export const schemaVersion = migrations.at(-1)?.[0] ?? '';

/** Brings the schema up to date. Of several processes doing it at once one does the work and the others find it done. */
export function migrate(database: Database): Promise<MigrationReport> {
  return database.exclusively(async (session) => {
    const { knex } = session;
    if (!(await knex.schema.hasTable(recordTable))) await createRecord(knex);
    const applied: string[] = [];
    for (const [name, up] of await pending(knex)) {
      const record = async (): Promise<void> => {
        await knex(recordTable).insert({ name, migration_time: Date.now() });
      };
      await session.apply(name, up, record);
      applied.push(name);
    }
    await session.secure();
    return { applied, version: schemaVersion };
  });
}

/** What `migrate` would do, without doing it. */
export function planMigration(database: Database): Promise<MigrationPlan> {
  return database.inspect(async (knex) => {
    const fresh = !(await knex.schema.hasTable(recordTable));
    const names = (fresh ? migrations : await pending(knex)).map(([name]) => name);
    return { pending: names, version: schemaVersion };
  });
}

async function pending(knex: Knex): Promise<typeof migrations> {
  const recorded = await knex<{ id: number; name: string }>(recordTable).orderBy('id').select('name');
  refuseNewer(recorded.map(({ name }) => name));
  const done = new Set(recorded.map(({ name }) => name));
  return migrations.filter(([name]) => !done.has(name));
}

/** A schema this version does not know may mean other things by the same names; writing to it could spoil it. */
function refuseNewer(recorded: readonly string[]): void {
  const known = new Set(migrations.map(([name]) => name));
  const unknown = recorded.findLast((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new SightlineError(
    'conflict',
    `The storage has schema ${unknown}, which is newer than this version of Sightline knows (${schemaVersion}).`,
    { hint: 'Run the version that wrote it, or a later one, or restore the backup made before the upgrade.' },
  );
}

async function createRecord(knex: Knex): Promise<void> {
  await knex.schema.createTable(recordTable, (table) => {
    table.increments('id');
    table.string('name', 255).notNullable();
    table.bigInteger('migration_time').notNullable();
  });
}

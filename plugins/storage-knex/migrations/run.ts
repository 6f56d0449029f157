import type { Knex } from 'knex';
import { SightlineError } from '../../../src/contract/index.ts';
import type { MigrationReport } from '../../../src/contract/index.ts';
import type { Database } from '../database.ts';
import { migrations } from './index.ts';

const recordTable = 'schema_migrations';

/** Brings the schema up to date. Of several processes doing it at once one does the work and the others find it done. */
export async function migrate(database: Database): Promise<MigrationReport> {
  return database.exclusively(async (transaction) => {
    await refuseNewer(transaction);
    const [, applied]: [number, string[]] = await transaction.migrate.latest({
      tableName: recordTable,
      migrationSource: {
        getMigrations: async () => [...migrations],
        getMigrationName: ([name]) => name,
        getMigration: async ([, migration]) => ({ up: (knex) => migration.up(knex), down: forwardOnly }),
      } satisfies Knex.MigrationSource<(typeof migrations)[number]>,
    });
    return { applied, version: migrations.at(-1)?.[0] ?? '' };
  });
}

/** A schema this version does not know may mean other things by the same names; writing to it could spoil it. */
async function refuseNewer(transaction: Knex.Transaction): Promise<void> {
  if (!(await transaction.schema.hasTable(recordTable))) return;
  const known = new Set(migrations.map(([name]) => name));
  const recorded = await transaction<{ name: string }>(recordTable).orderBy('id').select('name');
  const unknown = recorded.findLast(({ name }) => !known.has(name));
  if (unknown === undefined) return;
  throw new SightlineError(
    'conflict',
    `The storage has schema ${unknown.name}, which is newer than this version of Sightline knows (${migrations.at(-1)?.[0]}).`,
    { hint: 'Run the version that wrote it, or a later one, or restore the backup made before the upgrade.' },
  );
}

async function forwardOnly(): Promise<void> {
  throw new Error('migrations go forward only');
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from '@jest/globals';
import { testHost } from '../../../test/contract/host.ts';
import { sqlite } from '../sqlite/dialect.ts';
import { KnexStorage } from '../storage.ts';
import { directoryTables, movedOfOrganization } from '../tables.ts';

/** Not moved: who adds a table decides whether it stands here, or in tables.ts. */
const stays: Readonly<Record<string, string>> = {
  sessions: 'people sign in again',
  locks: 'rows that are but locks',
  schema_migrations: 'of the schema itself',
  gateways: 'those that run on this storage',
  erasures: 'kept for hours',
  buckets: 'counts of the last minutes',
  kept_results: 'kept for ten minutes',
};

it('moves every table and column of the schema but those that are meant to stay', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sl-tables-'));
  const file = join(directory, 'sightline.sqlite');
  const storage = new KnexStorage({ connect: () => sqlite(file) }, testHost(directory));
  await storage.start(AbortSignal.timeout(20_000));
  const database = new DatabaseSync(file, { readOnly: true });
  const there: Record<string, readonly string[]> = {};
  for (const { name } of database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()) {
    const table = String(name);
    if (table.startsWith('sqlite_') || table in stays) continue;
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
    there[table] = columns.map((column) => String(column['name'])).toSorted((a, b) => (a < b ? -1 : 1));
  }
  database.close();
  await storage.stop();
  await rm(directory, { recursive: true });
  const moved = Object.fromEntries(
    [...directoryTables, ...movedOfOrganization].map(([table, { columns }]) => [
      table,
      [
        ...Object.keys(columns),
        ...(movedOfOrganization.has(table) ? ['organization_id'] : []),
        ...(table === 'audit' ? ['id'] : []),
      ].toSorted((a, b) => (a < b ? -1 : 1)),
    ]),
  );
  expect(there).toEqual(moved);
});

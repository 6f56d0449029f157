import type { Knex } from 'knex';
import { SightlineError } from '../../../src/contract/core/index.ts';
import type { TransferBatch, TransferRow } from '../../../src/contract/storage/index.ts';
import { inChunks } from '../columns.ts';
import { directoryTables, movedOfOrganization, kept, type Kind } from '../tables.ts';

/** knex writes the rows for SQLite as one compound SELECT, which may have 500 parts. */
const rowsAStatement = 200;

export const refusals = {
  duplicate: notOurs('has something twice'),
  foreign_key: notOurs('refers to something that it does not have'),
} as const;

/** Writes everything through `knex`, a transaction that nobody else's writing comes into. */
export async function fill(knex: Knex, batches: AsyncIterable<TransferBatch>): Promise<void> {
  await requireEmpty(knex);
  for await (const { table, organizationId, rows } of batches) {
    const moved = (organizationId === undefined ? directoryTables : movedOfOrganization).get(table);
    if (moved === undefined)
      throw notOurs(`has rows of ${JSON.stringify(table.slice(0, 40))}, which is no table of it`);
    for (const row of rows) checkRow(row, table, moved.columns);
    const owned =
      organizationId === undefined ? rows : rows.map((row) => Object.assign({ organization_id: organizationId }, row));
    for (const some of inChunks(owned, rowsAStatement)) await knex(table).insert(some);
  }
  await requireApart(knex);
}

async function requireEmpty(knex: Knex): Promise<void> {
  for (const table of [...directoryTables.keys(), 'sessions', ...movedOfOrganization.keys()]) {
    if ((await knex(table).first(knex.raw('1 as found'))) === undefined) continue;
    throw new SightlineError(
      'conflict',
      'The storage is not empty, and what is there is never mixed with what comes.',
      {
        hint: 'Import into a new data directory or an empty database, before its first `sightline serve`.',
      },
    );
  }
}

/** Foreign keys compare ids only; that both ends belong to one organization is checked here. */
async function requireApart(knex: Knex): Promise<void> {
  for (const [table, { within }] of movedOfOrganization) {
    for (const [column, parent] of Object.entries(within)) {
      const astray = await knex(`${table} as child`)
        .join(`${parent} as parent`, 'parent.id', `child.${column}`)
        .where('child.organization_id', '<>', knex.ref('parent.organization_id'))
        .first(knex.raw('1 as found'));
      if (astray !== undefined) throw notOurs(`has ${table} that refer to another organization's ${parent}`);
    }
  }
}

function checkRow(row: TransferRow, table: string, columns: Readonly<Record<string, Kind>>): void {
  const names = Object.keys(columns);
  const fits =
    Object.keys(row).length === names.length &&
    Object.entries(columns).every(([name, kind]) => name in row && fitsKind(row[name], kind));
  if (!fits) throw notOurs(`has a row of ${table} with other columns or values`);
}

function fitsKind(value: TransferRow[string] | undefined, kind: Kind): boolean {
  if (value === null) return kind.endsWith('?');
  const held = kept[kind];
  return held === 'integer' ? Number.isSafeInteger(value) : typeof value === held;
}

function notOurs(what: string): SightlineError {
  return new SightlineError('invalid_argument', `What is to be imported ${what}.`, {
    hint: 'It was damaged or changed after it was exported. Nothing was written.',
  });
}

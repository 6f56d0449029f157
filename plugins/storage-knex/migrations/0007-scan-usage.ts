import type { Knex } from 'knex';
import { organization } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('scan_usage', (table) => {
    organization(table);
    table.string('day', 10).notNullable();
    table.bigInteger('bytes').notNullable();
    table.primary(['organization_id', 'day']);
  });
}

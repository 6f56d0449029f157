import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('kept_results', (table) => {
    organization(table);
    id(table, 'id').notNullable();
    table.string('holder', 64).notNullable();
    longText(table, 'sealed').notNullable();
    table.integer('bytes').notNullable();
    time(table, 'expires_at').notNullable();
    table.primary(['organization_id', 'id']);
    table.index(['expires_at']);
  });
}

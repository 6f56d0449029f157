import type { Knex } from 'knex';
import { longText } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table.string('resolution', 20);
    // The number of the incident that a duplicate repeats.
    table.bigInteger('duplicate_of');
  });
  await knex.schema.alterTable('investigations', (table) => {
    longText(table, 'question');
    longText(table, 'doing');
  });
}

import type { Knex } from 'knex';
import { longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('audit', (table) => {
    // The one table that numbers its own rows: nobody names a record, and rows of one millisecond keep their order.
    table.bigIncrements('id');
    organization(table);
    time(table, 'at').notNullable();
    table.string('event', 40).notNullable();
    longText(table, 'subject').notNullable();
    longText(table, 'request_id').notNullable();
    longText(table, 'target').notNullable();
    table.string('outcome', 60).notNullable();
    table.string('arguments_hash', 64);
    table.double('duration_ms');
    table.bigInteger('row_count');
    table.bigInteger('bytes');
    table.boolean('truncated');
    table.index(['organization_id', 'at', 'id']);
  });
}

import type { Knex } from 'knex';
import { id, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('gateways', (table) => {
    id(table, 'id').primary();
    table.string('host', 200).notNullable();
    id(table, 'telemetry_in');
    time(table, 'seen_at').notNullable();
  });
  await knex.schema.createTable('buckets', (table) => {
    table.string('name', 200).primary();
    time(table, 'empty_at').notNullable();
    table.index(['empty_at']);
  });
}

import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('webhooks', (table) => {
    id(table, 'id').primary();
    organization(table);
    longText(table, 'url').notNullable();
    longText(table, 'events').notNullable();
    longText(table, 'sealed_secret').notNullable();
    time(table, 'created_at').notNullable();
    time(table, 'delivered_at');
    time(table, 'failed_at');
    longText(table, 'failure');
    table.index(['organization_id', 'created_at']);
  });
  await knex.schema.createTable('webhook_messages', (table) => {
    id(table, 'id').primary();
    organization(table);
    id(table, 'webhook_id').notNullable().references('id').inTable('webhooks').onDelete('CASCADE');
    table.string('event', 40).notNullable();
    table.string('subject', 60).notNullable();
    longText(table, 'data').notNullable();
    time(table, 'created_at').notNullable();
    table.integer('attempts').notNullable();
    time(table, 'next_at').notNullable();
    table.string('lease_holder', 255);
    time(table, 'lease_until');
    table.index(['next_at']);
    table.index(['webhook_id', 'lease_until']);
  });
}

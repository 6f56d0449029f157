import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('investigations', (table) => {
    id(table, 'id').primary();
    organization(table);
    // In the order of asking within the organization; times may be equal.
    table.bigInteger('position').notNullable();
    id(table, 'chat_id').references('id').inTable('chats');
    id(table, 'incident_id').references('id').inTable('incidents');
    table.string('status', 20).notNullable();
    table.string('engine', 100).notNullable();
    time(table, 'asked_at').notNullable();
    time(table, 'started_at');
    time(table, 'finished_at');
    longText(table, 'conclusion');
    longText(table, 'failure');
    table.string('lease_holder', 255);
    time(table, 'lease_until');
    table.index(['status', 'asked_at']);
    table.index(['chat_id', 'status']);
    table.index(['incident_id', 'status']);
  });
  await knex.schema.createTable('investigation_steps', (table) => {
    organization(table);
    id(table, 'investigation_id').notNullable().references('id').inTable('investigations').onDelete('CASCADE');
    table.integer('seq').notNullable();
    longText(table, 'step').notNullable();
    table.primary(['investigation_id', 'seq']);
  });
}

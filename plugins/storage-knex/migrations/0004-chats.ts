import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('chats', (table) => {
    id(table, 'id').primary();
    organization(table);
    longText(table, 'title').notNullable();
    longText(table, 'search_text').notNullable();
    table.string('status', 20).notNullable();
    longText(table, 'created_by').notNullable();
    table.string('created_by_id', 255).notNullable();
    id(table, 'incident_id').references('id').inTable('incidents');
    time(table, 'created_at').notNullable();
    time(table, 'updated_at').notNullable();
    table.integer('last_seq').notNullable();
    table.index(['organization_id', 'updated_at', 'id']);
    table.index(['organization_id', 'created_by_id', 'updated_at'], 'chats_author_index');
    table.index(['incident_id']);
  });
  await knex.schema.createTable('chat_messages', (table) => {
    organization(table);
    id(table, 'chat_id').notNullable().references('id').inTable('chats').onDelete('CASCADE');
    table.integer('seq').notNullable();
    id(table, 'id').notNullable().unique();
    table.string('role', 20).notNullable();
    longText(table, 'author').notNullable();
    time(table, 'at').notNullable();
    longText(table, 'content').notNullable();
    longText(table, 'parts').notNullable();
    table.primary(['chat_id', 'seq']);
  });
  // What a caller's idempotency key stood for. The digest covers author, operation and key, which may be long.
  await knex.schema.createTable('chat_requests', (table) => {
    organization(table);
    table.string('digest', 64).notNullable();
    id(table, 'chat_id').notNullable();
    id(table, 'message_id').notNullable();
    time(table, 'at').notNullable();
    table.primary(['organization_id', 'digest']);
  });
}

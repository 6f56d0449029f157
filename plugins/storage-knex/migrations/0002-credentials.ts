import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('api_keys', (table) => {
    id(table, 'id').primary();
    organization(table);
    table.string('name', 200).notNullable();
    longText(table, 'scopes').notNullable();
    table.string('created_by', 255).notNullable();
    time(table, 'created_at').notNullable();
    time(table, 'last_used_at');
    table.index(['organization_id', 'created_at']);
  });
  await knex.schema.createTable('api_key_secrets', (table) => {
    id(table, 'id').primary();
    organization(table);
    id(table, 'key_id').notNullable().references('id').inTable('api_keys').onDelete('CASCADE');
    // 1, 2, 3 … in the order of issue: two secrets may be made within one millisecond.
    table.integer('position').notNullable();
    table.string('hash', 64).notNullable();
    time(table, 'created_at').notNullable();
    table.unique(['key_id', 'position']);
  });
  await knex.schema.createTable('ingest_tokens', (table) => {
    id(table, 'id').primary();
    organization(table);
    table.integer('position').notNullable();
    table.string('hash', 64).notNullable().unique();
    longText(table, 'sealed').notNullable();
    time(table, 'created_at').notNullable();
    table.unique(['organization_id', 'position']);
  });
}

import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('users', (table) => {
    longText(table, 'password_hash');
  });
  await knex.schema.alterTable('members', (table) => {
    table.string('source', 20).notNullable().defaultTo('given');
    table.index(['user_id']);
  });
  await knex.schema.createTable('identities', (table) => {
    // SHA-256 of issuer and subject, which together may be longer than an index takes.
    table.string('hash', 64).primary();
    longText(table, 'issuer').notNullable();
    longText(table, 'subject').notNullable();
    id(table, 'user_id').notNullable().references('id').inTable('users');
    time(table, 'created_at').notNullable();
    table.index(['user_id']);
  });
  await knex.schema.createTable('sessions', (table) => {
    table.string('hash', 64).primary();
    id(table, 'user_id').notNullable().references('id').inTable('users');
    id(table, 'organization_id').references('id').inTable('organizations');
    time(table, 'created_at').notNullable();
    time(table, 'expires_at').notNullable();
    table.index(['user_id']);
    table.index(['expires_at']);
  });
  await knex.schema.createTable('invitations', (table) => {
    id(table, 'id').primary();
    organization(table);
    table.string('email', 320).notNullable();
    table.string('email_key', 640).notNullable();
    table.string('role', 20).notNullable();
    table.string('hash', 64).notNullable().unique();
    longText(table, 'created_by').notNullable();
    time(table, 'created_at').notNullable();
    time(table, 'expires_at').notNullable();
    table.unique(['organization_id', 'email_key']);
  });
  await knex.schema.createTable('grants', (table) => {
    id(table, 'id').primary();
    organization(table);
    id(table, 'user_id').notNullable();
    longText(table, 'client_id').notNullable();
    longText(table, 'client_name').notNullable();
    longText(table, 'redirect_origin').notNullable();
    longText(table, 'scopes').notNullable();
    time(table, 'created_at').notNullable();
    time(table, 'last_used_at');
    // Nothing can be granted in an organization one is not, or no longer, a member of.
    table.foreign(['organization_id', 'user_id']).references(['organization_id', 'user_id']).inTable('members');
    table.index(['organization_id', 'user_id']);
  });
  await knex.schema.createTable('oauth_clients', (table) => {
    table.string('id', 255).primary();
    longText(table, 'metadata').notNullable();
    time(table, 'created_at').notNullable();
    // When it was first used.
    time(table, 'used_at');
    table.index(['used_at', 'created_at']);
  });
  await knex('locks').insert({ name: 'oauth_clients', taken: 0 });
}

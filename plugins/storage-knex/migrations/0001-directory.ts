import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('organizations', (table) => {
    id(table, 'id').primary();
    table.string('name', 200).notNullable();
    // The name as it is compared: what "without case" means must not depend on a database's collation.
    table.string('name_key', 400).notNullable().unique();
    time(table, 'created_at').notNullable();
  });
  await knex.schema.createTable('users', (table) => {
    id(table, 'id').primary();
    table.string('email', 320).notNullable();
    table.string('email_key', 640).notNullable().unique();
    table.string('name', 200).notNullable();
    table.boolean('enabled').notNullable();
    time(table, 'created_at').notNullable();
  });
  await knex.schema.createTable('members', (table) => {
    organization(table);
    id(table, 'user_id').notNullable().references('id').inTable('users');
    table.string('role', 20).notNullable();
    time(table, 'created_at').notNullable();
    table.primary(['organization_id', 'user_id']);
  });
  // Numbers given out in order within an organization; the row is also the lock under which they are.
  await knex.schema.createTable('counters', (table) => {
    organization(table);
    table.string('name', 40).notNullable();
    table.bigInteger('value').notNullable();
    table.primary(['organization_id', 'name']);
  });
  // Rows that are updated to take a lock where there is no row of the thing itself yet.
  await knex.schema.createTable('locks', (table) => {
    table.string('name', 40).primary();
    table.bigInteger('taken').notNullable();
  });
  await knex('locks').insert({ name: 'signing_keys', taken: 0 });
  await knex.schema.createTable('signing_keys', (table) => {
    table.string('kid', 200).primary();
    table.integer('position').notNullable();
    table.string('algorithm', 20).notNullable();
    table.string('state', 20).notNullable();
    longText(table, 'public_jwk').notNullable();
    longText(table, 'sealed_private_jwk').notNullable();
    time(table, 'created_at').notNullable();
    time(table, 'state_since').notNullable();
  });
  await knex.schema.createTable('artifacts', (table) => {
    table.string('model', 64).notNullable();
    table.string('id', 255).notNullable();
    longText(table, 'payload').notNullable();
    table.string('grant_id', 255).index();
    table.string('uid', 255).index();
    table.string('user_code', 255).index();
    time(table, 'consumed_at');
    time(table, 'expires_at').index();
    table.primary(['model', 'id']);
  });
}

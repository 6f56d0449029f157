import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('alert_sources', (table) => {
    id(table, 'id').primary();
    organization(table);
    table.string('name', 100).notNullable();
    table.string('name_key', 200).notNullable();
    table.string('plugin', 100).notNullable();
    longText(table, 'sealed').notNullable();
    time(table, 'created_at').notNullable();
    longText(table, 'created_by').notNullable();
    table.unique(['organization_id', 'name_key']);
  });
  await knex.schema.createTable('alerts', (table) => {
    organization(table);
    // In the order of coming within the organization.
    table.bigInteger('position').notNullable();
    // A source may be gone: its alerts stay.
    id(table, 'source_id').notNullable();
    // SHA-256 of source and fingerprint; null in what is history, since a later row is the alert now.
    table.string('key_hash', 64);
    id(table, 'incident_id').references('id').inTable('incidents').onDelete('CASCADE');
    longText(table, 'fingerprint').notNullable();
    longText(table, 'title').notNullable();
    longText(table, 'description').notNullable();
    table.string('status', 20).notNullable();
    table.string('severity', 20).notNullable();
    longText(table, 'labels').notNullable();
    longText(table, 'url');
    time(table, 'starts_at').notNullable();
    time(table, 'ends_at');
    time(table, 'updated_at').notNullable();
    table.primary(['organization_id', 'position']);
    table.unique(['organization_id', 'key_hash']);
    table.index(['organization_id', 'incident_id', 'status', 'position']);
    table.index(['incident_id']);
  });
  await knex.schema.createTable('alert_groups', (table) => {
    organization(table);
    table.string('group_hash', 64).notNullable();
    id(table, 'incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    time(table, 'since').notNullable();
    table.primary(['organization_id', 'group_hash', 'incident_id']);
    table.index(['organization_id', 'since']);
    table.index(['incident_id']);
  });
}

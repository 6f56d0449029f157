import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('incidents', (table) => {
    id(table, 'id').primary();
    organization(table);
    table.bigInteger('number').notNullable();
    longText(table, 'title').notNullable();
    longText(table, 'summary').notNullable();
    // Title and summary in lower case: engines disagree on what case is outside ASCII.
    longText(table, 'search_text').notNullable();
    table.string('status', 20).notNullable();
    table.string('severity', 20).notNullable();
    table.string('waiting_party', 20).notNullable();
    longText(table, 'waiting_name');
    longText(table, 'waiting_key');
    longText(table, 'waiting_reason');
    time(table, 'waiting_since').notNullable();
    longText(table, 'services').notNullable();
    longText(table, 'environment').notNullable();
    longText(table, 'source').notNullable();
    longText(table, 'fingerprint');
    table.string('fingerprint_hash', 64);
    longText(table, 'labels').notNullable();
    longText(table, 'assignee');
    longText(table, 'alerts').notNullable();
    time(table, 'started_at').notNullable();
    time(table, 'detected_at').notNullable();
    time(table, 'created_at').notNullable();
    time(table, 'updated_at').notNullable();
    time(table, 'mitigated_at');
    time(table, 'resolved_at');
    table.unique(['organization_id', 'number']);
    table.index(['organization_id', 'started_at', 'id']);
    table.index(['organization_id', 'fingerprint_hash']);
  });
  await knex.schema.createTable('incident_services', (table) => {
    organization(table);
    id(table, 'incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    // SHA-256 of the name in lower case: a name may be longer than an index takes.
    table.string('service_hash', 64).notNullable();
    table.primary(['organization_id', 'service_hash', 'incident_id']);
    table.index(['incident_id']);
  });
  await knex.schema.createTable('incident_documents', (table) => {
    organization(table);
    id(table, 'incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.integer('version').notNullable();
    longText(table, 'markdown').notNullable();
    longText(table, 'author').notNullable();
    time(table, 'updated_at').notNullable();
    table.primary(['incident_id', 'version']);
  });
  await knex.schema.createTable('incident_timeline', (table) => {
    organization(table);
    id(table, 'incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.integer('seq').notNullable();
    time(table, 'at').notNullable();
    longText(table, 'actor').notNullable();
    table.string('change', 40).notNullable();
    longText(table, 'from_value');
    longText(table, 'to_value');
    table.primary(['incident_id', 'seq']);
  });
}

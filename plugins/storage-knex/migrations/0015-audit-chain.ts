import type { Knex } from 'knex';
import { id, longText, organization, time } from '../dialect.ts';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('audit_registers', (table) => {
    id(table, 'organization_id').primary();
    table.foreign('organization_id').references('id').inTable('organizations');
    table.integer('chains').notNullable();
    table.bigInteger('unchained').notNullable();
    table.boolean('damaged').notNullable();
    table.string('seal', 100).notNullable();
  });
  await knex.schema.createTable('audit_chains', (table) => {
    organization(table);
    table.integer('number').notNullable();
    table.string('instance', 300).notNullable();
    time(table, 'opened_at').notNullable();
    table.bigInteger('seq').notNullable();
    table.string('hash', 64).notNullable();
    table.string('seal', 100).notNullable();
    table.bigInteger('cut_seq');
    table.string('cut_hash', 64);
    table.string('cut_seal', 100);
    table.primary(['organization_id', 'number']);
  });
  await knex.schema.alterTable('audit', (table) => {
    // What was there before is in chain 0, which is none.
    table.integer('chain').notNullable().defaultTo(0);
    table.bigInteger('seq').notNullable().defaultTo(0);
    table.string('hash', 64).notNullable().defaultTo('');
    longText(table, 'statement');
  });
  await knex('audit').update({ seq: knex.ref('id') });
  await knex.schema.alterTable('audit', (table) => {
    table.unique(['organization_id', 'chain', 'seq']);
  });
}

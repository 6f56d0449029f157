import type { Knex } from 'knex';

/*
 * Column types that mean the same on SQLite, Postgres and MySQL.
 *
 * Times are epoch milliseconds in a bigint: exact to the millisecond everywhere, with no session time zone, no year 2038
 * and no driver's own idea of a Date; they order and page as plain numbers. JSON is text, since its native types differ
 * in what they compare and give back. Indexed strings stay short: MySQL indexes at most 3,072 bytes, 768 characters.
 */

export function id(table: Knex.CreateTableBuilder, name: string): Knex.ColumnBuilder {
  return table.string(name, 40);
}

export function time(table: Knex.CreateTableBuilder, name: string): Knex.ColumnBuilder {
  return table.bigInteger(name);
}

/** Text without a limit of ours; MySQL's plain `text` ends at 64 KiB. */
export function longText(table: Knex.CreateTableBuilder, name: string): Knex.ColumnBuilder {
  return table.text(name, 'longtext');
}

/** The organization a row belongs to. Every table outside the directory has it. */
export function organization(table: Knex.CreateTableBuilder): void {
  id(table, 'organization_id').notNullable();
  table.foreign('organization_id').references('id').inTable('organizations');
}

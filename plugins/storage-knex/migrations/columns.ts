import type { Knex } from 'knex';

/** A migration that was released is never edited. */
export type Migration = (knex: Knex) => Promise<void>;

/**
 * Column types that mean the same on SQLite, Postgres and MySQL. Each method takes the names of successive columns, separated by
 * spaces; one with `?` may be null.
 *
 * Times are epoch milliseconds in a bigint: exact to the millisecond everywhere, with no session time zone, no year 2038
 * and no driver's own idea of a Date; they order and page as plain numbers. JSON is text, since its native types differ
 * in what they compare and give back. Indexed strings stay short: MySQL indexes at most 3,072 bytes, 768 characters.
 */
class Columns {
  readonly #table: Knex.CreateTableBuilder;

  constructor(table: Knex.CreateTableBuilder) {
    this.#table = table;
  }

  /** The primary key, which is an id unless it has another length. */
  key(name = 'id', length = 40): void {
    this.#table.string(name, length).primary();
  }

  /** Its id, and the organization it belongs to. */
  owned(): void {
    this.key();
    this.organization();
  }

  id(names: string): void {
    this.short(40, names);
  }

  short(length: number, names: string): void {
    each(names, (name) => this.#table.string(name, length));
  }

  /** Text without a limit of ours; MySQL's plain `text` ends at 64 KiB. */
  long(names: string): void {
    each(names, (name) => this.#table.text(name, 'longtext'));
  }

  big(names: string): void {
    each(names, (name) => this.#table.bigInteger(name));
  }

  time(names: string): void {
    this.big(names);
  }

  small(names: string): void {
    each(names, (name) => this.#table.integer(name));
  }

  boolean(names: string): void {
    each(names, (name) => this.#table.boolean(name));
  }

  /** The organization a row belongs to. Every table outside the directory has it. */
  organization(): void {
    this.#table.string('organization_id', 40).notNullable();
    this.#table.foreign('organization_id').references('id').inTable('organizations');
  }

  refer(name: string, parent: string): void {
    each(name, (column) => this.#table.string(column, 40).references('id').inTable(parent));
  }

  /** Refers to a row with which this one goes. */
  partOf(parent: string, name: string): void {
    each(name, (column) => this.#table.string(column, 40).references('id').inTable(parent).onDelete('CASCADE'));
  }
}

type Describe = (columns: Columns, table: Knex.CreateTableBuilder) => void;

export async function create(knex: Knex, name: string, describe: Describe): Promise<void> {
  await knex.schema.createTable(name, (table) => describe(new Columns(table), table));
}

export async function alter(knex: Knex, name: string, describe: Describe): Promise<void> {
  await knex.schema.alterTable(name, (table) => describe(new Columns(table), table));
}

function each(names: string, add: (name: string) => { notNullable(): unknown }): void {
  for (const name of names.split(' ')) {
    if (name.endsWith('?')) add(name.slice(0, -1));
    else add(name).notNullable();
  }
}

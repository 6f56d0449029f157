import type { Knex } from 'knex';

/** What is said to a database between the beginning and the end of a transaction. A whole knex is such a thing, too. */
export interface Statements {
  <Row extends object>(table: string): ReturnType<typeof rowsOf<Row>>;
  into(table: string): Knex.QueryBuilder;
  raw(sql: string, bindings?: Knex.RawBinding[]): Knex.Raw;
  ref(column: string): Knex.Ref<string, { [name: string]: string }>;
}

export function rowsOf<Row extends object>(knex: Knex, table: string) {
  return knex<Row>(table);
}

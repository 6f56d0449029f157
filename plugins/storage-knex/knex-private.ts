/*
 * All that is used of knex beyond what it publishes, read in version 3.3.0 (lib/client.js and lib/dialects). Its public surface
 * does not suffice for three things. A driver that it does not know, node:sqlite, needs a client. So do errors without the values
 * of the rows, and rows whose statement knex does not write: `_query` is the only place that every statement passes. And types of
 * columns have no collation on PostgreSQL.
 */
export { default as SqliteClient } from 'knex/lib/dialects/better-sqlite3/index.js';
export type { SqliteQuery } from 'knex/lib/dialects/better-sqlite3/index.js';
export { default as MysqlClient } from 'knex/lib/dialects/mysql2/index.js';
export type { MysqlQuery } from 'knex/lib/dialects/mysql2/index.js';
export { default as PostgresClient } from 'knex/lib/dialects/postgres/index.js';
export type { PostgresQuery } from 'knex/lib/dialects/postgres/index.js';
export { default as PostgresColumnCompiler } from 'knex/lib/dialects/postgres/schema/pg-columncompiler.js';

/** knex's own mark, which its clients set, too: the pool closes such a connection instead of lending it again. */
export function discard(connection: object, error: unknown): void {
  Object.assign(connection, { __knex__disposed: error });
}

export function isDiscarded(connection: object): boolean {
  return '__knex__disposed' in connection;
}

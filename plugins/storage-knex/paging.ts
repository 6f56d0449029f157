import type { Knex } from 'knex';
import type { Page } from '../../src/contract/storage/index.ts';
import { integer } from './columns.ts';
import { type Position, readCursor, writeCursor } from './cursor.ts';
import { pageSize } from './limits.ts';
import type { DbInteger } from './rows.ts';

interface Paged<Row> {
  readonly limit: number;
  readonly cursor: string | undefined;
  /** What the cursor is bound to. */
  readonly listing: readonly unknown[];
  /** At most `limit` rows after the position, newest first. */
  rows(after: Position | undefined, limit: number): Promise<readonly Row[]>;
  position(row: Row): { readonly time: DbInteger; readonly id: string };
}

/** One page of a list by keyset: a row inserted meanwhile neither repeats nor hides another. */
export async function page<Row, Item>(paged: Paged<Row>, read: (row: Row) => Item): Promise<Page<Item>> {
  const size = pageSize(paged.limit);
  const after = paged.cursor === undefined ? undefined : readCursor(paged.cursor, paged.listing);
  const rows = await paged.rows(after, size + 1);
  const items = rows.slice(0, size).map(read);
  const last = rows.length > size ? rows.at(size - 1) : undefined;
  if (last === undefined) return { items };
  const { time, id } = paged.position(last);
  return { items, nextCursor: writeCursor({ time: integer(time), id }, paged.listing) };
}

/** The rows of one page, newest first by time and id: what `after` ended with is passed over. */
export function newestFirst<Query extends Knex.QueryBuilder>(
  query: Query,
  columns: { readonly time: string; readonly id: string },
  after: Position | undefined,
  limit: number,
): Query {
  if (after !== undefined) {
    query.where(
      (older: Knex.QueryBuilder) =>
        void older
          .where(columns.time, '<', after.time)
          .orWhere((same) => void same.where(columns.time, after.time).where(columns.id, '<', after.id)),
    );
  }
  query.orderBy([columns.time, columns.id].map((column) => ({ column, order: 'desc' }))).limit(limit);
  return query;
}

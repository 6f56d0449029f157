import type { Page } from '../../src/contract/index.ts';
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

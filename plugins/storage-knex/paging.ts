import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { z } from 'zod';
import { SightlineError, parseJson, foldCase } from '../../src/contract/core/index.ts';
import type { Page } from '../../src/contract/storage/index.ts';
import { integer, pageSize } from './columns.ts';
import type { DbInteger } from './tables.ts';
import type { Scope } from './scope.ts';

const cursorJson = z.tuple([z.int(), z.string().max(40), z.string().length(16)]);

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

/** Where a page ended: the sort time and id of its last row. */
interface Position {
  readonly time: number;
  readonly id: string;
}

/** An opaque cursor, bound to what was listed: `listing` is the organization, the list's name and the whole filter. */
function writeCursor(position: Position, listing: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([position.time, position.id, digest(listing)])).toString('base64url');
}

/** Throws `invalid_argument` for what `writeCursor` did not write for the same listing. */
function readCursor(cursor: string, listing: readonly unknown[]): Position {
  const parsed =
    cursor.length > 200
      ? undefined
      : cursorJson.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8'))).data;
  if (parsed === undefined || parsed[2] !== digest(listing)) {
    throw new SightlineError('invalid_argument', 'The cursor does not belong to this list with these filters.', {
      hint: 'Repeat the call without a cursor to begin again, or send the filters the cursor came with.',
    });
  }
  return { time: parsed[0], id: parsed[1] };
}

function digest(listing: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(listing)).digest('hex').slice(0, 16);
}

const maximumWords = 16;
const maximumLength = 500;

/** Conditions for the column `search_text` (see `searchText`), one for each word of the query; all must hold. */
export function matchesWords(scope: Scope, query = '') {
  const words = foldCase(query)
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length > maximumWords || query.length > maximumLength) {
    throw new SightlineError(
      'invalid_argument',
      `A search takes at most ${maximumWords} words and ${maximumLength} characters.`,
    );
  }
  // `!` and not the usual backslash, which MySQL reads as an escape within the literal as well.
  return words.map((word) => scope.raw(`search_text like ? escape '!'`, [`%${word.replace(/[!%_]/g, '!$&')}%`]));
}

export function searchText(...parts: readonly string[]): string {
  return foldCase(parts.join('\n'));
}

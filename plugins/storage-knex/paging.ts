import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { z } from 'zod';
import { SightlineError, parseJson, foldCase } from '../../src/contract/core/index.ts';
import type { Page } from '../../src/contract/storage/index.ts';
import { integer, pageSize } from './columns.ts';
import type { DbInteger } from './tables.ts';
import type { Scope } from './scope.ts';

const cursorJson = z.tuple([z.int(), z.string().max(40), z.string().length(16)]);

interface Listing<Time extends string> {
  /** The column of the time that the list is ordered by. */
  readonly time: Time;
  readonly limit: number;
  readonly cursor: string | undefined;
  /** What the cursor is bound to: the organization, the list's name and the whole filter. */
  readonly bound: readonly unknown[];
}

/** One page by keyset, newest first by time and id: a row inserted meanwhile neither repeats nor hides another. */
export async function page<
  Query extends Knex.QueryBuilder,
  Time extends string,
  Row extends { readonly id: string } & Record<Time, DbInteger>,
  Item,
>(
  query: Query & PromiseLike<readonly Row[]>,
  { time, limit, cursor, bound }: Listing<Time>,
  read: (row: Row) => Item,
): Promise<Page<Item>> {
  const size = pageSize(limit);
  if (cursor !== undefined) {
    const after = readCursor(cursor, bound);
    query.where(
      (older: Knex.QueryBuilder) =>
        void older
          .where(time, '<', after.time)
          .orWhere((same) => void same.where(time, after.time).where('id', '<', after.id)),
    );
  }
  query.orderBy([time, 'id'].map((column) => ({ column, order: 'desc' }))).limit(size + 1);
  const rows: readonly Row[] = await query;
  const items = rows.slice(0, size).map(read);
  const last = rows.length > size ? rows.at(size - 1) : undefined;
  if (last === undefined) return { items };
  return { items, nextCursor: writeCursor({ time: integer(last[time]), id: last.id }, bound) };
}

/** Where a page ended: the sort time and id of its last row. */
interface Position {
  readonly time: number;
  readonly id: string;
}

/** An opaque cursor. */
function writeCursor(position: Position, bound: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([position.time, position.id, digest(bound)])).toString('base64url');
}

/** Throws `invalid_argument` for what `writeCursor` did not write for the same listing. */
function readCursor(cursor: string, bound: readonly unknown[]): Position {
  const parsed =
    cursor.length > 200
      ? undefined
      : cursorJson.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8'))).data;
  if (parsed === undefined || parsed[2] !== digest(bound)) {
    throw new SightlineError('invalid_argument', 'The cursor does not belong to this list with these filters.', {
      hint: 'Repeat the call without a cursor to begin again, or send the filters the cursor came with.',
    });
  }
  return { time: parsed[0], id: parsed[1] };
}

function digest(bound: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(bound)).digest('hex').slice(0, 16);
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

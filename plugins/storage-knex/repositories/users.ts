import { newId, SightlineError, toId } from '../../../src/contract/core/index.ts';
import type { User } from '../../../src/contract/storage/index.ts';
import { boolean, date } from '../columns.ts';
import { comparable, shortText } from '../limits.ts';
import type { DbBoolean, DbInteger, UserRow } from '../rows.ts';

export function toUser(row: Pick<UserRow, 'id' | 'email' | 'name' | 'enabled' | 'created_at'>): User {
  return {
    id: toId('usr', row.id),
    email: row.email,
    name: row.name,
    enabled: boolean(row.enabled),
    createdAt: date(row.created_at),
  };
}

/** Selected beside another table's columns, and read by `joinedUser`. */
export const userColumns = {
  account_id: 'users.id',
  account_email: 'users.email',
  account_name: 'users.name',
  account_enabled: 'users.enabled',
  account_created_at: 'users.created_at',
} as const;

export interface JoinedUser {
  readonly account_id: string;
  readonly account_email: string;
  readonly account_name: string;
  readonly account_enabled: DbBoolean;
  readonly account_created_at: DbInteger;
}

export function joinedUser(row: JoinedUser): User {
  return toUser({
    id: row.account_id,
    email: row.account_email,
    name: row.account_name,
    enabled: row.account_enabled,
    created_at: row.account_created_at,
  });
}

/** A new, enabled account. Throws `invalid_argument` for an address or name that cannot be one. */
export function newUserRow(input: { readonly email: string; readonly name: string }, now: Date): UserRow {
  return {
    id: newId('usr', now.getTime()),
    ...emailColumns(input.email),
    name: shortText("The user's name", input.name.trim(), 200),
    enabled: true,
    created_at: now.getTime(),
    password_hash: null,
  };
}

/** The address as it is shown and as it is compared. Throws `invalid_argument` for what is not written like one. */
export function emailColumns(text: string): Pick<UserRow, 'email' | 'email_key'> {
  const email = shortText('The e-mail address', text.trim(), 320);
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new SightlineError('invalid_argument', 'The e-mail address is not written like one.');
  }
  return { email, email_key: comparable('The e-mail address', email, 640) };
}

import { toId } from '../../../src/contract/index.ts';
import type { User } from '../../../src/contract/index.ts';
import { boolean, date } from '../columns.ts';
import type { UserRow } from '../rows.ts';

export function toUser(row: UserRow): User {
  return {
    id: toId('usr', row.id),
    email: row.email,
    name: row.name,
    enabled: boolean(row.enabled),
    createdAt: date(row.created_at),
  };
}

import { SightlineError, toId } from '../../../src/contract/index.ts';
import type { MemberRepository, Role, User, UserId } from '../../../src/contract/index.ts';
import type { ScopedDatabase } from '../database.ts';
import { roleColumn } from '../enums.ts';
import type { UserRow } from '../rows.ts';
import { toUser } from './users.ts';

export class Members implements MemberRepository {
  readonly #database: ScopedDatabase;
  readonly #now: () => Date;

  constructor(database: ScopedDatabase, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  /** Adding a member again gives the role anew. */
  add(userId: UserId, role: Role): Promise<void> {
    return this.#database.write(
      async (scope) => {
        await scope.insertIfAbsent('members', { user_id: userId, role, created_at: this.#now().getTime() }, [
          'organization_id',
          'user_id',
        ]);
        await scope.from('members').where({ user_id: userId }).update({ role });
      },
      { foreign_key: new SightlineError('not_found', 'There is no such user or organization.') },
    );
  }

  list(): Promise<readonly { readonly user: User; readonly role: Role }[]> {
    return this.#database.read(async (scope) => {
      const rows: readonly (UserRow & { role: string })[] = await scope
        .from('members')
        .join('users', 'users.id', 'members.user_id')
        .orderBy(['users.email_key'])
        .select('users.*', 'members.role');
      return rows.map((row) => ({ user: toUser(row), role: roleColumn.parse(row.role) }));
    });
  }

  remove(userId: UserId): Promise<boolean> {
    return this.#database.write(
      async (scope) =>
        (await scope
          .from('members')
          .where({ user_id: toId('usr', userId) })
          .delete()) > 0,
    );
  }
}

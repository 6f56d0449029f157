import { SightlineError, toId } from '../../../src/contract/core/index.ts';
import type { InvitationId } from '../../../src/contract/core/index.ts';
import type { Invitation, InvitationRepository, NewInvitation } from '../../../src/contract/storage/index.ts';
import { date } from '../columns.ts';
import type { ScopedDatabase } from '../database.ts';
import { roleColumn } from '../enums.ts';
import type { InvitationRow } from '../rows.ts';
import { emailColumns } from './users.ts';

/** Locked while an address becomes invited or a member, so that it does not become both. */
export const invitationCounter = 'invitation';

export class Invitations implements InvitationRepository {
  readonly #database: ScopedDatabase;
  readonly #now: () => Date;

  constructor(database: ScopedDatabase, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  async create(input: NewInvitation): Promise<Invitation> {
    const address = emailColumns(input.email);
    const now = this.#now().getTime();
    return this.#database.write(
      async (scope) => {
        await scope.lockCounter(invitationCounter);
        const member = await scope
          .from('members')
          .join('users', 'users.id', 'members.user_id')
          .where('users.email_key', address.email_key)
          .first('users.id');
        if (member !== undefined) throw new SightlineError('conflict', `${address.email} is a member already.`);
        await scope
          .from('invitations')
          .where((ended) => void ended.where('email_key', address.email_key).orWhere('expires_at', '<=', now))
          .delete();
        const row = {
          id: input.id,
          ...address,
          role: input.role,
          hash: input.hash,
          created_by: input.createdBy,
          created_at: now,
          expires_at: input.expiresAt.getTime(),
        };
        await scope.insert('invitations', row);
        return toInvitation({ ...row, organization_id: scope.organizationId });
      },
      { duplicate: new SightlineError('conflict', 'An invitation with this id or token exists already.') },
    );
  }

  list(): Promise<readonly Invitation[]> {
    return this.#database.read(async (scope) => {
      const rows = await scope
        .from('invitations')
        .where('expires_at', '>', this.#now().getTime())
        .orderBy(['created_at', 'id'].map((column) => ({ column, order: 'desc' })));
      return rows.map(toInvitation);
    });
  }

  revoke(id: InvitationId): Promise<boolean> {
    return this.#database.write(async (scope) => {
      const open = scope.from('invitations').where({ id }).where('expires_at', '>', this.#now().getTime());
      return (await open.delete()) > 0;
    });
  }
}

export function toInvitation(row: InvitationRow): Invitation {
  return {
    id: toId('invt', row.id),
    organizationId: toId('org', row.organization_id),
    email: row.email,
    role: roleColumn.parse(row.role),
    createdBy: row.created_by,
    createdAt: date(row.created_at),
    expiresAt: date(row.expires_at),
  };
}

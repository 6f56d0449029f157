import { SightlineError, toId, type GrantId, type UserId } from '../../../src/contract/core/index.ts';
import type { Grant, GrantRepository, NewGrant } from '../../../src/contract/storage/index.ts';
import { date, optional } from '../columns.ts';
import { scopesJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { OrganizationRepository } from './repository.ts';

export class Grants extends OrganizationRepository implements GrantRepository {
  create(input: NewGrant): Promise<void> {
    return this.database.write(
      (scope) =>
        scope.insert('grants', {
          id: input.id,
          user_id: input.userId,
          client_id: input.clientId,
          client_name: input.clientName,
          redirect_origin: input.redirectOrigin,
          machine: input.machine?.slice(0, 200) ?? null,
          scopes: scopesJson.write(input.scopes),
          created_at: this.now().getTime(),
          last_used_at: null,
        }),
      {
        duplicate: new SightlineError('conflict', 'A grant with this id exists already.'),
        foreign_key: new SightlineError('not_found', 'There is no such member of the organization.'),
      },
    );
  }

  list(userId?: UserId): Promise<readonly Grant[]> {
    return this.database.read(async (scope) => {
      const query = scope.from('grants').join('users', 'users.id', 'grants.user_id');
      if (userId !== undefined) query.where('grants.user_id', userId);
      const rows: readonly GrantWithUser[] = await query
        .orderBy(['grants.created_at', 'grants.id'].map((column) => ({ column, order: 'desc' })))
        .select('grants.*', 'users.email', 'users.name');
      return rows.map(toGrant);
    });
  }

  revoke(id: GrantId, userId?: UserId): Promise<boolean> {
    const wanted = userId === undefined ? { id } : { id, user_id: userId };
    return this.some((scope) => endGrants(scope, wanted));
  }

  async markUsed(id: GrantId, at: Date): Promise<void> {
    this.parts.marks.mark(this.database.organizationId, 'grants', id, at);
  }
}

/** Deletes grants with every artifact of theirs, and tells how many. */
export async function endGrants(
  scope: Scope,
  grants: Partial<Pick<RowIn<'grants'>, 'id' | 'user_id'>>,
): Promise<number> {
  // Not a change, but the lock that two who end one grant take in turn; each would read it below, and wait for the other.
  const found = await scope
    .from('grants')
    .where(grants)
    .update({ last_used_at: scope.raw('last_used_at', []) });
  if (found === 0) return 0;
  await scope.artifactsOf(grants).delete();
  return scope.from('grants').where(grants).delete();
}

interface GrantWithUser extends RowIn<'grants'> {
  readonly email: string;
  readonly name: string;
}

function toGrant(row: GrantWithUser): Grant {
  return {
    id: toId('gra', row.id),
    organizationId: toId('org', row.organization_id),
    user: { id: toId('usr', row.user_id), email: row.email, name: row.name },
    clientId: row.client_id,
    clientName: row.client_name,
    redirectOrigin: row.redirect_origin,
    ...optional('machine', row.machine, String),
    scopes: scopesJson.read(row.scopes),
    createdAt: date(row.created_at),
    ...optional('lastUsedAt', row.last_used_at, date),
  };
}

import type { OrganizationId, UserId } from '../../../src/contract/core/index.ts';
import type {
  DeletedMembership,
  DeletedOrganization,
  DeletedOrganizationRepository,
} from '../../../src/contract/storage/index.ts';
import { date, optional, roleColumn } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import { DirectoryRepository } from './repository.ts';
import { toOrganization } from './users.ts';

export class DeletedOrganizations extends DirectoryRepository implements DeletedOrganizationRepository {
  add(id: OrganizationId, purgeAt: Date): Promise<boolean> {
    const deleted = { deleted_at: this.now().getTime(), purge_at: purgeAt.getTime() };
    return this.some((knex) => knex('organizations').where({ id }).whereNull('deleted_at').update(deleted));
  }

  restore(id: OrganizationId): Promise<boolean> {
    const alive = { deleted_at: null, purge_at: null };
    const now = this.now().getTime();
    return this.some((knex) => knex('organizations').where({ id }).where('purge_at', '>', now).update(alive));
  }

  list(): Promise<readonly DeletedOrganization[]> {
    return this.all(
      (knex) => knex('organizations').whereNotNull('deleted_at').orderBy(['deleted_at', 'id']),
      toDeleted,
    );
  }

  of(userId: UserId): Promise<readonly DeletedMembership[]> {
    return this.all(
      (knex) =>
        knex('members')
          .join('organizations', 'organizations.id', 'members.organization_id')
          .where('members.user_id', userId)
          .whereNotNull('organizations.purge_at')
          .orderBy('organizations.name_key')
          .select('organizations.*', 'members.role'),
      (row) => ({ ...toDeleted(row), role: roleColumn.parse(row.role) }),
    );
  }

  async purged(id: OrganizationId): Promise<void> {
    await this.database.write(async (knex) => {
      await knex('admin_keys').where({ organization_id: id }).delete();
      await knex('organizations')
        .where({ id })
        .whereNotNull('deleted_at')
        .update({ name: id, name_key: id, purge_at: null });
    });
  }
}

function toDeleted(row: RowIn<'organizations'>): DeletedOrganization {
  return {
    ...toOrganization(row),
    ...optional('purgeAt', row.purge_at, date),
  };
}

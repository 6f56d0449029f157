import { toId, type AdminKeyId } from '../../../src/contract/core/index.ts';
import type { AdminKey, AdminKeyRepository, NewAdminKey } from '../../../src/contract/storage/index.ts';
import { date, optional, shortText } from '../columns.ts';
import { adminScopesJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import { DirectoryRepository } from './repository.ts';
import { liveOrganizations } from './users.ts';

export class AdminKeys extends DirectoryRepository implements AdminKeyRepository {
  async create({ hash, ...key }: NewAdminKey): Promise<AdminKey> {
    const createdAt = this.now();
    const row = {
      id: key.id,
      name: shortText("The key's name", key.name, 100),
      scopes: adminScopesJson.write(key.scopes),
      hash,
      created_by: key.createdBy,
      organization_id: key.organizationId ?? null,
      created_at: createdAt.getTime(),
    };
    await this.database.write(async (knex, enter) => {
      if (key.organizationId !== undefined) await (await enter(key.organizationId)).refuseErased(key.createdBy);
      await knex('admin_keys').insert(row);
    });
    return { ...key, createdAt };
  }

  list(): Promise<readonly AdminKey[]> {
    return this.all((knex) => knex('admin_keys').orderBy(['created_at', 'id']), toKey);
  }

  revoke(id: AdminKeyId): Promise<boolean> {
    return this.some((knex) => knex('admin_keys').where({ id }).delete());
  }

  find(hash: string): Promise<AdminKey | undefined> {
    return this.one(
      (knex) =>
        knex('admin_keys')
          .where({ hash })
          .where((either) => {
            void either.whereNull('organization_id').orWhereIn('organization_id', liveOrganizations(knex));
          })
          .first(),
      toKey,
    );
  }
}

function toKey(row: RowIn<'admin_keys'>): AdminKey {
  return {
    id: toId('adk', row.id),
    name: row.name,
    ...optional('organizationId', row.organization_id, (id) => toId('org', id)),
    scopes: adminScopesJson.read(row.scopes),
    createdAt: date(row.created_at),
    createdBy: row.created_by,
  };
}

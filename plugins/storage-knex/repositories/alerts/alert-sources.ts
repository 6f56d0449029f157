import { SightlineError, toId, type AlertSourceId } from '../../../../src/contract/core/index.ts';
import type { AlertSource, AlertSourceRepository, NewAlertSource } from '../../../../src/contract/storage/index.ts';
import { date, comparable, shortText } from '../../columns.ts';
import type { Database } from '../../database.ts';
import type { RowIn } from '../../rows.ts';
import { ofLiveOrganization } from '../users.ts';
import { OrganizationRepository } from '../repository.ts';

const mostSources = 100;

export class AlertSources extends OrganizationRepository implements AlertSourceRepository {
  async create({ id, plugin, sealed, createdBy, ...input }: NewAlertSource): Promise<AlertSource> {
    const name = shortText("The alert source's name", input.name.trim(), 100);
    const row = {
      id,
      name,
      name_key: comparable("The alert source's name", name, 200),
      plugin,
      sealed,
      created_at: this.now().getTime(),
      created_by: createdBy,
    };
    return this.database.write(
      async (scope) => {
        await scope.refuseErased(createdBy);
        const all = await scope.from('alert_sources').select('id');
        if (all.length >= mostSources) {
          throw new SightlineError('conflict', `An organization has at most ${mostSources} alert sources.`, {
            hint: 'Remove one that is not used any more.',
          });
        }
        await scope.insert('alert_sources', row);
        return toSource({ ...row, organization_id: scope.organizationId });
      },
      { duplicate: new SightlineError('conflict', `There is an alert source named ${name} already.`) },
    );
  }

  list(): Promise<readonly AlertSource[]> {
    return this.all(
      (scope) => scope.from('alert_sources').orderBy(['created_at', 'id'].map((column) => ({ column }))),
      toSource,
    );
  }

  replaceSecret(id: AlertSourceId, sealed: string): Promise<boolean> {
    return this.some((scope) => scope.from('alert_sources').where({ id }).update({ sealed }));
  }

  remove(id: AlertSourceId): Promise<boolean> {
    return this.some((scope) => scope.from('alert_sources').where({ id }).delete());
  }
}

/** Asked for every delivery, before the organization is known. Prepared once. */
export function liveAlertSource(database: Database): (id: string) => Promise<AlertSource | undefined> {
  return database.lookup(
    'select id, organization_id, name, plugin, sealed, created_at, created_by from alert_sources' +
      ` where id = ? and ${ofLiveOrganization('alert_sources')}`,
    (row) => {
      const text = (column: string): string => String(row[column]);
      return toSource({
        id: text('id'),
        organization_id: text('organization_id'),
        name: text('name'),
        plugin: text('plugin'),
        sealed: text('sealed'),
        created_at: text('created_at'),
        created_by: text('created_by'),
      });
    },
  );
}

function toSource(row: Omit<RowIn<'alert_sources'>, 'name_key'>): AlertSource {
  return {
    id: toId('als', row.id),
    organizationId: toId('org', row.organization_id),
    name: row.name,
    plugin: row.plugin,
    sealed: row.sealed,
    createdAt: date(row.created_at),
    createdBy: row.created_by,
  };
}

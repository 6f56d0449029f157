import { z } from 'zod';
import { foldCase, SightlineError } from '../contract/core/index.ts';
import { instanceId } from '../contract/storage/index.ts';
import { operations } from '../gateway/admin/index.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { actOnAdmin } from './admin.ts';
import { act, findOrganization, operator, withWorkspace, type Register } from './command.ts';
import { table, type Output } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('org').description(summary);
  const create = group.command('create').argument('<name>').description('create an organization');
  actOnAdmin(create, output, z.object({}), async ({ admin, operands: [name = ''] }) => {
    const made = await admin.perform(operations.createOrganization, { name });
    output.result({ id: made.id, name: made.name }, () => `Created organization ${made.name} (${made.id}).`);
  });

  const list = group
    .command('list')
    .description('list the organizations')
    .option('--deleted', 'deleted ones, and until when they can be restored; on the machine alone');
  actOnAdmin(list, output, z.object({ deleted: z.boolean().default(false) }), async ({ admin, settings, options }) => {
    if (options.deleted) return listDeleted(settings, output);
    const rows = await admin.organizations(undefined);
    output.result(rows, () =>
      table(
        output,
        ['name', 'id', 'created'],
        rows.map(({ id, name, created_at }) => [name, id, created_at]),
        'There is no organization yet. Make one with: sightline org create NAME',
      ),
    );
  });

  const remove = group
    .command('delete')
    .argument('<name>')
    .description('lock an organization at once, and remove it with its telemetry after some days')
    .option('--yes', 'delete; without it, only print what would be deleted');
  act(remove, output, z.object({ yes: z.boolean().default(false) }), async ({ settings, options, operands }) =>
    withWorkspace(settings, async (workspace) => {
      const { id, name } = await findOrganization(workspace, operands[0]);
      const days = workspace.config.retention.deletedOrganizationDays;
      if (!options.yes) {
        const members = (await workspace.people.members(id)).length;
        const keys = (await workspace.keys.list(id)).length;
        output.result({ id, name, members, keys, days, deleted: false }, () =>
          [
            `${name} has ${members} members and ${keys} API keys. Nothing was deleted: say --yes.`,
            `They are shut out at once. For ${days} days sightline org restore brings it back; then all it has is removed.`,
          ].join('\n'),
        );
        return;
      }
      const until = (await workspace.organizations.remove(id, operator())).toISOString();
      output.result({ id, name, deleted: true, until }, () =>
        [
          `${name} (${id}) is deleted: nobody gets in. It is removed after ${until}, with its telemetry, by a running gateway.`,
          `Until then: sightline org restore ${id}`,
          ...telemetryElsewhere(workspace),
        ].join('\n'),
      );
    }),
  );

  const restore = group.command('restore').argument('<name>').description('restore a deleted organization');
  act(restore, output, z.object({}), async ({ settings, operands: [wanted = ''] }) =>
    withWorkspace(settings, async ({ storage, organizations }) => {
      const deleted = await storage.directory.deletedOrganizations.list();
      const found = deleted.find(({ id, name }) => id === wanted || foldCase(name) === foldCase(wanted.trim()));
      if (found === undefined) {
        throw new SightlineError(
          'not_found',
          `No deleted organization is called ${JSON.stringify(wanted.slice(0, 100))}.`,
          {
            hint: 'sightline org list --deleted names those there are.',
          },
        );
      }
      await organizations.restore(found.id, operator());
      output.result({ id: found.id, name: found.name }, () => `${found.name} (${found.id}) is back.`);
    }),
  );
};

async function listDeleted(settings: Settings, output: Output): Promise<void> {
  const all = await withWorkspace(settings, ({ storage }) => storage.directory.deletedOrganizations.list());
  const rows = all
    .filter(({ id }) => id !== instanceId)
    .map(({ id, name, purgeAt }) => ({ id, name, until: purgeAt?.toISOString() ?? null }));
  output.result(rows, () =>
    table(
      output,
      ['name', 'id', 'can be restored until'],
      rows.map(({ id, name, until }) => [name, id, until ?? 'removed']),
      'No organization was deleted.',
    ),
  );
}

/** Where the warehouse is not ours, what is in it is not ours to remove. */
function telemetryElsewhere({ config: { telemetry, ingest } }: OpenWorkspace): readonly string[] {
  if (telemetry.plugin === 'duckdb') return [];
  return ingest.collector === undefined
    ? ['Of its telemetry, rows in tables that this service writes are removed; others are yours to remove.']
    : ['Its telemetry is in your warehouse, and yours to remove.'];
}

import { z } from 'zod';
import { operations } from '../gateway/admin/index.ts';
import { actOnAdmin, type Admin } from './admin.ts';
import type { Register } from './command.ts';
import { pasteable, showRows, type Output } from './output.ts';

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
    .option('--deleted', 'deleted ones, and until when they can be restored');
  actOnAdmin(list, output, z.object({ deleted: z.boolean().default(false) }), async ({ admin, options }) => {
    if (options.deleted) return listDeleted(admin, output);
    const rows = await admin.organizations(undefined);
    showRows(
      output,
      rows,
      ['name', 'id', 'created'],
      ({ id, name, created_at }) => [name, id, created_at],
      'There is no organization yet. Make one with: sightline org create NAME',
    );
  });

  const remove = group
    .command('delete')
    .argument('<name>')
    .description('lock an organization at once, and remove it with its telemetry after some days')
    .option('--yes', 'delete; without it, only print what would be deleted');
  actOnAdmin(remove, output, z.object({ yes: z.boolean().default(false) }), async ({ admin, options, operands }) => {
    const [wanted = ''] = operands;
    if (!options.yes) {
      const {
        id,
        name,
        members,
        keys,
        restorable_days: days,
      } = await admin.perform(operations.showOrganization, {}, wanted);
      output.result({ id, name, members, keys, days, deleted: false }, () =>
        [
          `${name} has ${members} ${members === 1 ? 'member' : 'members'} and ${keys} API ${keys === 1 ? 'key' : 'keys'}. Nothing was deleted: say --yes.`,
          pasteable(
            `They are shut out at once. For ${days} days sightline org restore brings it back; then all it has is removed.`,
          ),
        ].join('\n'),
      );
      return;
    }
    const { id, name, until, note } = await admin.perform(operations.deleteOrganization, {}, wanted);
    output.result({ id, name, deleted: true, until }, () =>
      [
        `${name} (${id}) is deleted: nobody gets in. It is removed after ${until}, with its telemetry, by a running gateway.`,
        pasteable(`Until then: sightline org restore ${id}`),
        ...(note === undefined ? [] : [note]),
      ].join('\n'),
    );
  });

  const restore = group.command('restore').argument('<name>').description('restore a deleted organization');
  actOnAdmin(restore, output, z.object({}), async ({ admin, operands: [wanted = ''] }) => {
    const { id, name } = await admin.perform(operations.restoreOrganization, { name: wanted });
    output.result({ id, name }, () => `${name} (${id}) is back.`);
  });
};

async function listDeleted(admin: Admin, output: Output): Promise<void> {
  const { items: rows } = await admin.perform(operations.listDeletedOrganizations, {});
  showRows(
    output,
    rows,
    ['name', 'id', 'can be restored until'],
    ({ id, name, until }) => [name, id, until ?? 'removed'],
    'No organization was deleted.',
  );
}

import { z } from 'zod';
import { SightlineError } from '../contract/index.ts';
import { act, findOrganization, withWorkspace } from './command.ts';
import type { Register } from './command.ts';
import { table } from './output.ts';

const roles = ['admin', 'member'] as const;

export const register: Register = (program, output, summary) => {
  const group = program.command('user').description(summary);
  const create = group
    .command('create')
    .description('create a person, or make one a member of another organization')
    .option('--email <address>', 'e-mail address (required)')
    .option('--name <name>', 'shown name (default: the address)')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--role <role>', `${roles.join(' or ')}`, 'member');
  const shape = z.object({ email: z.string(), name: z.string().optional(), org: z.string(), role: z.string() });
  act(create, output, shape, async ({ settings, options }) => {
    const role = z.enum(roles).safeParse(options.role);
    if (!role.success) throw new SightlineError('invalid_argument', `A role is ${roles.join(' or ')}.`);
    const email = z.email().max(254).safeParse(options.email.trim());
    if (!email.success)
      throw new SightlineError('invalid_argument', `${JSON.stringify(options.email)} is no e-mail address.`);
    await withWorkspace(settings, async (workspace) => {
      const organization = await findOrganization(workspace, options.org);
      const { directory } = workspace.storage;
      const user =
        (await directory.findUser(email.data)) ??
        (await directory.createUser({ email: email.data, name: options.name ?? email.data }));
      await workspace.storage.workspace(organization.id).members.add(user.id, role.data);
      output.result(
        { id: user.id, email: user.email, name: user.name, org: organization.name, role: role.data },
        () =>
          `${user.email} (${user.id}) is ${role.data === 'admin' ? 'an admin' : 'a member'} of ${organization.name}.`,
      );
    });
  });

  const list = group
    .command('list')
    .description('list people')
    .option('--org <name>', 'only those of this organization');
  act(list, output, z.object({ org: z.string().optional() }), async ({ settings, options }) => {
    await withWorkspace(settings, async (workspace) => {
      const { directory } = workspace.storage;
      const organizations =
        options.org === undefined ? await directory.organizations() : [await findOrganization(workspace, options.org)];
      const rows: { id: string; email: string; name: string; org: string; role: string; enabled: boolean }[] = [];
      for (const { id, name: org } of organizations) {
        for (const { user, role } of await workspace.storage.workspace(id).members.list()) {
          rows.push({ id: user.id, email: user.email, name: user.name, org, role, enabled: user.enabled });
        }
      }
      output.result(rows, () =>
        table(
          output,
          ['email', 'name', 'organization', 'role', 'id'],
          rows.map(({ id, email, name, org, role }) => [email, name, org, role, id]),
          'There is nobody yet. Make an account with: sightline user create',
        ),
      );
    });
  });
};

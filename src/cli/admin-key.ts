import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { adminScopes, type AdminKey, type AdminScope } from '../contract/storage/index.ts';
import { createAdminKeys } from '../gateway/admin/keys.ts';
import { actInWorkspace, findOrganization, operator, orgShape, type Register } from './command.ts';
import { showRows } from './output.ts';

/** Made beside the storage alone: a key over HTTP could make others that outlive it. */
export const register: Register = (program, output, summary) => {
  const group = program.command('admin-key').description(summary);

  const create = group
    .command('create')
    .description('create a key of the admin interface; prints its secret, once')
    .option('--name <label>', 'what the key is for (required)')
    .option('--org <name>', 'the organization, by name or id, that the key is for (default: the only one)')
    .option('--all-organizations', 'a key for all organizations, in place of --org')
    .option('--scopes <list>', `comma-separated (default: all): ${adminScopes.join(',')}`);
  const created = orgShape.extend({
    name: z.string(),
    allOrganizations: z.boolean().default(false),
    scopes: z.string().transform(scopeList).default(adminScopes),
  });
  actInWorkspace(create, output, created, async ({ workspace, options }) => {
    const { name, org, scopes, allOrganizations } = options;
    if (allOrganizations && org !== undefined) {
      throw new SightlineError(
        'invalid_argument',
        'A key is for one organization or for all: --org or --all-organizations.',
      );
    }
    const organizationId = allOrganizations ? undefined : (await findOrganization(workspace, org)).id;
    const { key, secret } = await createAdminKeys(workspace).create({
      name,
      organizationId,
      scopes,
      actor: operator(),
    });
    output.result({ ...describe(key), secret }, () =>
      [`id      ${key.id}`, `secret  ${secret}`, 'Keep the secret now: it is not shown again.'].join('\n'),
    );
  });

  const list = group.command('list').description('list the keys of the admin interface');
  actInWorkspace(list, output, z.object({}), async ({ workspace }) => {
    const organizations = await workspace.storage.directory.organizations();
    const names = new Map(organizations.map(({ id, name }) => [String(id), name]));
    const rows = (await createAdminKeys(workspace).list()).map(describe);
    showRows(
      output,
      rows,
      ['id', 'name', 'organization', 'scopes', 'created'],
      (row) => [
        row.id,
        row.name,
        row.organization === null ? 'all' : (names.get(row.organization) ?? row.organization),
        row.scopes.join(' '),
        row.created_at,
      ],
      'There is no key yet. Make one with: sightline admin-key create --org NAME --name LABEL',
    );
  });

  const revoke = group.command('revoke').argument('<id>').description('revoke a key, from its next request on');
  actInWorkspace(revoke, output, z.object({}), async ({ workspace, operands: [id = ''] }) => {
    await createAdminKeys(workspace).revoke(id, operator());
    output.result({ id, revoked: true }, () => `${id} is revoked.`);
  });
};

function describe(key: AdminKey) {
  return {
    id: key.id,
    name: key.name,
    organization: key.organizationId ?? null,
    scopes: key.scopes,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
  };
}

function scopeList(text: string): readonly AdminScope[] {
  const scopes = z.array(z.enum(adminScopes)).safeParse(text.split(/[\s,]+/).filter((word) => word !== ''));
  if (scopes.success && scopes.data.length > 0) return scopes.data;
  throw new SightlineError('invalid_argument', '--scopes names a scope that there is not.', {
    hint: `Scopes: ${adminScopes.join(', ')}`,
  });
}

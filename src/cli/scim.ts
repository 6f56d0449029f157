import { scimPath } from '../contract/issuer/index.ts';
import { actInOrganization, operator, orgCommand, orgShape, type Register } from './command.ts';
import { table } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('scim').description(summary);

  const create = orgCommand(group, 'create', 'create a token for an identity provider; prints it, once');
  actInOrganization(create, output, orgShape, async ({ workspace, organization: { id: organizationId } }) => {
    const { id, token } = await workspace.scimTokens.create(organizationId, operator());
    const running = workspace.config.publicUrl === undefined ? await workspace.runningGateway() : undefined;
    const base = running?.url ?? workspace.host(workspace.config.listen.port, 'cli').publicUrl;
    const address = `${base}${scimPath}`;
    output.result({ id, address, token }, () =>
      [`id       ${id}`, `address  ${address}`, `token    ${token}`, 'Keep the token now: it is not shown again.'].join(
        '\n',
      ),
    );
  });

  const list = orgCommand(group, 'list', 'list the tokens');
  actInOrganization(list, output, orgShape, async ({ workspace, organization: { id } }) => {
    const rows = (await workspace.scimTokens.list(id)).map((each) => ({
      id: each.id,
      last_four: each.lastFour,
      created_at: each.createdAt.toISOString(),
      created_by: each.createdBy,
      last_used_at: each.lastUsedAt?.toISOString() ?? null,
    }));
    output.result(rows, () =>
      table(
        output,
        ['id', 'ends in', 'created', 'by', 'last used'],
        rows.map((row) => [row.id, row.last_four, row.created_at, row.created_by, row.last_used_at ?? 'never']),
        'There is no SCIM token yet. Make one with: sightline scim create --org NAME',
      ),
    );
  });

  const revoke = orgCommand(group, 'revoke <token_id>', 'end a token');
  actInOrganization(revoke, output, orgShape, async ({ workspace, organization, operands: [id = ''] }) => {
    await workspace.scimTokens.revoke(organization.id, id, operator());
    output.result({ id, revoked: true }, () => `${id} is revoked.`);
  });
};

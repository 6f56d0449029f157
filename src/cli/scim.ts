import { operations } from '../gateway/admin/index.ts';
import { actOnAdmin, authorsOf } from './admin.ts';
import { orgCommand, orgShape, toPaste, type Register } from './command.ts';
import { showRows } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('scim').description(summary);

  const create = orgCommand(group, 'create', 'create a token for an identity provider; prints it, once');
  actOnAdmin(create, output, orgShape, async ({ admin, options: { org } }) => {
    const made = await admin.perform(operations.createScimToken, {}, org);
    const { id, address, token, note } = made;
    output.result(made, () =>
      [
        `id       ${id}`,
        `address  ${address}`,
        `token    ${token}`,
        'Keep the token now: it is not shown again.',
        ...(note === undefined ? [] : [note]),
      ].join('\n'),
    );
  });

  const list = orgCommand(group, 'list', 'list the tokens');
  actOnAdmin(list, output, orgShape, async ({ admin, options: { org } }) => {
    const { items: rows } = await admin.perform(operations.listScimTokens, {}, org);
    const authorOf = await authorsOf(output, admin, org);
    showRows(
      output,
      rows,
      ['id', 'ends in', 'created', 'by', 'last used'],
      (row) => [row.id, row.last_four, row.created_at, authorOf(row.created_by), row.last_used_at ?? 'never'],
      `There is no SCIM token yet. Make one with: ${toPaste('sightline scim create', org ?? 'NAME')}`,
    );
  });

  const revoke = orgCommand(group, 'revoke <token_id>', 'end a token');
  actOnAdmin(revoke, output, orgShape, async ({ admin, options: { org }, operands: [id = ''] }) => {
    await admin.perform(operations.revokeScimToken, { id }, org);
    output.result({ id, revoked: true }, () => `${id} is revoked.`);
  });
};

import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { scopes as allScopes, type Scope } from '../contract/issuer/index.ts';
import type { ApiKey } from '../contract/storage/index.ts';
import {
  act,
  actInOrganization,
  actInWorkspace,
  operator,
  organizationsOf,
  orgShape,
  withWorkspace,
  type Register,
} from './command.ts';
import { table, type Output } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('key').description(summary);

  const create = group
    .command('create')
    .description('create an API key; its secret is shown this once')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--name <label>', 'what the key is for (required)')
    .option('--scopes <list>', `all, or comma-separated (required): ${allScopes.join(',')}`);
  const created = z.object({
    org: z.string(),
    name: z.string(),
    scopes: z.string().transform(scopeList),
  });
  actInOrganization(create, output, created, async ({ workspace, organization, options: { name, scopes } }) => {
    const organizationId = organization.id;
    showPair(output, await workspace.keys.create({ organizationId, name, scopes, actor: operator() }));
  });

  const list = group
    .command('list')
    .description('list the keys')
    .option('--org <name>', 'only those of this organization');
  actInWorkspace(list, output, orgShape, async ({ workspace, options }) => {
    const rows: (ReturnType<typeof describe> & { org: string })[] = [];
    for (const { id, name } of await organizationsOf(workspace, options.org)) {
      for (const key of await workspace.keys.list(id)) rows.push({ ...describe(key), org: name });
    }
    output.result(rows, () =>
      table(
        output,
        ['client id', 'name', 'organization', 'secrets', 'by', 'last used', 'scopes'],
        rows.map((row) => [
          row.client_id,
          row.paused_at === null ? row.name : `${row.name} (paused)`,
          row.org,
          row.secrets.map((secret) => `…${secret.last_four ?? '????'}`).join(' '),
          row.created_by,
          row.last_used_at ?? 'never',
          row.scopes.join(' '),
        ]),
        'There is no key yet. Make one with: sightline key create --org NAME --name LABEL --scopes LIST',
      ),
    );
  });

  const rotate = group
    .command('rotate')
    .argument('<client_id>')
    .description('add a second secret; the old one keeps working until it is retired');
  act(rotate, output, z.object({}), async ({ settings, operands: [clientId = ''] }) => {
    showPair(output, await withWorkspace(settings, ({ keys }) => keys.rotate(clientId, operator())));
  });

  const changes = [
    ['retire', 'retired', 'delete the older of two secrets', 'The older secret of ID is deleted.'],
    ['discard', 'discarded', 'delete the newer of two secrets, which was lost', 'The newer secret of ID is deleted.'],
    ['pause', 'paused', 'refuse the key until it is resumed', 'ID is paused. Resume it with: sightline key resume ID'],
    ['resume', 'resumed', 'take a paused key again', 'ID is taken again.'],
  ] as const;
  for (const [name, done, description, said] of changes) {
    const change = group.command(name).argument('<client_id>').description(description);
    act(change, output, z.object({}), async ({ settings, operands: [clientId = ''] }) => {
      await withWorkspace(settings, ({ keys }) => keys[name](clientId, operator()));
      output.result({ client_id: clientId, [done]: true }, () => said.replaceAll('ID', clientId));
    });
  }

  const revoke = group.command('revoke').argument('<client_id>').description('delete the key and all its secrets');
  act(revoke, output, z.object({}), async ({ settings, operands: [clientId = ''] }) => {
    if (!(await confirmed(output, `Delete ${clientId}? Clients with it are refused from the next request on.`))) {
      throw new SightlineError('conflict', 'Nothing was deleted.');
    }
    await withWorkspace(settings, ({ keys }) => keys.revoke(clientId, operator()));
    output.result({ client_id: clientId, revoked: true }, () => `${clientId} is deleted.`);
  });
};

function showPair(
  output: Output,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
): void {
  output.result({ client_id: clientId, client_secret: clientSecret }, () =>
    [
      `client_id      ${clientId}`,
      `client_secret  ${clientSecret}`,
      'Keep the secret now: it is not shown again.',
    ].join('\n'),
  );
}

function describe(key: ApiKey) {
  return {
    client_id: key.id,
    name: key.name,
    scopes: key.scopes,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    paused_at: key.pausedAt?.toISOString() ?? null,
    secrets: key.secrets.map(({ id, createdAt, lastFour, lastUsedAt }) => ({
      id,
      created_at: createdAt.toISOString(),
      last_four: lastFour ?? null,
      last_used_at: lastUsedAt?.toISOString() ?? null,
    })),
  };
}

function scopeList(text: string): readonly Scope[] {
  if (text.trim() === 'all') return allScopes;
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      const scope = allScopes.find((each) => each === word);
      if (scope !== undefined) return scope;
      throw new SightlineError('invalid_argument', `${JSON.stringify(word.slice(0, 64))} is not a scope.`, {
        hint: `Scopes: all, or ${allScopes.join(', ')}`,
      });
    });
}

/** Asks on a terminal; a script means what it says. */
async function confirmed(output: Output, question: string): Promise<boolean> {
  if (output.json || !process.stdin.isTTY || !process.stdout.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

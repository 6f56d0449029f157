import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { scopes as allScopes, type Scope } from '../contract/issuer/index.ts';
import { operations } from '../gateway/admin/index.ts';
import { actOnAdmin, authorsOf, type Admin } from './admin.ts';
import { orgShape, toPaste, type Register } from './command.ts';
import { pasteable, showRows, type Output } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('key').description(summary);

  const create = group
    .command('create')
    .description('create an API key; prints its secret, once')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--name <label>', 'what the key is for (required)')
    .option('--scopes <list>', `all, or comma-separated (required): ${allScopes.join(',')}`);
  const created = z.object({
    org: z.string(),
    name: z.string(),
    scopes: z.string().transform(scopeList),
  });
  actOnAdmin(create, output, created, async ({ admin, options: { org, name, scopes } }) => {
    showPair(output, await admin.perform(operations.createKey, { name, scopes: [...scopes] }, org));
  });

  const list = group
    .command('list')
    .description('list the keys')
    .option('--org <name>', 'only those of this organization');
  actOnAdmin(list, output, orgShape, async ({ admin, options }) => {
    const rows = await keysOf(admin, options.org);
    const authorOf = await authorsOf(output, admin, options.org);
    showRows(
      output,
      rows,
      ['client id', 'name', 'organization', 'secrets', 'by', 'last used', 'scopes'],
      (row) => [
        row.client_id,
        row.paused_at === null ? row.name : `${row.name} (paused)`,
        row.org,
        row.secrets.map((secret) => `…${secret.last_four ?? '????'}`).join(' '),
        authorOf(row.created_by),
        row.last_used_at ?? 'never',
        row.scopes.join(' '),
      ],
      `There is no key yet. Make one with: ${toPaste('sightline key create --name LABEL --scopes LIST', options.org ?? 'NAME')}`,
    );
  });

  const rotate = group
    .command('rotate')
    .argument('<client_id>')
    .description('add a second secret; the old one keeps working until it is retired');
  actOnAdmin(rotate, output, z.object({}), async ({ admin, operands: [id = ''] }) => {
    showPair(output, await admin.perform(operations.rotateKey, { client_id: id }, await organizationOf(admin, id)));
  });

  const changes = [
    ['retire', 'retired', 'delete the older of two secrets', 'The older secret of ID is deleted.'],
    ['discard', 'discarded', 'delete the newer of two secrets, if it was lost', 'The newer secret of ID is deleted.'],
    ['pause', 'paused', 'refuse the key until it is resumed', 'ID is paused. Resume it with: sightline key resume ID'],
    ['resume', 'resumed', 'accept a paused key again', 'ID is taken again.'],
  ] as const;
  const { retireKeySecret: retire, discardKeySecret: discard, pauseKey: pause, resumeKey: resume } = operations;
  const changing = { retire, discard, pause, resume };
  for (const [name, done, description, said] of changes) {
    const change = group.command(name).argument('<client_id>').description(description);
    actOnAdmin(change, output, z.object({}), async ({ admin, operands: [id = ''] }) => {
      await admin.perform(changing[name], { client_id: id }, await organizationOf(admin, id));
      output.result({ client_id: id, [done]: true }, () => pasteable(said.replaceAll('ID', id)));
    });
  }

  const revoke = group.command('revoke').argument('<client_id>').description('delete the key and all its secrets');
  actOnAdmin(revoke, output, z.object({}), async ({ admin, operands: [id = ''] }) => {
    if (!(await confirmed(output, `Delete ${id}? Clients with it are refused from the next request on.`))) {
      throw new SightlineError('conflict', 'Nothing was deleted.');
    }
    await admin.perform(operations.revokeKey, { client_id: id }, await organizationOf(admin, id));
    output.result({ client_id: id, revoked: true }, () => `${id} is deleted.`);
  });
};

/** With the organization of each. */
async function keysOf(admin: Admin, org: string | undefined) {
  const all: (z.output<typeof operations.listKeys.output>['items'][number] & { org: string })[] = [];
  for (const { id, name } of await admin.organizations(org)) {
    const { items } = await admin.perform(operations.listKeys, {}, id);
    for (const key of items) all.push({ ...key, org: name });
  }
  return all;
}

/** A key is named by its id alone. */
async function organizationOf(admin: Admin, clientId: string): Promise<string> {
  const found = (await keysOf(admin, undefined)).find((key) => key.client_id === clientId);
  if (found !== undefined) return found.org;
  throw new SightlineError('not_found', `There is no API key ${JSON.stringify(clientId.slice(0, 64))}.`, {
    hint: 'A client id looks like ak_01hx… and is listed by: sightline key list',
  });
}

function showPair(output: Output, pair: z.output<typeof operations.createKey.output>): void {
  output.result(pair, () =>
    [
      `client_id      ${pair.client_id}`,
      `client_secret  ${pair.client_secret}`,
      'Keep the secret now: it is not shown again.',
    ].join('\n'),
  );
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

import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { deriveUrls } from '../gateway/wiring/urls.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { SightlineError } from '../contract/core/index.ts';
import { roles, type Role } from '../contract/issuer/index.ts';
import type { User } from '../contract/storage/index.ts';
import {
  actInOrganization,
  actInWorkspace,
  operator,
  organizationsOf,
  orgShape,
  requireGateway,
  type Register,
} from './command.ts';
import { table } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('user').description(summary);
  const create = group
    .command('create')
    .description('create a person, or make one a member of another organization')
    .option('--email <address>', 'e-mail address (required)')
    .option('--name <name>', 'shown name (default: the address)')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--role <role>', `${roles.join(' or ')}`, 'member');
  const invited = z.object({
    email: z.string().transform(addressOf),
    org: z.string(),
    role: z.string().transform(roleOf),
  });
  const created = invited.extend({ name: z.string().optional() });
  actInOrganization(create, output, created, async ({ workspace, organization, options }) => {
    const { email, role, name: shown = email } = options;
    const { directory } = workspace.storage;
    const pages = await pagesUrl(workspace);
    const user = (await directory.findUser(email)) ?? (await directory.createUser({ email, name: shown }));
    await workspace.people.addMember(organization.id, user.id, role, operator());
    const link = (await needsPassword(workspace, user)) ? await passwordLink(workspace, pages, user) : undefined;
    const { id, name } = user;
    output.result({ id, email: user.email, name, org: organization.name, role, password_url: link?.url }, () =>
      [
        `${user.email} (${id}) is ${called(role)} of ${organization.name}.`,
        ...(link?.lines ?? elsewhere(workspace)),
      ].join('\n'),
    );
  });

  const invite = group
    .command('invite')
    .description('make a link by which somebody joins an organization')
    .option('--email <address>', 'e-mail address (required)')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--role <role>', `${roles.join(' or ')}`, 'member');
  actInOrganization(invite, output, invited, async ({ workspace, organization, options: { email, role } }) => {
    const pages = await pagesUrl(workspace);
    const asked = { organizationId: organization.id, email, role, actor: operator() };
    const { invitation, token } = await workspace.people.invite(asked);
    const { id, email: address, expiresAt } = invitation;
    const url = `${pages}/invitation?token=${token}`;
    const result = { id, email: address, org: organization.name, role, url, expires_at: expiresAt.toISOString() };
    output.result(result, () =>
      [
        `${address} is invited to ${organization.name} as ${called(role)}. Send them this link, which works once and for 7 days:`,
        url,
      ].join('\n'),
    );
  });

  const password = group
    .command('password')
    .argument('<email>')
    .description('make a link with which a person sets a password');
  actInWorkspace(password, output, z.object({}), async ({ workspace, operands: [email = ''] }) => {
    const [because] = elsewhere(workspace);
    if (because !== undefined) throw new SightlineError('conflict', because);
    const user = await findUser(workspace, email);
    const { url, expiresAt, lines } = await passwordLink(workspace, await pagesUrl(workspace), user);
    output.result({ email: user.email, url, expires_at: expiresAt.toISOString() }, () => lines.join('\n'));
  });

  for (const [verb, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const) {
    const command = group
      .command(verb)
      .argument('<email>')
      .description(
        enabled ? 'let a disabled person in again' : 'shut a person out at once, sessions and applications too',
      );
    actInWorkspace(command, output, z.object({}), async ({ workspace, operands: [email = ''] }) => {
      const user = await findUser(workspace, email);
      await workspace.people.setEnabled(user.id, enabled, operator());
      output.result({ id: user.id, email: user.email, enabled }, () => `${user.email} is ${verb}d.`);
    });
  }

  const exported = group
    .command('export')
    .argument('<email>')
    .argument('<file>')
    .description('write what is kept of a person as JSON lines, their audit records too');
  actInWorkspace(exported, output, z.object({}), async ({ workspace, operands: [email = '', name = ''] }) => {
    const user = await findUser(workspace, email);
    const file = resolve(name);
    await writeLines(file, workspace.people.exportPerson(user.id, { audit: true }));
    output.result({ id: user.id, file }, () => `Wrote what is kept of ${user.email} to ${file}.`);
  });

  const remove = group
    .command('delete')
    .argument('<email>')
    .description('delete a person for good, with sessions, applications, the API keys they made, and chats')
    .option('--keep-chats', 'leave their chats to the organization, without their name')
    .option('--yes', 'delete; without it only what would go is told');
  const removal = z.object({ keepChats: z.boolean().default(false), yes: z.boolean().default(false) });
  actInWorkspace(remove, output, removal, async ({ workspace, operands: [email = ''], options }) => {
    const user = await findUser(workspace, email);
    const { id } = user;
    const chats = options.keepChats ? 'keep' : 'delete';
    if (!options.yes) {
      const organizations = (await workspace.people.memberships(id)).map(({ organization }) => organization.name);
      output.result({ id, email: user.email, organizations, chats, deleted: false }, () =>
        [
          `${user.email} is of ${organizations.length === 0 ? 'no organization' : organizations.join(', ')}.`,
          `Nothing was deleted: say --yes. There is no way back; sightline user export ${user.email} FILE writes what is kept.`,
        ].join('\n'),
      );
      return;
    }
    await workspace.people.deletePerson({ userId: id, chats, actor: operator() });
    output.result({ id, email: user.email, chats, deleted: true }, () =>
      [
        `${user.email} (${id}) is deleted. The audit keeps the id alone.`,
        'Backups and exports made before still have them.',
      ].join('\n'),
    );
  });

  const list = group
    .command('list')
    .description('list people')
    .option('--org <name>', 'only those of this organization');
  actInWorkspace(list, output, orgShape, async ({ workspace, options }) => {
    const rows: { id: string; email: string; name: string; org: string; role: string; enabled: boolean }[] = [];
    for (const { id, name: org } of await organizationsOf(workspace, options.org)) {
      for (const { user, role } of await workspace.people.members(id)) {
        rows.push({ id: user.id, email: user.email, name: user.name, org, role, enabled: user.enabled });
      }
    }
    output.result(rows, () =>
      table(
        output,
        ['email', 'name', 'organization', 'role', 'id'],
        rows.map(({ id, email, name, org, role, enabled }) => [
          email,
          name,
          org,
          enabled ? role : `${role} (disabled)`,
          id,
        ]),
        'There is nobody yet. Make an account with: sightline user create',
      ),
    );
  });
};

async function passwordLink({ people }: OpenWorkspace, pages: string, user: User) {
  const { token, expiresAt } = await people.createPasswordLink(user.id);
  const url = `${pages}/password?token=${token}`;
  const lines = [`With this link ${user.email} sets a password. It works once and for an hour:`, url];
  return { url, expiresAt, lines };
}

/** Where the pages stand: as configured, else where the gateway runs or will run. */
async function pagesUrl(workspace: OpenWorkspace): Promise<string> {
  const { config } = workspace;
  const configured = config.authUrl ?? config.publicUrl;
  if (configured !== undefined) return configured;
  const running = await workspace.runningGateway();
  if (running !== undefined) return running.url;
  // Port 0 means any free port, unknown until the server listens.
  return config.listen.port === 0 ? requireGateway(workspace) : deriveUrls(config, config.listen.port).authUrl;
}

/** For its owner alone. */
async function writeLines(file: string, lines: AsyncIterable<string>): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((cause: unknown) => {
    throw new SightlineError('invalid_argument', `The file ${file} cannot be made.`, {
      hint: 'Name one that does not exist, in a folder that can be written.',
      cause,
    });
  });
  try {
    for await (const line of lines) await handle.write(line);
  } finally {
    await handle.close();
  }
}

async function needsPassword(workspace: OpenWorkspace, user: User): Promise<boolean> {
  if (elsewhere(workspace).length > 0 || !user.enabled) return false;
  return (await workspace.storage.directory.people.credentials(user.email))?.hash === undefined;
}

/** Why there are no passwords here, where that is so. */
function elsewhere({ config }: OpenWorkspace): readonly string[] {
  const { plugin } = config.issuer;
  return plugin === 'builtin'
    ? []
    : [`People sign in where the issuer plugin ${plugin} says, without a password here.`];
}

async function findUser({ storage }: OpenWorkspace, email: string): Promise<User> {
  const user = await storage.directory.findUser(email);
  if (user !== undefined) return user;
  throw new SightlineError('not_found', `There is nobody with the address ${JSON.stringify(email.slice(0, 100))}.`, {
    hint: 'sightline user list names those there are.',
  });
}

function roleOf(text: string): Role {
  const role = z.enum(roles).safeParse(text);
  if (role.success) return role.data;
  throw new SightlineError('invalid_argument', `A role is ${roles.join(' or ')}.`);
}

function addressOf(text: string): string {
  const email = z.email().max(254).safeParse(text.trim());
  if (email.success) return email.data;
  throw new SightlineError('invalid_argument', `${JSON.stringify(text)} is no e-mail address.`);
}

function called(role: Role): string {
  return role === 'admin' ? 'an admin' : 'a member';
}

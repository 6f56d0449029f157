import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { operations } from '../gateway/admin/index.ts';
import { SightlineError } from '../contract/core/index.ts';
import { roles, type Role } from '../contract/issuer/index.ts';
import { actOnAdmin, type Admin } from './admin.ts';
import { notMade, orgShape, type Register } from './command.ts';
import { pasteable, showRows } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('user').description(summary);
  const create = group
    .command('create')
    .description('create a person, or make one a member of another organization')
    .option('--email <address>', 'e-mail address (required)')
    .option('--name <name>', 'shown name (default: the address)')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--role <role>', `${roles.join(' or ')} (default: as before, or member)`);
  const invited = z.object({
    email: z.string().transform(addressOf),
    org: z.string(),
    role: z.string().transform(roleOf),
  });
  const created = invited.extend({ name: z.string().optional(), role: invited.shape.role.optional() });
  actOnAdmin(create, output, created, async ({ admin, options: { org, email, name, role: wanted } }) => {
    const [organization] = await admin.organizations(org);
    const made = await admin.perform(operations.createPerson, { email, name, role: wanted }, org);
    const { note, password_url: url, role, role_before: before, ...person } = made;
    const result = {
      id: made.id,
      email: made.email,
      name: made.name,
      org: organization?.name,
      role,
      role_before: before,
      password_url: url,
    };
    output.result(result, () =>
      [
        `${person.email} (${person.id}) is ${called(role)} of ${organization?.name}${before === undefined ? '' : `, and was ${called(before)}`}.`,
        ...(url === undefined ? [] : passwordLines(person.email, url)),
        ...(note === undefined ? [] : [note]),
      ].join('\n'),
    );
  });

  const invite = group
    .command('invite')
    .description('print a link to join an organization')
    .option('--email <address>', 'e-mail address (required)')
    .option('--org <name>', 'organization, by name or id (required)')
    .option('--role <role>', `${roles.join(' or ')}`, 'member');
  actOnAdmin(invite, output, invited, async ({ admin, options: { org, email, role } }) => {
    const [organization] = await admin.organizations(org);
    const { url, ...made } = await admin.perform(operations.invitePerson, { email, role }, org);
    const result = { id: made.id, email: made.email, org: organization?.name, role, url, expires_at: made.expires_at };
    output.result(result, () =>
      [
        `${made.email} is invited to ${organization?.name} as ${called(role)}. Send them this link, which works once and for 7 days:`,
        url,
      ].join('\n'),
    );
  });

  const password = group.command('password').argument('<email>').description('print a link to set a password');
  actOnAdmin(password, output, z.object({}), async ({ admin, operands: [person = ''] }) => {
    const link = await admin.perform(operations.createPasswordLink, { person });
    output.result(link, () => passwordLines(link.email, link.url).join('\n'));
  });

  for (const [verb, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const) {
    const command = group
      .command(verb)
      .argument('<email>')
      .description(enabled ? 'unlock a disabled person' : 'lock a person out at once, with sessions and applications');
    const operation = enabled ? operations.enablePerson : operations.disablePerson;
    actOnAdmin(command, output, z.object({}), async ({ admin, operands: [person = ''] }) => {
      const { id, email } = await admin.perform(operation, { person });
      output.result({ id, email, enabled }, () => `${email} is ${verb}d.`);
    });
  }

  const exported = group
    .command('export')
    .argument('<email>')
    .argument('<file>')
    .description('export what is kept about a person as JSON lines, audit records included');
  actOnAdmin(exported, output, z.object({}), async ({ admin, operands: [email = '', name = ''] }) => {
    const user = await admin.perform(operations.showPerson, { person: email });
    const file = resolve(name);
    await withNewFile(file, (write) => admin.stream(operations.exportPerson, { person: user.id }, write));
    output.result({ id: user.id, file }, () => `Wrote what is kept of ${user.email} to ${file}.`);
  });

  const remove = group
    .command('delete')
    .argument('<email>')
    .description('delete a person for good, with sessions, applications, the API keys they made, and chats')
    .option('--keep-chats', 'leave their chats to the organization, without their name')
    .option('--yes', 'delete; without it, only print what would be deleted');
  const removal = z.object({ keepChats: z.boolean().default(false), yes: z.boolean().default(false) });
  actOnAdmin(remove, output, removal, async ({ admin, operands: [wanted = ''], options }) => {
    const chats = options.keepChats ? 'keep' : 'delete';
    if (!options.yes) {
      const { id, email, ...person } = await admin.perform(operations.showPerson, { person: wanted });
      const organizations = person.organizations.map(({ name }) => name);
      output.result({ id, email, organizations, chats, deleted: false }, () =>
        [
          `${email} is of ${organizations.length === 0 ? 'no organization' : organizations.join(', ')}.`,
          pasteable(
            `Nothing was deleted: say --yes. There is no way back; sightline user export ${email} FILE writes what is kept.`,
          ),
        ].join('\n'),
      );
      return;
    }
    const { id, email } = await admin.perform(operations.deletePerson, { person: wanted, chats });
    output.result({ id, email, chats, deleted: true }, () =>
      [
        `${email} (${id}) is deleted. The audit keeps the id alone.`,
        'Backups and exports made before still have them.',
      ].join('\n'),
    );
  });

  const list = group
    .command('list')
    .description('list people')
    .option('--org <name>', 'only those of this organization');
  actOnAdmin(list, output, orgShape, async ({ admin, options }) => {
    const rows: (Account & { org: string | null; role: string | null })[] = [];
    for (const { id: organization, name: org } of await admin.organizations(options.org)) {
      const { items } = await admin.perform(operations.listPeople, {}, organization);
      rows.push(...items.map(({ id, email, name, role, enabled }) => ({ id, email, name, org, role, enabled })));
    }
    const alone = options.org === undefined ? await peopleOfNone(admin) : [];
    rows.push(...alone.map(({ id, email, name, enabled }) => ({ id, email, name, org: null, role: null, enabled })));
    showRows(
      output,
      rows,
      ['email', 'name', 'organization', 'role', 'id'],
      ({ id, email, name, org, role, enabled }) => [
        email,
        name,
        org ?? '–',
        `${role ?? '–'}${enabled ? '' : ' (disabled)'}`,
        id,
      ],
      'There is nobody yet. Make an account with: sightline user create',
    );
  });
};

type Account = z.output<typeof operations.listPeopleOfNone.output>['items'][number];

/** Which a key for one organization may not ask for. */
async function peopleOfNone(admin: Admin): Promise<readonly Account[]> {
  try {
    return (await admin.perform(operations.listPeopleOfNone, {})).items;
  } catch (error) {
    if (error instanceof SightlineError && error.code === 'forbidden') return [];
    throw error;
  }
}

function passwordLines(email: string, url: string): readonly string[] {
  return [`With this link ${email} sets a password. It works once and for an hour:`, url];
}

/** For its owner alone. */
async function withNewFile(
  file: string,
  fill: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((cause: unknown) => {
    throw notMade(file, cause);
  });
  try {
    await fill(async (text) => void (await handle.write(text)));
  } finally {
    await handle.close();
  }
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

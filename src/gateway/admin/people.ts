import { z } from 'zod';
import { foldCase, SightlineError } from '../../contract/core/index.ts';
import { roles } from '../../contract/issuer/index.ts';
import type { User } from '../../contract/storage/index.ts';
import {
  done,
  isDone,
  none,
  inLines,
  ofInstance,
  ofOrganization,
  time,
  type AdminCall,
  type OrganizationCall,
} from './operation.ts';

const role = z.enum(roles);
const email = z.email().max(254);
const person = z.object({ id: z.string(), email: z.string(), name: z.string(), role, enabled: z.boolean() });
const named = z.strictObject({ person: z.string().describe('Id or e-mail address') });

export const peopleOperations = {
  listPeople: ofOrganization({
    method: 'get',
    path: '/people',
    summary: 'The members of the organization',
    scope: 'admin:read',
    input: none,
    output: z.object({ items: z.array(person) }),
    async run({ services, organization: { id: organizationId } }) {
      const members = await services.people.members(organizationId);
      return {
        items: members.map(({ user: { id, email: address, name, enabled }, role: as }) => ({
          id,
          email: address,
          name,
          role: as,
          enabled,
        })),
      };
    },
  }),
  listPeopleOfNone: ofInstance({
    method: 'get',
    path: '/people',
    summary: 'People who are in no organization, or only in deleted ones',
    scope: 'admin:read',
    instanceOnly: true,
    input: none,
    output: z.object({ items: z.array(person.omit({ role: true })) }),
    async run({ services: { people, storage } }) {
      const members = new Set<string>();
      for (const organization of await storage.directory.organizations()) {
        for (const { user } of await people.members(organization.id)) members.add(user.id);
      }
      const alone = (await storage.directory.users()).filter(({ id }) => !members.has(id));
      return { items: alone.map(({ id, email: address, name, enabled }) => ({ id, email: address, name, enabled })) };
    },
  }),
  createPerson: ofOrganization({
    method: 'post',
    path: '/people',
    summary: 'Create a person, or make one a member; with a link to set a password where one is needed',
    scope: 'admin:write',
    instanceOnly: true,
    input: z.strictObject({
      email,
      name: z.string().optional(),
      role: role.optional().describe('By default that of before, or member'),
    }),
    output: person.extend({
      role_before: role.optional(),
      password_url: z.url().optional(),
      note: z.string().optional(),
    }),
    async run({ services, organization: { id: organizationId }, actor }, input) {
      const { directory } = services.storage;
      // A link that cannot be made is found out before anybody is.
      await services.pagesUrl();
      const known = await directory.findUser(input.email);
      const user = known ?? (await directory.createUser({ email: input.email, name: input.name ?? input.email }));
      const { role: as, before } = await services.people.addMember(organizationId, user.id, input.role, actor);
      const { id, name, enabled } = user;
      const made = { id, email: user.email, name, enabled, role: as, ...(before && { role_before: before }) };
      if (services.signInElsewhere !== undefined) return { ...made, note: elsewhere(services.signInElsewhere) };
      const has = (await directory.people.credentials(user.email))?.hash !== undefined;
      return has || !enabled ? made : { ...made, password_url: (await passwordLink({ services, actor }, user)).url };
    },
  }),
  invitePerson: ofOrganization({
    method: 'post',
    path: '/invitations',
    summary: 'Make a link by which somebody joins the organization; it works once and for 7 days',
    scope: 'admin:write',
    input: z.strictObject({ email, role: role.default('member') }),
    output: z.object({ id: z.string(), email: z.string(), role, url: z.url(), expires_at: time }),
    async run({ services, organization: { id: organizationId }, actor }, input) {
      const { invitation, token } = await services.people.invite({ organizationId, ...input, actor });
      const url = `${await services.pagesUrl()}/invitation?token=${token}`;
      const { id, expiresAt } = invitation;
      return { id, email: invitation.email, role: input.role, url, expires_at: expiresAt.toISOString() };
    },
  }),
  removePerson: ofOrganization({
    method: 'delete',
    path: '/people/{person}',
    summary: 'End a membership; applications of the member lose access with their next request',
    scope: 'admin:write',
    input: named,
    output: done,
    async run(call, input) {
      const { id } = await memberOf(call, input.person);
      await call.services.people.removeMember(call.organization.id, id, call.actor);
      return isDone;
    },
  }),
  showPerson: ofInstance({
    method: 'get',
    path: '/people/{person}',
    summary: 'A person, and the organizations they are in',
    scope: 'admin:read',
    instanceOnly: true,
    input: named,
    output: person.omit({ role: true }).extend({
      organizations: z.array(z.object({ id: z.string(), name: z.string(), role })),
    }),
    async run(call, input) {
      const { id, email: address, name, enabled } = await accountOf(call, input.person);
      const organizations = (await call.services.people.memberships(id)).map((each) => ({
        id: each.organization.id,
        name: each.organization.name,
        role: each.role,
      }));
      return { id, email: address, name, enabled, organizations };
    },
  }),
  exportPerson: inLines({
    method: 'get',
    path: '/people/{person}/export',
    summary: 'What is kept about a person as JSON lines, audit records included',
    // With chats, which a key that may only read sees nowhere else.
    scope: 'admin:write',
    instanceOnly: true,
    input: named,
    async lines(call, input, write) {
      const { id } = await accountOf(call, input.person);
      const { services, actor } = call;
      for await (const line of services.people.exportPerson(id, { audit: true, actor })) await write(line);
    },
  }),
  deletePerson: ofInstance({
    method: 'delete',
    path: '/people/{person}',
    summary: 'Delete a person for good, with sessions, applications, and the API keys they made',
    scope: 'admin:write',
    instanceOnly: true,
    input: named.extend({ chats: z.enum(['delete', 'keep']).default('delete').describe('Kept without their name') }),
    output: z.object({ id: z.string(), email: z.string() }),
    async run(call, { person: idOrEmail, chats }) {
      const { id, email: address } = await accountOf(call, idOrEmail);
      await call.services.people.deletePerson({ userId: id, chats, actor: call.actor });
      return { id, email: address };
    },
  }),
  disablePerson: enabling('disable', 'Shut a person out at once, in all organizations', false),
  enablePerson: enabling('enable', 'Let a disabled person in again', true),
  createPasswordLink: ofInstance({
    method: 'post',
    path: '/people/{person}/password-link',
    summary: 'Make a link with which the person sets a password; it works once and for an hour',
    scope: 'admin:write',
    instanceOnly: true,
    input: named,
    output: z.object({ email: z.string(), url: z.url(), expires_at: time }),
    async run(call, input) {
      const { signInElsewhere } = call.services;
      if (signInElsewhere !== undefined) throw new SightlineError('conflict', elsewhere(signInElsewhere));
      const user = await accountOf(call, input.person);
      const { url, expiresAt } = await passwordLink(call, user);
      return { email: user.email, url, expires_at: expiresAt.toISOString() };
    },
  }),
} as const;

/** The account is one for all organizations. */
function enabling(verb: string, summary: string, enabled: boolean) {
  return ofInstance({
    method: 'post',
    path: `/people/{person}/${verb}`,
    summary,
    scope: 'admin:write',
    instanceOnly: true,
    input: named,
    output: z.object({ id: z.string(), email: z.string(), enabled: z.boolean() }),
    async run(call, input) {
      const user = await accountOf(call, input.person);
      await call.services.people.setEnabled(user.id, enabled, call.actor);
      return { id: user.id, email: user.email, enabled };
    },
  });
}

async function memberOf(call: OrganizationCall, idOrEmail: string): Promise<User> {
  const members = await call.services.people.members(call.organization.id);
  const email = foldCase(idOrEmail.trim());
  const found = members.find(({ user }) => user.id === idOrEmail || foldCase(user.email) === email);
  return found?.user ?? missing(idOrEmail);
}

async function accountOf({ services }: AdminCall, idOrEmail: string): Promise<User> {
  return (await services.storage.directory.findUser(idOrEmail)) ?? missing(idOrEmail);
}

function missing(idOrEmail: string): never {
  throw new SightlineError('not_found', `There is nobody called ${JSON.stringify(idOrEmail.slice(0, 100))}.`);
}

function elsewhere(plugin: string): string {
  return `People sign in where the issuer plugin ${plugin} says, without a password here.`;
}

async function passwordLink({ services, actor }: Pick<AdminCall, 'services' | 'actor'>, { id }: User) {
  const { token, expiresAt } = await services.people.createPasswordLink(id, actor);
  return { url: `${await services.pagesUrl()}/password?token=${token}`, expiresAt };
}

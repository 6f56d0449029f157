import { isId, SightlineError, type IssuerHost } from '../../contract/core/index.ts';
import type {
  Organization,
  Provisioned,
  RoleChange,
  ScimGroup,
  ScimGroupMember,
  ScimUser,
} from '../../contract/storage/index.ts';
import { createTrail } from '../people/trail.ts';
import type { ScimCaller } from '../verify/scim-tokens.ts';
import { attributesOf, emailOf, metaOf, nameOf, patchGroup, wholeGroup } from './incoming.ts';
import { patchUser } from './patch.ts';
import { groupFields, readQuery, readShown, userFields } from './query.ts';
import { listOf, mostBytes, readResource, writeResource, type Json, type Shown } from './schema.ts';

/** What an operator lets the identity provider of an organization say. */
export interface ProvisioningRules {
  /** In small letters. Only people with an address in one of them are provisioned. */
  readonly emailDomains: readonly string[];
  readonly adminGroups: readonly string[];
}

export type RulesOf = (organization: Organization) => ProvisioningRules | undefined;

/** Resources of the one organization whose token a request has. */
export interface Resource {
  list(query: URLSearchParams): Promise<Json>;
  get(id: string, query: URLSearchParams): Promise<Json>;
  create(sent: Json, query: URLSearchParams): Promise<Json>;
  replace(id: string, sent: Json, query: URLSearchParams): Promise<Json>;
  patch(id: string, sent: Json, query: URLSearchParams): Promise<Json>;
  remove(id: string): Promise<void>;
}

interface ProvisioningOptions extends Pick<IssuerHost, 'storage' | 'now'> {
  readonly rulesOf: RulesOf;
  /** Where resources are, without a slash at the end. */
  readonly base: string;
}

export type Provisioning = (caller: ScimCaller) => Promise<{ readonly Users: Resource; readonly Groups: Resource }>;

const mostMembersShown = 20_000;

export function createProvisioning({ storage, now, rulesOf, base }: ProvisioningOptions): Provisioning {
  const trail = createTrail({ storage, now });
  /** Rules by which an organization's roles were settled: a config may have changed since they last were. */
  const settled = new Map<string, string>();

  return async ({ id: subject, organizationId }) => {
    const organization = await storage.directory.findOrganization(organizationId);
    const rules = organization && rulesOf(organization);
    if (rules === undefined) {
      throw new SightlineError('forbidden', 'SCIM is not configured for this organization.', {
        hint: 'An operator names the organization and its e-mail domains in the configuration: scim.',
      });
    }
    const { scim } = storage.workspace(organizationId);
    const { provisioning } = storage.directory;

    const changed = <Result>(target: string, change: () => Promise<Result>): Promise<Result> =>
      trail.during(organizationId, { event: 'scim.changed', subject, target: target.slice(0, 64) }, change);

    async function recordRoles(roles: readonly RoleChange[]): Promise<void> {
      for (const { userId } of roles) {
        await trail.record(organizationId, { event: 'member.role_changed', subject, target: userId });
      }
    }

    async function recorded({ user, joined, ended, roles }: Provisioned): Promise<ScimUser> {
      const target = user.userId;
      if (joined) await trail.record(organizationId, { event: 'person.joined', subject, target });
      for (const key of ended?.keys ?? []) {
        await trail.record(organizationId, { event: 'key.revoked', subject, target: key });
      }
      if (ended?.member === true) await trail.record(organizationId, { event: 'member.removed', subject, target });
      await recordRoles(roles);
      return user;
    }

    async function findUser(id: string): Promise<ScimUser> {
      const user = isId('scu', id) ? await scim.user(id) : undefined;
      if (user === undefined) throw new SightlineError('not_found', 'There is no such user.');
      return user;
    }

    async function findGroup(id: string): Promise<ScimGroup> {
      const group = isId('scg', id) ? await scim.group(id) : undefined;
      if (group === undefined) throw new SightlineError('not_found', 'There is no such group.');
      return group;
    }

    async function save(sent: Json, before?: ScimUser): Promise<ScimUser> {
      const read = readResource('User', sent);
      // Only what says that a person is active makes one so who is not.
      const active = typeof read['active'] === 'boolean' ? read['active'] : (before?.active ?? true);
      const attributes = JSON.stringify({ ...read, active });
      if (attributes.length > mostBytes) {
        throw new SightlineError('payload_too_large', 'The attributes of a user are at most 64 kB.');
      }
      const { userName, externalId } = read;
      const email = emailOf(read, rules?.emailDomains ?? []);
      const user = {
        userName: String(userName),
        ...(typeof externalId === 'string' && externalId !== '' ? { externalId } : {}),
        email,
        name: nameOf(read, email),
        active,
        attributes,
        ...(before === undefined ? {} : { id: before.id, version: before.version }),
      };
      return recorded(await provisioning.provision(organizationId, user, rules ?? { adminGroups: [] }));
    }

    const showUser = (user: ScimUser, shown: Shown): Json =>
      writeResource('User', { ...attributesOf(user), id: user.id, meta: metaOf(user) }, base, shown);

    async function showGroups(groups: readonly ScimGroup[], shown: Shown): Promise<readonly Json[]> {
      const wanted = wantsMembers(shown);
      const ids = groups.map(({ id }) => id);
      const members = wanted && ids.length > 0 ? await scim.groupMembers(ids, mostMembersShown + 1) : [];
      if (members.length > mostMembersShown) {
        throw new SightlineError('invalid_argument', `These groups have more than ${mostMembersShown} members.`, {
          hint: 'Ask with excludedAttributes=members.',
        });
      }
      const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
      // The schema is not asked about each member: it would take a second for some thousands.
      return groups.map((group) => {
        const { id, displayName, externalId } = group;
        const named = { displayName, ...(externalId === undefined ? {} : { externalId }) };
        const resource = writeResource('Group', { id, ...named, meta: metaOf(group) }, base, shown);
        return wanted
          ? { ...resource, members: (byGroup.get(id) ?? []).map((each) => memberOf(each, base)) }
          : resource;
      });
    }

    async function showGroup(group: ScimGroup, query: URLSearchParams): Promise<Json> {
      const [shown = {}] = await showGroups([group], readShown(query));
      return shown;
    }

    const said = JSON.stringify(rules.adminGroups);
    if (settled.get(organizationId) !== said) {
      await recordRoles(await scim.settleRoles(rules));
      settled.set(organizationId, said);
    }

    return {
      Users: {
        async list(query) {
          const asked = readQuery(query, userFields);
          const { total, items } = await scim.users(pageOf(asked));
          return listOf(
            items.map((user) => showUser(user, asked)),
            { total, startIndex: asked.startIndex },
          );
        },
        get: async (id, query) => showUser(await findUser(id), readShown(query)),
        create: (sent, query) => changed('User', async () => showUser(await save(sent), readShown(query))),
        replace: (id, sent, query) =>
          changed(id, async () => showUser(await save(sent, await findUser(id)), readShown(query))),
        patch: (id, sent, query) =>
          changed(id, async () => {
            const before = await findUser(id);
            return showUser(await save(patchUser(attributesOf(before), sent), before), readShown(query));
          }),
        remove: (id) =>
          changed(id, async () => {
            const removed = await provisioning.unprovision(organizationId, (await findUser(id)).id);
            if (removed === undefined) throw new SightlineError('not_found', 'There is no such user.');
            await recorded(removed);
          }),
      },

      Groups: {
        async list(query) {
          const asked = readQuery(query, groupFields);
          const { total, items } = await scim.groups(pageOf(asked));
          return listOf(await showGroups(items, asked), { total, startIndex: asked.startIndex });
        },
        get: async (id, query) => showGroup(await findGroup(id), query),
        create: (sent, query) =>
          changed('Group', async () => {
            const { group, roles } = await scim.saveGroup(wholeGroup(sent), rules);
            await recordRoles(roles);
            return showGroup(group, query);
          }),
        replace: (id, sent, query) =>
          changed(id, async () => {
            const { group, roles } = await scim.saveGroup({ id: (await findGroup(id)).id, ...wholeGroup(sent) }, rules);
            await recordRoles(roles);
            return showGroup(group, query);
          }),
        patch: (id, sent, query) =>
          changed(id, async () => {
            const { group, roles } = await scim.saveGroup({ id: (await findGroup(id)).id, ...patchGroup(sent) }, rules);
            await recordRoles(roles);
            return showGroup(group, query);
          }),
        remove: (id) =>
          changed(id, async () => {
            const roles = await scim.removeGroup((await findGroup(id)).id, rules);
            if (roles === undefined) throw new SightlineError('not_found', 'There is no such group.');
            await recordRoles(roles);
          }),
      },
    };
  };
}

function pageOf<Where>({ where, startIndex, count }: { where: Where; startIndex: number; count: number }) {
  return { where, offset: startIndex - 1, limit: count };
}

function memberOf({ id, userName }: ScimGroupMember, base: string): Json {
  return { value: id, display: userName, type: 'User', $ref: `${base}/Users/${id}` };
}

function wantsMembers({ attributes, excluded }: Shown): boolean {
  const named = (names: readonly string[]): boolean => names.some((name) => /(?:^|:)members(?:\.|$)/i.test(name));
  return attributes === undefined ? !named(excluded) : named(attributes);
}

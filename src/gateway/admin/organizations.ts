import { z } from 'zod';
import { foldCase, SightlineError } from '../../contract/core/index.ts';
import { instanceId, type Organization, type Storage } from '../../contract/storage/index.ts';
import type { RulesOf } from '../../identity/scim/provisioning.ts';
import type { Config } from '../config/schema.ts';
import { none, ofInstance, ofOrganization, time } from './operation.ts';

const organization = z.object({ id: z.string(), name: z.string(), created_at: time });

export const organizationOperations = {
  listOrganizations: ofInstance({
    method: 'get',
    path: '/organizations',
    summary: 'The organizations that the key is for',
    scope: 'admin:read',
    input: none,
    output: z.object({ items: z.array(organization) }),
    async run({ services, organization: own }) {
      const all = own === undefined ? await services.storage.directory.organizations() : [own];
      return { items: all.map(describe) };
    },
  }),
  createOrganization: ofInstance({
    method: 'post',
    path: '/organizations',
    summary: 'Create an organization',
    scope: 'admin:write',
    instanceOnly: true,
    input: z.strictObject({ name: z.string() }),
    output: organization,
    async run({ services }, input) {
      return describe(await services.organizations.create(input.name));
    },
  }),
  showOrganization: ofOrganization({
    method: 'get',
    path: '',
    summary: 'The organization, and how much would go with it',
    scope: 'admin:read',
    input: none,
    output: organization.extend({
      members: z.int(),
      keys: z.int(),
      restorable_days: z.int().describe('For how long it could be restored after its deletion'),
    }),
    async run({ services, organization: own }) {
      const members = await services.people.members(own.id);
      const keys = await services.keys.list(own.id);
      const counts = { members: members.length, keys: keys.length };
      return { ...describe(own), ...counts, restorable_days: services.organizations.graceDays() };
    },
  }),
  deleteOrganization: ofOrganization({
    method: 'delete',
    path: '',
    summary: 'Lock the organization at once, and remove it with its telemetry after some days',
    scope: 'admin:write',
    instanceOnly: true,
    input: none,
    output: z.object({ id: z.string(), name: z.string(), until: time, note: z.string().optional() }),
    async run({ services, organization: { id, name }, actor }) {
      const until = (await services.organizations.remove(id, actor)).toISOString();
      const note = services.telemetryElsewhere;
      return { id, name, until, ...(note !== undefined && { note }) };
    },
  }),
  listDeletedOrganizations: ofInstance({
    method: 'get',
    path: '/deleted-organizations',
    summary: 'Deleted organizations, and until when they can be restored',
    scope: 'admin:read',
    instanceOnly: true,
    input: none,
    output: z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), until: time.nullable() })) }),
    async run({ services: { storage } }) {
      const deleted = (await storage.directory.deletedOrganizations.list()).filter(({ id }) => id !== instanceId);
      return { items: deleted.map(({ id, name, purgeAt }) => ({ id, name, until: purgeAt?.toISOString() ?? null })) };
    },
  }),
  restoreOrganization: ofInstance({
    method: 'post',
    path: '/deleted-organizations/{name}/restore',
    summary: 'Restore a deleted organization as it was',
    scope: 'admin:write',
    instanceOnly: true,
    input: z.strictObject({ name: z.string().describe('Id or name') }),
    output: z.object({ id: z.string(), name: z.string() }),
    async run({ services: { storage, organizations }, actor }, { name: wanted }) {
      const found = (await storage.directory.deletedOrganizations.list()).find(isCalled(wanted));
      if (found === undefined) {
        const message = `No deleted organization is called ${JSON.stringify(wanted.slice(0, 100))}.`;
        throw new SightlineError('not_found', message, {
          hint: 'sightline org list --deleted names those there are.',
        });
      }
      await organizations.restore(found.id, actor);
      return { id: found.id, name: found.name };
    },
  }),
} as const;

function describe({ id, name, createdAt }: Organization) {
  return { id, name, created_at: createdAt.toISOString() };
}

function isCalled(wanted: string): (organization: Organization) => boolean {
  return ({ id, name }) => id === wanted || foldCase(name) === foldCase(wanted.trim());
}

export function noOrganization(wanted: string): SightlineError {
  return new SightlineError('not_found', `There is no organization ${JSON.stringify(wanted.slice(0, 100))}.`);
}

/** Deleted ones and the instance too, whose audit is there: by name while they can be restored, by id always. */
export async function auditedOrganizations(
  { directory }: Pick<Storage, 'directory'>,
  name?: string,
): Promise<readonly Organization[]> {
  const deleted = await directory.deletedOrganizations.list();
  if (name === undefined) return [...(await directory.organizations()), ...deleted];
  const found = (await directory.findOrganization(name)) ?? deleted.find(isCalled(name));
  if (found === undefined) throw noOrganization(name);
  return [found];
}

/** Where the warehouse is not ours, what is in it is not ours to remove. */
export function telemetryElsewhere({ telemetry, ingest }: Pick<Config, 'telemetry' | 'ingest'>): string | undefined {
  if (telemetry.plugin === 'duckdb') return undefined;
  return ingest.collector === undefined
    ? 'Of its telemetry, rows in tables that this service writes are removed; others are yours to remove.'
    : 'Its telemetry is in your warehouse, and yours to remove.';
}

/** What the config lets an organization's identity provider do, as it is now. */
export function provisioningRules(config: () => Pick<Config, 'scim'>): RulesOf {
  return ({ id, name }) => {
    const found = config().scim.organizations.find(
      ({ organization }) => organization === id || foldCase(organization) === foldCase(name),
    );
    return found && { emailDomains: found.emailDomain, adminGroups: found.adminGroup };
  };
}

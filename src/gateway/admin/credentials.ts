import { z } from 'zod';
import { isId, SightlineError } from '../../contract/core/index.ts';
import { scimPath, scopes } from '../../contract/issuer/index.ts';
import { describeIngest } from '../../tools/index.ts';
import { done, isDone, none, ofOrganization, time, type OrganizationCall } from './operation.ts';

const pair = z.object({ client_id: z.string(), client_secret: z.string().describe('Shown this once') });
const named = z.strictObject({ client_id: z.string() });

export const keyOperations = {
  listKeys: ofOrganization({
    method: 'get',
    path: '/keys',
    summary: 'The API keys, by which machines reach the MCP endpoint',
    scope: 'admin:read',
    input: none,
    output: z.object({
      items: z.array(
        z.object({
          client_id: z.string(),
          name: z.string(),
          scopes: z.array(z.enum(scopes)),
          created_at: time,
          created_by: z.string(),
          last_used_at: time.nullable(),
          paused_at: time.nullable(),
          secrets: z.array(
            z.object({
              id: z.string(),
              created_at: time,
              last_four: z.string().nullable(),
              last_used_at: time.nullable(),
            }),
          ),
        }),
      ),
    }),
    async run({ services, organization }) {
      const keys = await services.keys.list(organization.id);
      return {
        items: keys.map((key) => ({
          client_id: key.id,
          name: key.name,
          scopes: [...key.scopes],
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
        })),
      };
    },
  }),
  createKey: ofOrganization({
    method: 'post',
    path: '/keys',
    summary: 'Create an API key',
    scope: 'admin:write',
    input: z.strictObject({
      name: z.string(),
      scopes: z
        .array(z.enum(scopes))
        .min(1)
        .default([...scopes]),
    }),
    output: pair,
    async run({ services, organization, actor }, { name, scopes: granted }) {
      const made = await services.keys.create({ organizationId: organization.id, name, scopes: granted, actor });
      return { client_id: made.clientId, client_secret: made.clientSecret };
    },
  }),
  rotateKey: ofOrganization({
    method: 'post',
    path: '/keys/{client_id}/rotate',
    summary: 'Add a second secret; the old one keeps working until it is retired',
    scope: 'admin:write',
    input: named,
    output: pair,
    async run(call, input) {
      const made = await call.services.keys.rotate(await ownKey(call, input.client_id), call.actor);
      return { client_id: made.clientId, client_secret: made.clientSecret };
    },
  }),
  retireKeySecret: changing('retire', 'Delete the older of two secrets'),
  discardKeySecret: changing('discard', 'Delete the newer of two secrets, which was lost'),
  pauseKey: changing('pause', 'Refuse the key until it is resumed'),
  resumeKey: changing('resume', 'Take a paused key again'),
  revokeKey: ofOrganization({
    method: 'delete',
    path: '/keys/{client_id}',
    summary: 'Delete the key and all its secrets; its tokens end with the next request',
    scope: 'admin:write',
    input: named,
    output: done,
    async run(call, input) {
      await call.services.keys.revoke(await ownKey(call, input.client_id), call.actor);
      return isDone;
    },
  }),
} as const;

function changing(verb: 'retire' | 'discard' | 'pause' | 'resume', summary: string) {
  return ofOrganization({
    method: 'post',
    path: `/keys/{client_id}/${verb}`,
    summary,
    scope: 'admin:write',
    input: named,
    output: done,
    async run(call, input) {
      await call.services.keys[verb](await ownKey(call, input.client_id), call.actor);
      return isDone;
    },
  });
}

/** Keys are changed by their id alone: one of another organization is as one that is not there. */
async function ownKey({ services, organization }: OrganizationCall, clientId: string): Promise<string> {
  const found = isId('ak', clientId) ? await services.storage.workspace(organization.id).keys.get(clientId) : undefined;
  if (found !== undefined) return clientId;
  throw new SightlineError('not_found', `There is no API key ${JSON.stringify(clientId.slice(0, 64))}.`);
}

export const ingestOperations = {
  showIngest: ofOrganization({
    method: 'get',
    path: '/ingest',
    summary: 'Where and with which token telemetry is sent',
    scope: 'admin:write',
    input: none,
    output: z.object({
      endpoint: z.string(),
      protocol: z.string(),
      grpc_endpoint: z.string().optional(),
      signals: z.record(z.string(), z.string()),
      headers: z.record(z.string(), z.string()),
      token: z.string(),
      env: z.record(z.string(), z.string()),
      collector_yaml: z.string(),
      setups: z.record(z.string(), z.string()),
    }),
    async run({ services, organization }) {
      return describeIngest(await services.ingest.config(organization.id));
    },
  }),
  listIngestTokens: ofOrganization({
    method: 'get',
    path: '/ingest/tokens',
    summary: 'The ingest tokens that are taken',
    scope: 'admin:read',
    input: none,
    output: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          last_four: z.string().nullable(),
          created_at: time,
          created_by: z.string().nullable(),
          last_used_at: time.nullable(),
        }),
      ),
    }),
    async run(call) {
      const tokens = await tokensOf(call).list(call.organization.id);
      return {
        items: tokens.map(({ id, lastFour, createdAt, createdBy, lastUsedAt }) => ({
          id,
          last_four: lastFour ?? null,
          created_at: createdAt.toISOString(),
          created_by: createdBy ?? null,
          last_used_at: lastUsedAt?.toISOString() ?? null,
        })),
      };
    },
  }),
  rotateIngestToken: ofOrganization({
    method: 'post',
    path: '/ingest/rotate',
    summary: 'Make a new ingest token; the one before works until it is revoked',
    scope: 'admin:write',
    input: none,
    output: z.object({ token: z.string(), previous: z.string().nullable() }),
    async run(call) {
      const { token, previous } = await tokensOf(call).rotate(call.organization.id, call.actor);
      return { token, previous: previous ?? null };
    },
  }),
  revokeIngestToken: ofOrganization({
    method: 'delete',
    path: '/ingest/tokens/{id}',
    summary: 'End an ingest token',
    scope: 'admin:write',
    input: z.strictObject({ id: z.string() }),
    output: done,
    async run(call, { id }) {
      if (!isId('it', id))
        throw new SightlineError(
          'invalid_argument',
          'A token id looks like it_01hx… and is listed by: sightline ingest tokens',
        );
      await tokensOf(call).revoke(call.organization.id, id, call.actor);
      return isDone;
    },
  }),
} as const;

function tokensOf({ services }: OrganizationCall) {
  if (services.ingestTokens !== undefined) return services.ingestTokens;
  throw new SightlineError(
    'conflict',
    'Telemetry reaches the warehouse through a collector, not through this gateway.',
    {
      hint: 'Its tokens are set in the config file: ingest.collector.',
    },
  );
}

export const scimTokenOperations = {
  listScimTokens: ofOrganization({
    method: 'get',
    path: '/scim-tokens',
    summary: 'The tokens by which identity providers provision people',
    scope: 'admin:read',
    input: none,
    output: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          last_four: z.string(),
          created_at: time,
          created_by: z.string(),
          last_used_at: time.nullable(),
        }),
      ),
    }),
    async run({ services, organization }) {
      const tokens = await services.scimTokens.list(organization.id);
      return {
        items: tokens.map(({ id, lastFour, createdAt, createdBy, lastUsedAt }) => ({
          id,
          last_four: lastFour,
          created_at: createdAt.toISOString(),
          created_by: createdBy,
          last_used_at: lastUsedAt?.toISOString() ?? null,
        })),
      };
    },
  }),
  createScimToken: ofOrganization({
    method: 'post',
    path: '/scim-tokens',
    summary: 'Create a token for an identity provider',
    scope: 'admin:write',
    input: none,
    output: z.object({
      id: z.string(),
      address: z.url(),
      token: z.string().describe('Shown this once'),
      note: z.string().optional().describe('Where SCIM is not configured for the organization: what to set'),
    }),
    async run({ services, organization, actor }) {
      const address = `${await services.publicUrl()}${scimPath}`;
      const { id, token } = await services.scimTokens.create(organization.id, actor);
      if (services.scimRules(organization) !== undefined) return { id, address, token };
      const note = `SCIM is not configured for ${organization.name}, and requests with this token are refused. Set scim.organizations in the config: organization and emailDomain.`;
      return { id, address, token, note };
    },
  }),
  revokeScimToken: ofOrganization({
    method: 'delete',
    path: '/scim-tokens/{id}',
    summary: 'End a SCIM token',
    scope: 'admin:write',
    input: z.strictObject({ id: z.string() }),
    output: done,
    async run({ services, organization, actor }, { id }) {
      await services.scimTokens.revoke(organization.id, id, actor);
      return isDone;
    },
  }),
} as const;

import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { webhookEvents, type Webhook } from '../../contract/storage/index.ts';
import type { AddressedSource, AlertSources, SourceWithSecret } from '../../incidents/alerts/sources.ts';
import { done, isDone, none, ofOrganization, time } from './operation.ts';

const source = z.object({
  id: z.string(),
  name: z.string(),
  plugin: z.string(),
  url: z.string(),
  created_at: time,
  created_by: z.string(),
});
const sourceWithSecret = source.extend({ secret: z.string().describe('Shown this once'), instructions: z.string() });
const secret = z.string().optional().describe('Where the sender makes it, as PagerDuty does');

export const alertSourceOperations = {
  listAlertSources: ofOrganization({
    method: 'get',
    path: '/alert-sources',
    summary: 'Who may send alerts',
    scope: 'admin:read',
    input: none,
    output: z.object({ items: z.array(source) }),
    async run({ services, organization }) {
      return { items: (await (await services.alertSources()).list(organization.id)).map(describeSource) };
    },
  }),
  addAlertSource: ofOrganization({
    method: 'post',
    path: '/alert-sources',
    summary: 'Add a source of alerts',
    scope: 'admin:write',
    input: z.strictObject({ plugin: z.string(), name: z.string(), secret }),
    output: sourceWithSecret,
    async run({ services, organization: { id: organizationId }, actor }, input) {
      const sources = await services.alertSources();
      return describeWithSecret(sources, await sources.add({ organizationId, ...input, actor }));
    },
  }),
  rotateAlertSource: ofOrganization({
    method: 'post',
    path: '/alert-sources/{source}/rotate',
    summary: 'Give a source, by name or id, another secret; the one before ends at once',
    scope: 'admin:write',
    input: z.strictObject({ source: z.string(), secret }),
    output: sourceWithSecret,
    async run({ services, organization, actor }, input) {
      const sources = await services.alertSources();
      return describeWithSecret(sources, await sources.rotate(organization.id, input.source, actor, input.secret));
    },
  }),
  removeAlertSource: ofOrganization({
    method: 'delete',
    path: '/alert-sources/{source}',
    summary: 'Remove a source, by name or id; what it sent stays',
    scope: 'admin:write',
    input: z.strictObject({ source: z.string() }),
    output: done,
    async run({ services, organization, actor }, input) {
      await (await services.alertSources()).remove(organization.id, input.source, actor);
      return isDone;
    },
  }),
} as const;

function describeSource({ id, name, plugin, url, createdAt, createdBy }: AddressedSource) {
  return { id, name, plugin, url, created_at: createdAt.toISOString(), created_by: createdBy };
}

function describeWithSecret(sources: AlertSources, made: SourceWithSecret) {
  return {
    ...describeSource(made.source),
    secret: made.secret,
    instructions: sources.instructions(made.source, made.secret),
  };
}

const webhook = z.object({
  id: z.string(),
  address: z.string().describe('Without path and query, in which many a receiver has its key'),
  events: z.array(z.enum(webhookEvents)),
  waiting: z.int(),
  created_at: time,
  delivered_at: time.nullable(),
  failed_at: time.nullable(),
  failure: z.string().nullable(),
});
const namedWebhook = z.strictObject({ id: z.string() });

export const webhookOperations = {
  listWebhooks: ofOrganization({
    method: 'get',
    path: '/webhooks',
    summary: 'The webhooks, and how they fare',
    scope: 'admin:read',
    input: none,
    output: z.object({ items: z.array(webhook) }),
    async run({ services, organization }) {
      const all = await services.storage.workspace(organization.id).webhooks.list();
      return { items: all.map(describeWebhook) };
    },
  }),
  addWebhook: ofOrganization({
    method: 'post',
    path: '/webhooks',
    summary: 'Tell an address of changes',
    scope: 'admin:write',
    // The gateway posts to any address, those of its own network too, which an operator may choose and no organization.
    instanceOnly: true,
    input: z.strictObject({
      url: z.string(),
      events: z
        .array(z.enum(webhookEvents))
        .min(1)
        .default([...webhookEvents]),
    }),
    output: webhook.extend({ secret: z.string().describe('Shown this once') }),
    async run({ services, organization: { id: organizationId }, actor }, { url, events }) {
      const made = await services.webhooks.add({ organizationId, url, events: [...new Set(events)], actor });
      return { ...describeWebhook(made.webhook), secret: made.secret };
    },
  }),
  testWebhook: ofOrganization({
    method: 'post',
    path: '/webhooks/{id}/test',
    summary: 'Send it an event of type webhook.test now',
    scope: 'admin:write',
    input: namedWebhook,
    output: done,
    async run({ services, organization }, { id }) {
      const failure = await services.webhooks.test(organization.id, id);
      if (failure !== undefined) throw new SightlineError('unavailable', `The receiver did not take it: ${failure}.`);
      return isDone;
    },
  }),
  removeWebhook: ofOrganization({
    method: 'delete',
    path: '/webhooks/{id}',
    summary: 'Tell it no more; what was on its way is dropped',
    scope: 'admin:write',
    input: namedWebhook,
    output: done,
    async run({ services, organization, actor }, { id }) {
      await services.webhooks.remove(organization.id, id, actor);
      return isDone;
    },
  }),
} as const;

function describeWebhook({ id, url, events, waiting, createdAt, deliveredAt, failedAt, failure }: Webhook) {
  return {
    id,
    address: new URL(url).origin,
    events: [...events],
    waiting,
    created_at: createdAt.toISOString(),
    delivered_at: deliveredAt?.toISOString() ?? null,
    failed_at: failedAt?.toISOString() ?? null,
    failure: failure ?? null,
  };
}

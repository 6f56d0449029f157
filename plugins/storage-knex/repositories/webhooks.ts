import { SightlineError, toId } from '../../../src/contract/core/index.ts';
import type {
  NewWebhook,
  Webhook,
  WebhookId,
  WebhookRepository,
  ClaimedWebhookMessage,
  Lease,
  WebhookOutcome,
} from '../../../src/contract/storage/index.ts';
import { countOf, date, optional, webhookEventColumn } from '../columns.ts';
import { webhookEventsJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { liveOrganizations } from './users.ts';
import { OrganizationRepository, DirectoryRepository, leaseEnded } from './repository.ts';
import type { Knex } from 'knex';
import type { Statements } from '../transact.ts';

const mostOfAnOrganization = 20;

export class Webhooks extends OrganizationRepository implements WebhookRepository {
  create({ id, url, events, sealedSecret }: NewWebhook): Promise<Webhook> {
    return this.database.write(async (scope) => {
      await scope.lockCounter('webhook');
      const existing = await scope.from('webhooks').select('id');
      if (existing.length >= mostOfAnOrganization) {
        throw new SightlineError('conflict', `There are ${existing.length} webhooks, and there may be no more.`, {
          hint: 'Remove one that is not needed.',
        });
      }
      const row = {
        id,
        url,
        events: webhookEventsJson.write(events),
        sealed_secret: sealedSecret,
        created_at: this.now().getTime(),
        delivered_at: null,
        failed_at: null,
        failure: null,
      };
      await scope.insert('webhooks', row);
      return toWebhook({ ...row, organization_id: scope.organizationId }, 0);
    });
  }

  list(): Promise<readonly Webhook[]> {
    return this.database.read(async (scope) => {
      const rows = await scope.from('webhooks').orderBy(['created_at', 'id'].map((column) => ({ column })));
      return Promise.all(rows.map((row) => withWaiting(scope, row)));
    });
  }

  get(id: WebhookId): Promise<Webhook | undefined> {
    return this.database.read(async (scope) => {
      const row = await scope.from('webhooks').where({ id }).first();
      return row && withWaiting(scope, row);
    });
  }

  remove(id: WebhookId): Promise<boolean> {
    return this.some((scope) => scope.from('webhooks').where({ id }).delete());
  }
}

async function withWaiting(scope: Scope, row: RowIn<'webhooks'>): Promise<Webhook> {
  return toWebhook(row, await countOf(scope.from('webhook_messages').where({ webhook_id: row.id })));
}

function toWebhook(row: RowIn<'webhooks'>, waiting: number): Webhook {
  return {
    id: toId('whk', row.id),
    organizationId: toId('org', row.organization_id),
    url: row.url,
    events: webhookEventsJson.read(row.events),
    sealedSecret: row.sealed_secret,
    createdAt: date(row.created_at),
    ...optional('deliveredAt', row.delivered_at, date),
    ...optional('failedAt', row.failed_at, date),
    ...optional('failure', row.failure, String),
    waiting,
  };
}

type Candidate = RowIn<'webhook_messages'> & Pick<RowIn<'webhooks'>, 'url' | 'sealed_secret'>;

/** Hands the messages of all organizations to gateways, each to one at a time. */
export class WebhookLeases extends DirectoryRepository {
  async claim(lease: Lease): Promise<ClaimedWebhookMessage | undefined> {
    for (;;) {
      const candidate = await this.database.read((knex) => next(knex, lease.now));
      if (candidate === undefined) return undefined;
      const won = await this.database.write(async (_, enter) => {
        const scope = await enter(toId('org', candidate.organization_id));
        return scope
          .from('webhook_messages')
          .where({ id: candidate.id })
          .where((free) => void unleased(free, lease.now))
          .update({ lease_holder: lease.holder, lease_until: lease.until.getTime() });
      });
      if (won === 1) return toClaimed(candidate);
    }
  }

  /** Nothing happens to a message whose lease another gateway has by now. */
  settle({ id, webhook }: ClaimedWebhookMessage, { holder, now }: Lease, outcome: WebhookOutcome): Promise<void> {
    return this.database.write(async (_, enter) => {
      const scope = await enter(webhook.organizationId);
      const held = scope.from('webhook_messages').where({ id, lease_holder: holder });
      if (outcome.kind === 'returned' || outcome.kind === 'retry') {
        const next = outcome.kind === 'retry' && {
          attempts: scope.raw('attempts + 1', []),
          next_at: outcome.at.getTime(),
        };
        await held.update({ ...next, lease_holder: null, lease_until: null });
        return;
      }
      if ((await held.delete()) === 0) return;
      const time = now.getTime();
      await scope
        .from('webhooks')
        .where({ id: webhook.id })
        .update(outcome.kind === 'delivered' ? { delivered_at: time } : { failed_at: time, failure: outcome.failure });
    });
  }
}

/**
 * The one that is due for the longest, of a webhook to which nothing is being sent: a slow receiver takes one place and no
 * more. An organization to which nothing is being sent comes first: another one's slow receivers hold it up for an attempt.
 */
async function next(knex: Statements, now: Date): Promise<Candidate | undefined> {
  const underWay = await knex('webhooks')
    .join<RowIn<'webhook_messages'>>('webhook_messages', 'webhook_messages.webhook_id', 'webhooks.id')
    .whereNot((ended) => leaseEnded(ended, 'webhook_messages.lease_until', now))
    .whereNotNull('webhook_messages.lease_until')
    .select<Pick<RowIn<'webhook_messages'>, 'organization_id' | 'webhook_id'>[]>(
      'webhook_messages.organization_id',
      'webhook_messages.webhook_id',
    );
  const due = (column: 'organization_id' | 'webhook_id') =>
    knex('webhook_messages')
      .where('webhook_messages.next_at', '<=', now.getTime())
      .where((free) => void unleased(free, now))
      .whereIn('webhook_messages.organization_id', liveOrganizations(knex))
      .whereNotIn(
        `webhook_messages.${column}`,
        underWay.map((row) => row[column]),
      )
      .join<RowIn<'webhooks'>>('webhooks', 'webhooks.id', 'webhook_messages.webhook_id')
      .orderBy(['webhook_messages.next_at', 'webhook_messages.id'].map((order) => ({ column: order })))
      .first<Candidate | undefined>('webhook_messages.*', 'webhooks.url', 'webhooks.sealed_secret');
  const first = await due('organization_id');
  return first ?? (underWay.length === 0 ? undefined : due('webhook_id'));
}

function unleased(query: Knex.QueryBuilder<RowIn<'webhook_messages'>>, now: Date) {
  return query
    .whereNull('webhook_messages.lease_until')
    .orWhere((ended) => leaseEnded(ended, 'webhook_messages.lease_until', now));
}

function toClaimed(row: Candidate): ClaimedWebhookMessage {
  return {
    id: toId('whm', row.id),
    webhook: {
      id: toId('whk', row.webhook_id),
      organizationId: toId('org', row.organization_id),
      url: row.url,
      sealedSecret: row.sealed_secret,
    },
    event: webhookEventColumn.parse(row.event),
    subject: row.subject,
    data: row.data,
    createdAt: date(row.created_at),
    attempts: row.attempts,
  };
}

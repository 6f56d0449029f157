import { SightlineError, toId } from '../../../src/contract/core/index.ts';
import type { NewWebhook, Webhook, WebhookId, WebhookRepository } from '../../../src/contract/storage/index.ts';
import { countOf, date, optional } from '../columns.ts';
import { webhookEventsJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { OrganizationRepository } from './repository.ts';

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

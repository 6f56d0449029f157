import { newId, type IncidentId } from '../../../src/contract/core/index.ts';
import type { Actor, Chat, WebhookEvent } from '../../../src/contract/storage/index.ts';
import { countOf } from '../columns.ts';
import { webhookEventsJson } from '../json.ts';
import type { Scope } from '../scope.ts';
import type { Change } from './incident-changes.ts';
import { toIncident } from './incident-rows.ts';

/*
 * Called in the transaction of the change. What is written is a notice and not a copy: a receiver that wants the document or the
 * messages reads them with its own rights.
 */

export async function announceIncident(
  scope: Scope,
  id: IncidentId,
  at: Date,
  actor: Actor,
  changes: readonly Change[],
): Promise<void> {
  const event = changes.some(({ change }) => change === 'created') ? 'incident.created' : 'incident.updated';
  await announce(scope, event, at, async () => {
    const row = await scope.from('incidents').where({ id }).first();
    if (row === undefined) return undefined;
    const { key, title, status, severity, waitingOn, services, environment } = toIncident(row);
    const { party, name, reason } = waitingOn;
    const data = {
      id,
      key,
      title,
      status,
      severity,
      waiting_on: { party, name, reason },
      services,
      environment,
      changes,
      actor: { kind: actor.kind, name: actor.name },
    };
    return { subject: key, data };
  });
}

export async function announceChat(
  scope: Scope,
  event: Extract<WebhookEvent, `chat.${string}`>,
  { id, title, status, incidentId, lastSeq }: Chat,
  at: Date,
): Promise<void> {
  const data = { id, title, status, incident_id: incidentId, last_seq: lastSeq };
  await announce(scope, event, at, async () => ({ subject: id, data }));
}

/** For each webhook. One that takes nothing for days must not fill the storage. */
const mostWaiting = 10_000;
const missed = 'more than 10,000 events were waiting, and those that came then are not sent';
/** Between two notes of it. */
const noteMs = 60_000;

async function withRoom(scope: Scope, webhooks: readonly string[], at: Date): Promise<readonly string[]> {
  const room: string[] = [];
  for (const id of webhooks) {
    if ((await countOf(scope.from('webhook_messages').where({ webhook_id: id }))) < mostWaiting) {
      room.push(id);
      continue;
    }
    await scope
      .from('webhooks')
      .where({ id })
      .where((due) => void due.whereNull('failed_at').orWhere('failed_at', '<', at.getTime() - noteMs))
      .update({ failed_at: at.getTime(), failure: missed });
  }
  return room;
}

async function announce(
  scope: Scope,
  event: WebhookEvent,
  at: Date,
  describe: () => Promise<{ readonly subject: string; readonly data: object } | undefined>,
): Promise<void> {
  const webhooks = await scope.from('webhooks').select('id', 'events');
  const wanted = webhooks.filter(({ events }) => webhookEventsJson.read(events).includes(event));
  const told = await withRoom(
    scope,
    wanted.map(({ id }) => id),
    at,
  );
  const described = told.length === 0 ? undefined : await describe();
  if (described === undefined) return;
  const { subject, data } = described;
  const time = at.getTime();
  await scope.insert(
    'webhook_messages',
    told.map((webhook_id) => ({
      id: newId('whm', time),
      webhook_id,
      event,
      subject,
      data: JSON.stringify(data),
      created_at: time,
      attempts: 0,
      next_at: time,
      lease_holder: null,
      lease_until: null,
    })),
  );
}

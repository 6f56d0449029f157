import { z } from 'zod';
import type { ClaimedWebhookMessage } from '../../contract/storage/index.ts';

const object = z.record(z.string(), z.unknown());

/** JSON text: what happened, when, and to what; `url` is where a person sees it. */
export function messageBody(
  { event, subject, data, createdAt }: Pick<ClaimedWebhookMessage, 'event' | 'subject' | 'data' | 'createdAt'>,
  authUrl: string,
): string {
  const kind = event.startsWith('incident.') ? 'incidents' : 'chats';
  const url = `${authUrl}/${kind}/${encodeURIComponent(subject)}`;
  return JSON.stringify({
    type: event,
    timestamp: createdAt.toISOString(),
    data: { ...object.parse(JSON.parse(data)), url },
  });
}

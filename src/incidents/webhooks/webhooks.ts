import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import {
  isId,
  newId,
  SightlineError,
  troubleBehind,
  type IssuerHost,
  type OrganizationId,
  type Vault,
} from '../../contract/core/index.ts';
import type { Actor, Webhook, WebhookEvent, WebhookId } from '../../contract/storage/index.ts';

export interface Webhooks {
  /** The secret is shown this once. */
  add(input: {
    readonly organizationId: OrganizationId;
    readonly url: string;
    readonly events: readonly WebhookEvent[];
    readonly actor: Actor;
  }): Promise<{ readonly webhook: Webhook; readonly secret: string }>;
  /** `not_found` when the organization has no such webhook. */
  remove(organizationId: OrganizationId, id: string, actor: Actor): Promise<void>;
  /** Sends an event of no consequence now: undefined when it was taken, else why not. */
  test(organizationId: OrganizationId, id: string): Promise<string | undefined>;
}

export function createWebhooks({ storage, vault, now }: Pick<IssuerHost, 'storage' | 'vault' | 'now'>): Webhooks {
  const record = (
    organizationId: OrganizationId,
    event: 'webhook.created' | 'webhook.removed',
    subject: string,
    target: string,
  ) =>
    storage
      .workspace(organizationId)
      .audit.append([{ at: now(), event, subject, requestId: randomUUID(), target, outcome: 'ok' }]);

  const find = async (organizationId: OrganizationId, id: string): Promise<Webhook> => {
    const found = isId('whk', id) ? await storage.workspace(organizationId).webhooks.get(id) : undefined;
    if (found) return found;
    throw new SightlineError('not_found', `There is no webhook ${JSON.stringify(id.slice(0, 60))}.`, {
      hint: 'sightline webhook list names those there are.',
    });
  };

  return {
    async add({ organizationId, url, events, actor }) {
      const id = newId('whk', now().getTime());
      const secret = newSecret();
      const webhook = await storage.workspace(organizationId).webhooks.create({
        id,
        url: checkedUrl(url),
        events,
        sealedSecret: vault.seal(Buffer.from(secret), context(id)),
      });
      await record(organizationId, 'webhook.created', actor.id, id);
      return { webhook, secret };
    },

    async remove(organizationId, id, actor) {
      const webhook = await find(organizationId, id);
      await storage.workspace(organizationId).webhooks.remove(webhook.id);
      await record(organizationId, 'webhook.removed', actor.id, webhook.id);
    },

    async test(organizationId, id) {
      const webhook = await find(organizationId, id);
      const time = now();
      return post({
        webhook,
        vault,
        id: newId('whm', time.getTime()),
        body: JSON.stringify({ type: 'webhook.test', timestamp: time.toISOString(), data: {} }),
        now: time,
        signal: new AbortController().signal,
      });
    },
  };
}

function context(id: WebhookId): string {
  return `webhook:${id}`;
}

const longestUrl = 2_000;

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  const wrong = (what: string, hint: string) => new SightlineError('invalid_argument', `The URL ${what}.`, { hint });
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw wrong(
      'is none that can be posted to',
      'Give the whole address, such as https://hooks.example.com/sightline.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw wrong('holds a user name or password', 'Who receives it knows Sightline by the signature; leave them out.');
  }
  if (url.href.length > longestUrl) throw wrong(`is longer than ${longestUrl} characters`, 'Use a shorter one.');
  url.hash = '';
  return url.href;
}

/*
 * Standard Webhooks 1.0 (standardwebhooks.com), so that receivers can verify with an existing library. The secret is
 * `whsec_` and base64; the signature covers id, time in seconds and body, joined by dots.
 */

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The headers of one attempt. */
export function signedHeaders(secret: string, id: string, at: Date, body: string): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

const timeoutMs = 15_000;
const plainHeaders = { 'content-type': 'application/json', 'user-agent': 'Sightline' };

/** One attempt: undefined on success, else the reason, without any text of the receiver. */
export async function post(attempt: {
  readonly webhook: Pick<Webhook, 'id' | 'url' | 'sealedSecret'>;
  readonly vault: Vault;
  /** The receiver's means to tell a repetition. */
  readonly id: string;
  readonly body: string;
  readonly now: Date;
  readonly signal: AbortSignal;
}): Promise<string | undefined> {
  const { webhook, vault, id, body, now, signal } = attempt;
  let secret;
  try {
    secret = Buffer.from(vault.open(webhook.sealedSecret, context(webhook.id))).toString();
  } catch {
    return "the webhook's secret does not open with this master key; remove the webhook, and add it again";
  }
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: { ...plainHeaders, ...signedHeaders(secret, id, now, body) },
      body,
      // To follow would send what is signed for one address to another.
      redirect: 'manual',
      signal: AbortSignal.any([deadline, signal]),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    return response.status >= 300 && response.status < 400
      ? `it answered ${response.status}, a redirect, which is not followed`
      : `it answered ${response.status}`;
  } catch (error) {
    if (signal.aborted) throw error;
    return deadline.aborted
      ? `it did not answer within ${timeoutMs / 1_000} seconds`
      : `it cannot be reached: ${troubleBehind(error).reason}`;
  }
}

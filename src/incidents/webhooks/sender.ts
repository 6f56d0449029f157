import { z } from 'zod';
import type { Component, Host } from '../../contract/core/index.ts';
import type { ClaimedWebhookMessage, Lease, Storage, WebhookOutcome } from '../../contract/storage/index.ts';
import { post } from './webhooks.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** Between one attempt and the next, milliseconds: three days in all, then the event is given up. */
const pauses = [5 * second, ...[1, 5, 30].map((n) => n * minute), ...[2, 5, 10, 14, 20, 20].map((n) => n * hour)];

/**
 * When to try again after so many attempts; undefined when it has been tried enough. A tenth of chance keeps those that
 * failed together from coming back together.
 */
export function nextAttempt(attempts: number, now: Date, chance: () => number = Math.random): Date | undefined {
  const pause = pauses[attempts - 1];
  return pause === undefined ? undefined : new Date(now.getTime() + pause * (1 + chance() / 10));
}

const object = z.record(z.string(), z.unknown());

/** JSON text: what happened, when, and to what; `url` is where a person sees it. */
function messageBody(
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

const pollMs = 1_000;
/** Longer than an attempt takes at most. */
const leaseMs = 30_000;
const atOnce = 8;

interface WebhookSenderOptions extends Pick<Host, 'vault' | 'authUrl' | 'now' | 'logger'> {
  readonly directory: () => Pick<Storage['directory'], 'claimWebhookMessage' | 'settleWebhookMessage'>;
  /** Names this sender among all that share the storage. */
  readonly holder: string;
}

/**
 * Sends what storage has for webhooks, at least once each: who dies in the middle of an attempt leaves a lease that ends,
 * and another one sends it again.
 */
export function createWebhookSender(options: WebhookSenderOptions): Pick<Component, 'stop'> & { start(): void } {
  const { directory, vault, holder, authUrl, now, logger } = options;
  const running = new Set<Promise<void>>();
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  const lease = (): Lease => {
    const time = now();
    return { holder, now: time, until: new Date(time.getTime() + leaseMs) };
  };

  async function attempt(message: ClaimedWebhookMessage): Promise<WebhookOutcome> {
    const { webhook } = message;
    const failure = await post({
      webhook,
      vault,
      id: message.id,
      body: messageBody(message, authUrl),
      now: now(),
      signal: stopping.signal,
    });
    if (failure === undefined) return { kind: 'delivered' };
    const at = nextAttempt(message.attempts + 1, now());
    const about = { organizationId: webhook.organizationId, webhook: webhook.id, message: message.id, failure };
    if (at) {
      logger.info({ ...about, at }, 'a webhook did not take an event; it is tried again');
      return { kind: 'retry', at };
    }
    logger.warn(about, 'a webhook did not take an event in three days; it is given up');
    return { kind: 'abandoned', failure };
  }

  async function send(message: ClaimedWebhookMessage): Promise<void> {
    try {
      await directory().settleWebhookMessage(message, lease(), await attempt(message));
    } catch (error) {
      if (stopping.signal.aborted) {
        // Another gateway need not wait for the lease to end.
        await directory()
          .settleWebhookMessage(message, lease(), { kind: 'returned' })
          .catch(() => {});
        return;
      }
      logger.error({ error, message: message.id }, 'an event could not be sent; it is sent when its lease has ended');
    }
  }

  async function look(): Promise<void> {
    try {
      while (running.size < atOnce && !stopping.signal.aborted) {
        const message = await directory().claimWebhookMessage(lease());
        if (message === undefined) return;
        const sending = send(message).finally(() => {
          running.delete(sending);
          wake();
        });
        running.add(sending);
      }
    } catch (error) {
      logger.warn({ error }, 'events for webhooks could not be looked for; it is tried again');
    }
  }

  function wake(): void {
    if (stopping.signal.aborted) return;
    looking ??= look().finally(() => (looking = undefined));
  }

  return {
    start() {
      if (timer !== undefined) return;
      stopping = new AbortController();
      timer = setInterval(wake, pollMs).unref();
      wake();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      stopping.abort();
      await looking;
      await Promise.all(running);
    },
  };
}

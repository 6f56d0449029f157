import type { Id, OrganizationId } from '../core/ids.ts';

export type WebhookId = Id<'whk'>;
/** One event for one webhook: the same in every attempt, so that the receiver can tell a repetition. */
export type WebhookMessageId = Id<'whm'>;

export const webhookEvents = ['incident.created', 'incident.updated', 'chat.created', 'chat.updated'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** A URL of the organization that receives change events. */
export interface Webhook {
  readonly id: WebhookId;
  readonly organizationId: OrganizationId;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Sealed by the vault under context `webhook:<id>`. */
  readonly sealedSecret: string;
  readonly createdAt: Date;
  readonly deliveredAt?: Date;
  /** The last event that was given up. */
  readonly failedAt?: Date;
  /** Safe to show. */
  readonly failure?: string;
  /** Events on their way. */
  readonly waiting: number;
}

export interface NewWebhook {
  readonly id: WebhookId;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly sealedSecret: string;
}

/** Events are written in the transaction of their change: none is lost, and none tells of what did not happen. */
export interface WebhookRepository {
  /** `conflict` when the organization has as many as it may, 20. */
  create(input: NewWebhook): Promise<Webhook>;
  list(): Promise<readonly Webhook[]>;
  get(id: WebhookId): Promise<Webhook | undefined>;
  /** With what is still on its way to it. False when there is none. */
  remove(id: WebhookId): Promise<boolean>;
}

/** Handed to one gateway at a time, under a lease; of one webhook one at a time. */
export interface ClaimedWebhookMessage {
  readonly id: WebhookMessageId;
  readonly webhook: Pick<Webhook, 'id' | 'organizationId' | 'url' | 'sealedSecret'>;
  readonly event: WebhookEvent;
  /** Of the incident (`INC-12`) or the chat. */
  readonly subject: string;
  /** JSON text of an object. */
  readonly data: string;
  readonly createdAt: Date;
  /** Attempts made before this one. */
  readonly attempts: number;
}

export type WebhookOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: Date }
  /** The lease holder stops: no attempt is counted, and another process may send it at once. */
  | { readonly kind: 'returned' }
  /** It is dropped, and the webhook keeps the reason. */
  | { readonly kind: 'abandoned'; readonly failure: string };

export * from './incident.ts';
export { howItEnded, precedents } from './precedents.ts';
export type * from './precedents.ts';
export type * from './access.ts';
export { auditEvents } from './audit.ts';
export type * from './audit.ts';
export { auditSeals, chainRecords, chainRoot, recordHash } from './audit-chain.ts';
export type { Seal } from './audit-chain.ts';
export type * from './people.ts';
export type * from './chat.ts';
export { asksToCancel, chatTitle } from './chat.ts';
export { chooseInvestigation, findingOf } from './investigation.ts';
export type * from './investigation.ts';
export type * from './record.ts';
export type * from './organization.ts';
export type * from './kept-results.ts';
export type * from './scans.ts';
export type * from './replicas.ts';
export type * from './transfer.ts';
export type * from './storage.ts';
export type * from './alert-sources.ts';
export { alertRules } from './alert-repository.ts';
export type * from './alert-repository.ts';
export { webhookEvents } from './webhooks.ts';
export type {
  ClaimedWebhookMessage,
  NewWebhook,
  Webhook,
  WebhookEvent,
  WebhookId,
  WebhookMessageId,
  WebhookOutcome,
  WebhookRepository,
} from './webhooks.ts';

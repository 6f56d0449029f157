export type { AlertInput, AlertNotice, AlertRequest } from './alerts.ts';
export { readAlertBody, readAlerts } from './alert-body.ts';
export { alertLabelsSchema, environmentLabels, fingerprintOf, firstLabel } from './alert-labels.ts';
export { alertNotice } from './alert-notice.ts';
export { bringsSecret, isSigned, requestHeader } from './alert-proof.ts';
export { severityOf } from './alert-severity.ts';
export { alertTime } from './alert-time.ts';
export { apiVersion, definePlugin } from './plugin.ts';
export type {
  Component,
  Health,
  Host,
  Hosts,
  IssuerHost,
  Logger,
  PluginDefinition,
  PluginKind,
  Products,
  SolePluginKind,
  Vault,
} from './plugin.ts';
export { errorStatus, SightlineError } from './errors.ts';
export type { ErrorCode, ErrorDetails } from './errors.ts';
export * from './ids.ts';
export { foldCase } from './fold-case.ts';
export * from './secrets.ts';
export { roles, scopes } from './auth.ts';
export type * from './auth.ts';
export * from './schema.ts';
export { repairedJson } from './repaired-json.ts';
export { code, fenced } from './quote.ts';
export * from './incident.ts';
export type * from './access.ts';
export { auditEvents } from './audit.ts';
export type * from './audit.ts';
export { auditSeals, chainRecords, chainRoot, recordHash } from './audit-chain.ts';
export type { Seal } from './audit-chain.ts';
export { authorizationServerSchema, pagePaths } from './authorization.ts';
export type * from './authorization.ts';
export type * from './people.ts';
export type * from './sign-in.ts';
export type * from './chat.ts';
export { asksToCancel } from './asks-to-cancel.ts';
export { chatTitle } from './chat-title.ts';
export { chooseInvestigation } from './choose-investigation.ts';
export type * from './investigation.ts';
export type * from './record.ts';
export type * from './kept-results.ts';
export type * from './replicas.ts';
export type * from './retention.ts';
export type * from './scans.ts';
export type * from './storage.ts';
export type * from './alert-sources.ts';
export { alertRules } from './alert-repository.ts';
export type * from './alert-repository.ts';
export type * from './transfer.ts';
export type * from './telemetry.ts';
export type * from './gate.ts';
export { flag } from './flag.ts';
export { mappingSchema } from './mapping.ts';
export type * from './mapping.ts';
export { tenancySchema } from './tenancy.ts';
export type * from './tenancy.ts';
export type * from './warehouse.ts';
export type * from './batch.ts';
export { decodeBatch, encodeBatch } from './batch-codec.ts';
export type * from './agent.ts';
export type * from './instruments.ts';
export { defineTool, toolNames } from './tool.ts';
export type * from './tool.ts';
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

import { z } from 'zod';
import { scopes, type Scope } from '../../src/contract/issuer/index.ts';
import {
  adminScopes,
  alertStatuses,
  severities,
  webhookEvents,
  type Actor,
  type AdminScope,
  type Alert,
  type Conclusion,
  type Finding,
  type InvestigationStep,
  type MessagePart,
  type WebhookEvent,
} from '../../src/contract/storage/index.ts';

/*
 * What is kept as JSON text, and the shapes it is read back in. Objects are loose, so that a row of a newer version keeps
 * what this one does not know; a row that lacks what is needed is damage and throws.
 */

interface JsonColumn<Value> {
  write(value: Value): string;
  read(text: string): Value;
}

function column<Value>(schema: z.ZodType<Value>): JsonColumn<Value> {
  return {
    write: (value) => JSON.stringify(value),
    read: (text) => schema.parse(JSON.parse(text)),
  };
}

const labels = z.record(z.string(), z.string());
const day = z.iso.datetime().transform((text) => new Date(text));

const actor = z.looseObject({
  kind: z.enum(['user', 'key', 'agent', 'alert', 'operator']),
  id: z.string(),
  name: z.string(),
});

const alert = z.looseObject({
  fingerprint: z.string(),
  title: z.string(),
  description: z.string().exactOptional(),
  status: z.enum(alertStatuses),
  severity: z.enum(severities),
  startsAt: day,
  endsAt: day.exactOptional(),
  labels,
  url: z.string().exactOptional(),
});

const step = z.looseObject({
  seq: z.number(),
  evidence_id: z.string(),
  question: z.string(),
  sql: z.string(),
  dialect: z.string(),
  window: z.looseObject({ start: z.string(), end: z.string() }),
  columns: z.array(z.string()),
  rows: z.array(z.array(z.unknown())),
  row_count: z.number(),
  observation: z.string(),
  verdict: z.enum(['supports', 'refutes', 'neutral']),
  elapsed_ms: z.number(),
  error: z.string().exactOptional(),
  recorded_at: z.string(),
});

const conclusion = z.looseObject({
  root_cause: z.string(),
  category: z.string(),
  service: z.string(),
  confidence: z.enum(['high', 'medium', 'low', 'none']),
  claims: z.array(
    z.looseObject({
      text: z.string(),
      status: z.enum(['supported', 'hypothesis']),
      evidence_ids: z.array(z.string()),
    }),
  ),
  not_checked: z.array(z.string()).exactOptional(),
  trend: z.array(z.number()).exactOptional(),
});

const finding = z.looseObject({
  root_cause: z.string(),
  service: z.string(),
  category: z.string(),
  confidence: z.enum(['high', 'medium', 'low', 'none']),
  claims: z.array(z.string()),
  rivals: z
    .array(z.looseObject({ service: z.string(), why: z.string(), why_not: z.string().exactOptional() }))
    .exactOptional(),
  trend: z.array(z.number()).exactOptional(),
});

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('finding'), evidence_id: z.string(), text: z.string() }),
  z.looseObject({ type: z.literal('query'), evidence_id: z.string(), sql: z.string() }),
  z.looseObject({ type: z.literal('question'), text: z.string() }),
]);

/** What a webhook is to tell of an incident, as far as it names people; of a chat, nothing. */
const notice = z.looseObject({
  actor: z.looseObject({ kind: z.string(), name: z.string() }).exactOptional(),
  waiting_on: z.looseObject({ name: z.string().exactOptional() }).exactOptional(),
  changes: z
    .array(z.looseObject({ change: z.string(), from: z.string().optional(), to: z.string().optional() }))
    .exactOptional(),
});

export type Notice = z.output<typeof notice>;

export const noticeJson = column<Notice>(notice);
export const actorJson = column<Actor>(actor);
export const alertsJson = column<readonly Alert[]>(z.array(alert));
export const labelsJson = column<Readonly<Record<string, string>>>(labels);
export const stringsJson = column<readonly string[]>(z.array(z.string()));
export const scopesJson = column<readonly Scope[]>(z.array(z.enum(scopes)));
export const adminScopesJson = column<readonly AdminScope[]>(z.array(z.enum(adminScopes)));
export const webhookEventsJson = column<readonly WebhookEvent[]>(z.array(z.enum(webhookEvents)));
export const stepJson = column<InvestigationStep>(step);
export const conclusionJson = column<Conclusion>(conclusion);
export const findingJson = column<Finding>(finding);
export const partsJson = column<readonly MessagePart[]>(z.array(part));

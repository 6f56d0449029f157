import { z } from 'zod';
import type { Principal } from '../contract/issuer/index.ts';
import type { Actor, Chat, Incident, Page, Storage } from '../contract/storage/index.ts';
import { shortened, type ToolName } from '../contract/core/index.ts';
import { pageOf } from './references.ts';
import { createFence, type Fence } from './result.ts';

/** Of the tools that write into chats. */
export interface ChatWriterDependencies {
  readonly storage: Storage;
  /** Where the pages are, without a trailing slash. */
  readonly pagesUrl: string;
  /** The agent's, written on the investigations that chats queue. */
  readonly engine: string;
  /** Tells the investigation worker that there is work. */
  readonly wake: () => void;
}

/** The principal as the author of what it writes: a person by e-mail, a key by the name an admin gave it. */
export function authorOf({ kind, subject, email, name }: Principal): Actor {
  return { kind, id: subject, name: email ?? name ?? subject };
}

/** An object whose members the output schema names in words: all eight tools together have 4,000 tokens. */
export function members(names: string) {
  return z.unknown().meta({ type: 'object', description: names });
}

/** The call that goes on from here, with arguments that can be sent as they are. */
export interface NextCall {
  readonly tool: ToolName;
  readonly arguments: object;
}

/** In both forms: some clients show their models the structured one alone. */
export const next = members('tool, arguments');

export function nextLine({ tool, arguments: args }: NextCall): string {
  return `Next: ${tool} ${JSON.stringify(args)}`;
}

/** Paths of the result that hold text written by others. */
export const untrustedPaths = z.array(z.string());

export function actorView({ kind, id, name }: Actor) {
  return { kind, id, name };
}

export const incidentRowNames =
  'id, key, title, status, severity, waiting_on{party,name?,reason?,since}, services[], cause?{text,service,category,confidence}, started_at, updated_at, resolved_at?, resolution?, duplicate_of?, url';

export function incidentRow(incident: Incident, pagesUrl: string) {
  const { party, name, reason, since } = incident.waitingOn;
  return {
    id: incident.id,
    key: incident.key,
    title: incident.title,
    status: incident.status,
    severity: incident.severity,
    waiting_on: { party, name, reason, since: since.toISOString() },
    services: incident.services.slice(0, 20),
    cause: incident.finding && {
      text: shortened(incident.finding.root_cause, 300),
      service: incident.finding.service,
      category: incident.finding.category,
      confidence: incident.finding.confidence,
    },
    started_at: incident.startedAt.toISOString(),
    updated_at: incident.updatedAt.toISOString(),
    resolved_at: incident.resolvedAt?.toISOString(),
    resolution: incident.resolution?.kind,
    duplicate_of: incident.resolution?.duplicateOf,
    url: pageOf.incident(pagesUrl, incident.key),
  };
}

export const chatMembers = members(
  'id, title, status, created_by{kind,id,name}, mine, incident_id?, created_at, updated_at, messages (count), url',
);

export function chatView(chat: Chat, principal: Principal, pagesUrl: string) {
  return {
    id: chat.id,
    title: chat.title,
    status: chat.status,
    created_by: actorView(chat.createdBy),
    mine: chat.createdBy.id === principal.subject,
    incident_id: chat.incidentId,
    created_at: chat.createdAt.toISOString(),
    updated_at: chat.updatedAt.toISOString(),
    messages: chat.lastSeq,
    url: pageOf.chat(pagesUrl, chat.id),
  };
}

export function listLines<Item>(
  { items, nextCursor }: Page<Item>,
  noun: string,
  order: string,
  line: (item: Item, fence: Fence) => string,
): readonly string[] {
  if (items.length === 0) return [`No ${noun} matches.`];
  const fence = createFence();
  const head = `${items.length} ${noun}${items.length === 1 ? '' : 's'}, ${order}. ${fence.notice}`;
  const more = nextCursor === undefined ? [] : [`More: cursor=${nextCursor}`];
  return [head, ...items.map((item) => line(item, fence)), ...more];
}

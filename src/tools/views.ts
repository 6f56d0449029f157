import { z } from 'zod';
import type { Principal } from '../contract/issuer/index.ts';
import type { Actor, Chat, Incident, WaitingOn, Workspace } from '../contract/storage/index.ts';
import { timeOrNothing } from './result.ts';
import { isId } from '../contract/core/index.ts';

/** The principal as the author of what it writes: a person by e-mail, a key by the name an admin gave it. */
export async function authorOf(principal: Principal, workspace: Workspace): Promise<Actor> {
  const { kind, subject } = principal;
  if (kind === 'user') return { kind, id: subject, name: principal.email ?? subject };
  const key = isId('ak', subject) ? await workspace.keys.get(subject) : undefined;
  return { kind, id: subject, name: key?.name ?? subject };
}

/**
 * How things look in structured results: snake_case, times as RFC 3339 UTC. In the output schemas the members of nested
 * objects are named in words and not spelt out one by one: all eight tools together have 4,000 tokens.
 */
export function members(names: string) {
  return z.unknown().meta({ type: 'object', description: names });
}

/** Paths of the result that hold text written by others. */
export const untrustedPaths = z.array(z.string());

export interface ActorView {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

export function actorView(actor: Actor): ActorView {
  return { kind: actor.kind, id: actor.id, name: actor.name };
}

export interface WaitingView {
  readonly party: string;
  readonly name: string | undefined;
  readonly reason: string | undefined;
  readonly since: string;
}

export interface IncidentRow {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly status: string;
  readonly severity: string;
  readonly waiting_on: WaitingView;
  readonly services: readonly string[];
  readonly started_at: string;
  readonly updated_at: string;
  readonly resolved_at: string | undefined;
  /** Of one that is resolved or dismissed. */
  readonly resolution: string | undefined;
  readonly duplicate_of: string | undefined;
}

export const incidentRowMembers = members(
  'id, key, title, status, severity, waiting_on{party,name?,reason?,since}, services[], started_at, updated_at, resolved_at?, resolution?, duplicate_of?',
);

export function incidentRow(incident: Incident): IncidentRow {
  return {
    id: incident.id,
    key: incident.key,
    title: incident.title,
    status: incident.status,
    severity: incident.severity,
    waiting_on: waitingView(incident.waitingOn),
    services: incident.services.slice(0, 20),
    started_at: incident.startedAt.toISOString(),
    updated_at: incident.updatedAt.toISOString(),
    resolved_at: timeOrNothing(incident.resolvedAt),
    resolution: incident.resolution?.kind,
    duplicate_of: incident.resolution?.duplicateOf,
  };
}

function waitingView(waiting: WaitingOn): WaitingView {
  return {
    party: waiting.party,
    name: waiting.name,
    reason: waiting.reason,
    since: waiting.since.toISOString(),
  };
}

export interface ChatView {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly created_by: ActorView;
  /** Whether the caller started it. */
  readonly mine: boolean;
  readonly incident_id: string | undefined;
  readonly created_at: string;
  readonly updated_at: string;
  /** How many. */
  readonly messages: number;
}

export const chatMembers = members(
  'id, title, status, created_by{kind,id,name}, mine, incident_id?, created_at, updated_at, messages (count)',
);

export function chatView(chat: Chat, principal: Principal): ChatView {
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
  };
}

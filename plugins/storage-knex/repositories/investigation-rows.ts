import { newId, SightlineError, toId, type ChatId, type IncidentId } from '../../../src/contract/core/index.ts';
import type { Investigation } from '../../../src/contract/storage/index.ts';
import { date, investigationStatusColumn, optional } from '../columns.ts';
import { conclusionJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';

export function toInvestigation(row: RowIn<'investigations'>): Investigation {
  return {
    id: toId('inv', row.id),
    organizationId: toId('org', row.organization_id),
    ...optional('chatId', row.chat_id, (id) => toId('chat', id)),
    ...optional('incidentId', row.incident_id, (id) => toId('inc', id)),
    status: investigationStatusColumn.parse(row.status),
    engine: row.engine,
    askedAt: date(row.asked_at),
    ...optional('startedAt', row.started_at, date),
    ...optional('finishedAt', row.finished_at, date),
    ...optional('conclusion', row.conclusion, (text) => conclusionJson.read(text)),
    ...optional('failure', row.failure, String),
    ...optional('question', row.question, String),
    ...optional('doing', row.doing, String),
  };
}

/** Others of the organization write before or after, so who holds it now holds it until the end of the transaction. */
export function requireHeld(
  row: RowIn<'investigations'> | undefined,
  holder: string | undefined,
): RowIn<'investigations'> {
  if (row === undefined) throw new SightlineError('not_found', 'There is no such investigation.');
  if (holder === undefined || row.lease_holder === holder) return row;
  throw new SightlineError('conflict', 'The investigation was cancelled or taken over.');
}

export interface NewInvestigation {
  readonly chatId?: ChatId | undefined;
  readonly incidentId?: IncidentId | undefined;
  readonly engine: string;
}

/** In the queue of the organization. */
export function nextPosition(scope: Scope): Promise<number> {
  return scope.next('investigation');
}

export async function insertQueued(
  scope: Scope,
  input: NewInvestigation,
  position: number,
  now: Date,
): Promise<Investigation> {
  const row = {
    id: newId('inv', now.getTime()),
    position,
    chat_id: input.chatId ?? null,
    incident_id: input.incidentId ?? null,
    status: 'queued',
    engine: input.engine,
    asked_at: now.getTime(),
    started_at: null,
    finished_at: null,
    conclusion: null,
    failure: null,
    question: null,
    doing: null,
    lease_holder: null,
    lease_until: null,
  };
  await scope.insert('investigations', row);
  return toInvestigation({ ...row, organization_id: scope.organizationId });
}

/**
 * Work for a chat whose row is locked: the queued investigation if there is one; else the one that waits for an answer,
 * which goes on with its evidence; else a new one. So a chat has at most one queued, however many replies come in.
 */
export async function queueForChat(
  scope: Scope,
  { chatId, incidentId, engine }: NewInvestigation & { readonly chatId: ChatId },
  now: Date,
): Promise<Investigation> {
  const present = await scope
    .from('investigations')
    .where({ chat_id: chatId })
    .whereIn('status', ['queued', 'waiting'])
    .orderBy(['status', { column: 'position', order: 'desc' }])
    .first();
  if (present === undefined) {
    return insertQueued(scope, { chatId, engine, incidentId }, await nextPosition(scope), now);
  }
  return present.status === 'queued' ? toInvestigation(present) : resume(scope, present, { chatId, engine }, now);
}

/**
 * Takes the investigation that an alert began and that waits on a person, if the incident has one, for a chat to answer it.
 * Of two chats at once one gets it.
 */
export async function takeWaiting(scope: Scope, incidentId: IncidentId): Promise<RowIn<'investigations'> | undefined> {
  const waiting = await scope
    .from('investigations')
    .where({ incident_id: incidentId, status: 'waiting' })
    .whereNull('chat_id')
    .orderBy('position', 'desc')
    .first();
  if (waiting === undefined) return undefined;
  const taken = await scope
    .from('investigations')
    .where({ id: waiting.id, status: 'waiting' })
    .update({ status: 'queued' });
  return taken === 1 ? waiting : undefined;
}

/** Queues again, with its evidence, what waited for an answer that this chat has given: as if asked at that moment. */
export async function resume(
  scope: Scope,
  row: RowIn<'investigations'>,
  { chatId, engine }: { readonly chatId: ChatId; readonly engine: string },
  now: Date,
): Promise<Investigation> {
  const change = {
    status: 'queued',
    chat_id: chatId,
    engine,
    asked_at: now.getTime(),
    question: null,
    lease_holder: null,
    lease_until: null,
  };
  await scope.from('investigations').where({ id: row.id }).update(change);
  return toInvestigation({ ...row, ...change });
}

import { SightlineError, newId, toId, type ChatId, type MessageId } from '../../../src/contract/core/index.ts';
import type {
  Actor,
  Chat,
  ChatFilter,
  ChatMessage,
  ChatStatus,
  MessagePart,
  Page,
} from '../../../src/contract/storage/index.ts';
import { chatStatusColumn, date, messageRoleColumn, optional } from '../columns.ts';
import { actorJson, partsJson } from '../json.ts';
import { page, matchesWords } from '../paging.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { announceChat } from './webhook-outbox.ts';

export function toChat(row: RowIn<'chats'>): Chat {
  return {
    id: toId('chat', row.id),
    organizationId: toId('org', row.organization_id),
    title: row.title,
    status: chatStatusColumn.parse(row.status),
    createdBy: actorJson.read(row.created_by),
    ...optional('incidentId', row.incident_id, (id) => toId('inc', id)),
    createdAt: date(row.created_at),
    updatedAt: date(row.updated_at),
    lastSeq: row.last_seq,
  };
}

export function toMessage(row: RowIn<'chat_messages'>): ChatMessage {
  return {
    id: toId('msg', row.id),
    seq: row.seq,
    role: messageRoleColumn.parse(row.role),
    author: actorJson.read(row.author),
    time: date(row.at),
    content: row.content,
    parts: partsJson.read(row.parts),
  };
}

/** Reads the chat with its row locked until the transaction ends. */
export async function lockChat(scope: Scope, id: ChatId): Promise<Chat> {
  const [, row] = await Promise.all([
    scope.from('chats').where({ id }).update({ id }),
    scope.from('chats').where({ id }).first(),
  ]);
  if (row === undefined) throw new SightlineError('not_found', 'There is no such chat.');
  return toChat(row);
}

export interface NewMessage {
  readonly id?: MessageId;
  readonly role: ChatMessage['role'];
  readonly author: Actor;
  readonly content: string;
  readonly parts?: readonly MessagePart[];
}

/** Sets the chat's status, with a message if there is one to add. The chat must be locked, or made in this transaction. */
export async function advanceChat(
  scope: Scope,
  chat: Chat,
  status: ChatStatus,
  now: Date,
  added?: NewMessage,
): Promise<Chat> {
  const next: Chat = {
    ...chat,
    status,
    // Never the same twice, also within a millisecond: who waits for a change compares this time.
    updatedAt: new Date(Math.max(now.getTime(), chat.updatedAt.getTime() + 1)),
    lastSeq: chat.lastSeq + (added === undefined ? 0 : 1),
  };
  await Promise.all([
    added === undefined ? undefined : insertMessage(scope, chat.id, next.lastSeq, now, added),
    scope
      .from('chats')
      .where({ id: chat.id })
      .update({ status, updated_at: next.updatedAt.getTime(), last_seq: next.lastSeq }),
    announceChat(scope, 'chat.updated', next, now),
  ]);
  return next;
}

export async function insertMessage(
  scope: Scope,
  chatId: ChatId,
  seq: number,
  at: Date,
  { id = newId('msg', at.getTime()), role, author, content, parts = [] }: NewMessage,
): Promise<ChatMessage> {
  await scope.insert('chat_messages', {
    chat_id: chatId,
    seq,
    id,
    role,
    author: actorJson.write(author),
    at: at.getTime(),
    content,
    parts: partsJson.write(parts),
  });
  return { id, seq, role, author, time: at, content, parts };
}

/** Most recently changed first. */
export function listChats(scope: Scope, { limit, cursor, ...filter }: ChatFilter): Promise<Page<Chat>> {
  const bound = ['chats', scope.organizationId, normalized(filter)];
  return page(matching(scope, filter), { time: 'updated_at', limit, cursor, bound }, toChat);
}

type Filter = Omit<ChatFilter, 'limit' | 'cursor'>;

function matching(scope: Scope, filter: Filter) {
  const query = scope.from('chats');
  if (filter.statuses !== undefined) query.whereIn('status', [...filter.statuses]);
  if (filter.createdBy !== undefined) query.where('created_by_id', filter.createdBy);
  if (filter.incidentId !== undefined) query.where('incident_id', filter.incidentId);
  for (const word of matchesWords(scope, filter.query)) query.where(word);
  return query;
}

function normalized(filter: Filter): readonly unknown[] {
  return [filter.statuses?.toSorted(), filter.createdBy, filter.incidentId, filter.query];
}

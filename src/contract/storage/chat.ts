import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatId, IncidentId, MessageId, OrganizationId } from '../core/ids.ts';
import type { Actor, Page } from './record.ts';

const titleLength = 80;

export type ChatStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export interface Chat {
  readonly id: ChatId;
  readonly organizationId: OrganizationId;
  readonly title: string;
  readonly status: ChatStatus;
  readonly createdBy: Actor;
  readonly incidentId?: IncidentId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastSeq: number;
}

export interface ChatMessage {
  readonly id: MessageId;
  /** 1, 2, 3 … within the chat. */
  readonly seq: number;
  readonly role: 'user' | 'agent' | 'system';
  readonly author: Actor;
  readonly time: Date;
  /** Markdown. */
  readonly content: string;
  readonly parts: readonly MessagePart[];
}

export type MessagePart =
  | { readonly type: 'finding'; readonly evidence_id: string; readonly text: string }
  | { readonly type: 'query'; readonly evidence_id: string; readonly sql: string }
  | { readonly type: 'question'; readonly text: string };

export interface ChatFilter {
  readonly statuses?: readonly ChatStatus[] | undefined;
  /** Only chats this subject started. */
  readonly createdBy?: string | undefined;
  readonly incidentId?: IncidentId | undefined;
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface ChatRepository {
  /** The chat, the message and a queued investigation, in one transaction; or the investigation that an alert began and that waits for an answer, whose question then stands before the message. The same key from the same author answers the first chat again. */
  start(input: NewChat): Promise<{ readonly chat: Chat; readonly message: ChatMessage }>;
  /** Adds a user's message and queues an investigation unless one is queued; reopens a finished chat. `forbidden` unless `author` started the chat. */
  reply(id: ChatId, input: NewReply): Promise<{ readonly chat: Chat; readonly message: ChatMessage }>;
  get(id: ChatId): Promise<Chat | undefined>;
  /** Most recently changed first. */
  list(filter: ChatFilter): Promise<Page<Chat>>;
  messages(
    id: ChatId,
    options: { readonly afterSeq?: number; readonly limit: number },
  ): Promise<readonly ChatMessage[]>;
  message(id: ChatId, messageId: MessageId): Promise<ChatMessage | undefined>;
  /** Ends what runs. */
  cancel(id: ChatId, actor: Actor): Promise<Chat>;
  /** Resolves when the chat may have changed since `seen` (its updatedAt), or when the signal aborts; never rejects for the latter. */
  changed(id: ChatId, seen: Date, signal: AbortSignal): Promise<void>;
}

export interface NewChat {
  readonly title: string;
  readonly message: string;
  readonly author: Actor;
  readonly incidentId?: IncidentId | undefined;
  readonly engine: string;
  /** Of one author: the same message is written once under it, and another is a `conflict`. */
  readonly idempotencyKey?: string | undefined;
}

export interface NewReply {
  readonly message: string;
  readonly author: Actor;
  readonly engine: string;
  /** As of a new chat. */
  readonly idempotencyKey?: string | undefined;
}

/** What a chat is called that was begun with this message and no title: its beginning, in one line. */
export function chatTitle(message: string): string {
  const line = message.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length <= titleLength ? line : `${line.slice(0, titleLength - 1).replace(/[\u{D800}-\u{DBFF}]$/u, '')}…`;
}

/** The chat each time it may have changed, and at least every `lookMs`; it ends when the chat is gone or the signal aborts. */
export async function* followChat(
  chats: Pick<ChatRepository, 'changed' | 'get'>,
  chat: Chat,
  lookMs: number,
  signal: AbortSignal,
): AsyncGenerator<Chat, void, undefined> {
  let current = chat;
  yield current;
  while (!signal.aborted) {
    const look = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
    await chats.changed(chat.id, current.updatedAt, look);
    const next = await chats.get(chat.id);
    if (next === undefined) return;
    if (next.updatedAt.getTime() === current.updatedAt.getTime() && !look.aborted) await sleep(shortestLookMs);
    current = next;
    yield current;
  }
}

/** Between two looks at a chat whose store says "may have changed" at once. */
const shortestLookMs = 100;

/** Whether a reply asks the agent to stop and says nothing else. */
export function asksToCancel(message: string): boolean {
  return /^\s*(?:please\s+)?(?:cancel|stop)(?:\s+(?:it|this|that|please))?\s*[.!]*\s*$/i.test(message.slice(0, 100));
}

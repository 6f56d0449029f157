import { newId, SightlineError, type ChatId, type MessageId } from '../../../src/contract/core/index.ts';
import type {
  Actor,
  Chat,
  ChatFilter,
  ChatMessage,
  ChatRepository,
  NewChat,
  NewReply,
  Page,
} from '../../../src/contract/storage/index.ts';
import { integer, sha256, pageSize } from '../columns.ts';
import { actorJson } from '../json.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { searchText } from '../paging.ts';
import { advanceChat, insertMessage, listChats, lockChat, toChat, toMessage, type NewMessage } from './chat-rows.ts';
import { requireIncident } from './incident-rows.ts';
import { insertQueued, nextPosition, queueForChat, resume, takeWaiting } from './investigation-rows.ts';
import { announceChat } from './webhook-outbox.ts';
import { OrganizationRepository } from './repository.ts';

/** Of the first message, which a search looks through beside the title. */
const searchedCharacters = 4_000;

interface Written {
  readonly chat: Chat;
  readonly message: ChatMessage;
}

export class Chats extends OrganizationRepository implements ChatRepository {
  start(input: NewChat): Promise<Written> {
    return this.database.write(async (scope) => {
      const now = this.now();
      const ids = { chat: newId('chat', now.getTime()), message: newId('msg', now.getTime()) };
      const { author, incidentId, engine } = input;
      const [earlier, position] = await Promise.all([
        remember(scope, ['start', null, input], ids, now),
        // A gap, where it is not used, changes no order.
        nextPosition(scope),
        scope.refuseErased(author.id),
      ]);
      if (earlier !== undefined) return asBefore(earlier, input);

      if (incidentId !== undefined) await requireIncident(scope, incidentId);
      const waiting = incidentId === undefined ? undefined : await takeWaiting(scope, incidentId);
      const question = waiting?.question ?? undefined;
      const row: Omit<RowIn<'chats'>, 'organization_id'> = {
        id: ids.chat,
        title: input.title,
        search_text: searchText(input.title, input.message.slice(0, searchedCharacters)),
        status: 'running',
        created_by: actorJson.write(author),
        created_by_id: author.id,
        incident_id: incidentId ?? null,
        created_at: now.getTime(),
        updated_at: now.getTime(),
        last_seq: question === undefined ? 1 : 2,
      };
      const chat = toChat({ ...row, organization_id: scope.organizationId });
      const first = { id: ids.message, role: 'user', author, content: input.message } as const;
      const [, , message] = await Promise.all([
        scope.insert('chats', row),
        waiting !== undefined && question !== undefined
          ? insertMessage(scope, ids.chat, 1, now, asked(question, waiting.engine))
          : undefined,
        insertMessage(scope, ids.chat, row.last_seq, now, first),
        waiting === undefined
          ? insertQueued(scope, { chatId: ids.chat, engine, incidentId }, position, now)
          : resume(scope, waiting, { chatId: ids.chat, engine }, now),
        announceChat(scope, 'chat.created', chat, now),
      ]);
      return { chat, message };
    });
  }

  async reply(id: ChatId, input: NewReply): Promise<Written> {
    const written = await this.database.write(async (scope) => {
      const now = this.now();
      const { author, engine } = input;
      const [chat] = await Promise.all([lockChat(scope, id), scope.refuseErased(author.id)]);
      if (chat.createdBy.kind !== author.kind || chat.createdBy.id !== author.id) {
        throw new SightlineError('forbidden', 'Only who started this chat may reply to it.', {
          hint: 'Start a chat of your own about the same matter.',
        });
      }
      const messageId = newId('msg', now.getTime());
      const ids = { chat: id, message: messageId };
      const earlier = await remember(scope, ['reply', id, input], ids, now);
      if (earlier !== undefined) return asBefore(earlier, { ...input, incidentId: earlier.chat.incidentId });

      const added = { id: messageId, role: 'user', author, content: input.message, parts: [] } as const;
      const next = await advanceChat(scope, chat, 'running', now, added);
      await queueForChat(scope, { chatId: id, engine, incidentId: chat.incidentId }, now);
      return { chat: next, message: { ...added, seq: next.lastSeq, time: now } };
    });
    this.parts.changes.notify(id);
    return written;
  }

  get(id: ChatId): Promise<Chat | undefined> {
    return this.one((scope) => scope.from('chats').where({ id }).first(), toChat);
  }

  list(filter: ChatFilter): Promise<Page<Chat>> {
    return this.database.list(filter, (scope) => listChats(scope, filter));
  }

  messages(
    id: ChatId,
    { afterSeq, limit }: { readonly afterSeq?: number; readonly limit: number },
  ): Promise<readonly ChatMessage[]> {
    return this.all(
      (scope) =>
        scope
          .from('chat_messages')
          .where({ chat_id: id })
          .where('seq', '>', afterSeq ?? 0)
          .orderBy('seq')
          .limit(pageSize(limit)),
      toMessage,
    );
  }

  message(id: ChatId, messageId: MessageId): Promise<ChatMessage | undefined> {
    return this.database.read((scope) => readMessage(scope, id, messageId));
  }

  /** A chat in which nothing runs or waits stays as it is. */
  async cancel(id: ChatId, actor: Actor): Promise<Chat> {
    const chat = await this.database.write(async (scope) => {
      await scope.refuseErased(actor.id);
      const now = this.now();
      const current = await lockChat(scope, id);
      if (current.status !== 'running' && current.status !== 'waiting') return current;
      await scope
        .from('investigations')
        .where({ chat_id: id })
        .whereIn('status', ['queued', 'running', 'waiting'])
        .update({
          status: 'cancelled',
          finished_at: now.getTime(),
          question: null,
          doing: null,
          lease_holder: null,
          lease_until: null,
        });
      return advanceChat(scope, current, 'cancelled', now, { role: 'system', author: actor, content: 'Cancelled.' });
    });
    this.parts.changes.notify(id);
    return chat;
  }

  /** A chat that does not exist has changed: the caller's next look finds that out. */
  changed(id: ChatId, seen: Date, signal: AbortSignal): Promise<void> {
    return this.parts.changes.wait(id, signal, () =>
      this.database.read(async (scope) => {
        const row = await scope.from('chats').where({ id }).first('updated_at');
        return row === undefined || integer(row.updated_at) > seen.getTime();
      }),
    );
  }
}

/** What an investigation asked before there was a chat. */
function asked(question: string, engine: string): NewMessage {
  const author = { kind: 'agent', id: engine, name: engine } as const;
  return { role: 'agent', author, content: question, parts: [{ type: 'question', text: question }] };
}

async function readMessage(scope: Scope, chatId: ChatId, messageId: string): Promise<ChatMessage | undefined> {
  const row = await scope.from('chat_messages').where({ chat_id: chatId, id: messageId }).first();
  return row === undefined ? undefined : toMessage(row);
}

type Request = readonly [
  operation: 'start' | 'reply',
  chatId: ChatId | null,
  input: Pick<NewReply, 'author' | 'idempotencyKey'>,
];

/**
 * Notes what the idempotency key stands for, or answers what it stood for before. The insert comes first: of two calls at
 * once the second waits for the first one's row, and then reads it.
 */
async function remember(
  scope: Scope,
  [operation, chatId, { author, idempotencyKey }]: Request,
  ids: { readonly chat: ChatId; readonly message: MessageId },
  now: Date,
): Promise<Written | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const digest = sha256(JSON.stringify([operation, chatId, author.kind, author.id, idempotencyKey]));
  const note = { digest, chat_id: ids.chat, message_id: ids.message, at: now.getTime() };
  const [, noted] = await Promise.all([
    scope.insertIfAbsent('chat_requests', note, ['organization_id', 'digest']),
    scope.from('chat_requests').where({ digest }).first(),
  ]);
  if (noted === undefined || noted.message_id === ids.message) return undefined;
  const chat = await scope.from('chats').where({ id: noted.chat_id }).first();
  if (chat === undefined) return undefined;
  const read = toChat(chat);
  const message = await readMessage(scope, read.id, noted.message_id);
  return message === undefined ? undefined : { chat: read, message };
}

/** Answering with another message would lose this one without a word. */
function asBefore(earlier: Written, { message, incidentId }: Pick<NewChat, 'message' | 'incidentId'>): Written {
  if (earlier.message.content === message && earlier.chat.incidentId === incidentId) return earlier;
  throw new SightlineError('conflict', 'Another message was written under this idempotency key.', {
    hint: 'Send this message with a key of its own.',
  });
}

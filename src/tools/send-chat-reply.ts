import { z } from 'zod';
import {
  defineTool,
  SightlineError,
  type ChatId,
  type MessageId,
  type Tool,
  type ToolResult,
} from '../contract/core/index.ts';
import { asksToCancel, type Actor, type Chat, type Workspace } from '../contract/storage/index.ts';
import { idempotencyKey, maxMessageLength, shortText, writtenText, toolResult } from './result.ts';
import { authorOf, next, nextLine, type ChatWriterDependencies, type NextCall } from './views.ts';
import { findChat, pageOf } from './references.ts';

const input = z.strictObject({
  chat_id: shortText(500).describe('Id or URL'),
  message: writtenText(maxMessageLength).describe('The reply'),
  idempotency_key: idempotencyKey,
});

const output = z.object({
  message_id: z.string(),
  chat_id: z.string(),
  status: z.string(),
  url: z.string(),
  notes: z.array(z.string()),
  next: next.optional(),
});

export interface SendChatReplyDependencies extends ChatWriterDependencies {
  readonly cancelChat: CancelChat;
}

/** Ends the agent's work in a chat, on whichever gateway it runs; a chat in which nothing runs stays as it is. */
export type CancelChat = (workspace: Workspace, id: ChatId, actor: Actor) => Promise<Chat>;

export function createSendChatReply(deps: SendChatReplyDependencies): Tool {
  return defineTool({
    name: 'send_chat_reply',
    title: 'Reply in a chat',
    description:
      'Posts a reply into a chat that you started: answers what the agent asked, or asks on. The message "cancel" stops ' +
      'the agent. Returns at once; read the answer with read_chat. Example: {"chat_id":"chat_…","message":"Only payment, since 14:00"}.',
    scope: 'chats:write',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    aliases: { id: 'chat_id', prompt: 'message', reply: 'message' },
    output,
    async run(args, { principal }) {
      const workspace = deps.storage.workspace(principal.organizationId);
      const found = await findChat(workspace, args.chat_id, deps.pagesUrl);
      if (found.createdBy.id !== principal.subject) {
        throw new SightlineError('forbidden', 'This chat was started by someone else; replies go only into your own.', {
          hint:
            found.incidentId === undefined
              ? 'Call start_chat with your message, or list_chats {"mine":true}.'
              : `Call start_chat with your message and incident_id ${found.incidentId}: it joins the same incident.`,
        });
      }
      const author = authorOf(principal);
      if (asksToCancel(args.message)) {
        const chat = await deps.cancelChat(workspace, found.id, author);
        const { id, status } = chat;
        const done = status === 'cancelled' ? `Chat ${id} is cancelled.` : `Nothing runs; chat ${id} is ${status}.`;
        return answer(chat, pageOf.chat(deps.pagesUrl, id), { messageId: await newestOf(chat, workspace), note: done });
      }
      const { chat, message } = await workspace.chats.reply(found.id, {
        message: args.message,
        author,
        engine: deps.engine,
        idempotencyKey: args.idempotency_key,
      });
      deps.wake();
      return answer(chat, pageOf.chat(deps.pagesUrl, chat.id), {
        messageId: message.id,
        note: `Posted as ${message.id}; chat ${chat.id} is ${chat.status}.`,
        following: {
          tool: 'read_chat',
          arguments: { chat_id: chat.id, after_message_id: message.id, wait_seconds: 20 },
        },
      });
    },
  });
}

interface Posted {
  readonly messageId: MessageId;
  readonly note: string;
  readonly following?: NextCall;
}

function answer({ id, status }: Chat, url: string, { messageId, note, following }: Posted): ToolResult {
  const structured: z.input<typeof output> = {
    message_id: messageId,
    chat_id: id,
    status,
    url,
    notes: [note],
    next: following,
  };
  return toolResult(structured, [
    note,
    `Message ${messageId}; for people at ${url}.`,
    ...(following ? [nextLine(following)] : []),
  ]);
}

/** What says that it was cancelled. */
async function newestOf(chat: Chat, { chats }: Workspace): Promise<MessageId> {
  const [newest] = await chats.messages(chat.id, { afterSeq: chat.lastSeq - 1, limit: 1 });
  if (newest === undefined) throw new SightlineError('internal', 'A chat has no message.');
  return newest.id;
}

import { z } from 'zod';
import { defineTool, SightlineError } from '../contract/index.ts';
import type { Storage, Tool } from '../contract/index.ts';
import { idempotencyKey, maxMessageLength, shortText, writtenText } from './arguments.ts';
import { authorOf } from './authors.ts';
import { findChat } from './references.ts';
import { toolResult } from './result.ts';

const input = z.strictObject({
  chat_id: shortText(500),
  message: writtenText(maxMessageLength),
  idempotency_key: idempotencyKey,
});

const output = z.object({ message_id: z.string(), chat_id: z.string(), status: z.string() });

export interface SendChatReplyDependencies {
  readonly storage: Storage;
  readonly publicUrl: string;
  readonly engine: string;
  /** Tells the worker that there is something to investigate. */
  readonly wake: () => void;
}

export function createSendChatReply(deps: SendChatReplyDependencies): Tool {
  return defineTool({
    name: 'send_chat_reply',
    title: 'Reply in a chat',
    description:
      'Posts a reply into a chat that you started: answers what the agent asked, or asks on. Returns at once; read the ' +
      'answer with read_chat. Example: {"chat_id":"chat_…","message":"Only payment, since 14:00"}.',
    scope: 'chats:write',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    aliases: { id: 'chat_id', prompt: 'message', reply: 'message' },
    output,
    async run(args, { principal }) {
      const workspace = deps.storage.workspace(principal.organizationId);
      const found = await findChat(workspace, args.chat_id, deps.publicUrl);
      if (found.createdBy.id !== principal.subject) {
        throw new SightlineError('forbidden', 'This chat was started by someone else; replies go only into your own.', {
          hint:
            found.incidentId === undefined
              ? 'Call start_chat with your message, or list_chats {"mine":true}.'
              : `Call start_chat with your message and incident_id ${found.incidentId}: it joins the same incident.`,
        });
      }
      const { chat, message } = await workspace.chats.reply(found.id, {
        message: args.message,
        author: await authorOf(principal, workspace),
        engine: deps.engine,
        ...(args.idempotency_key !== undefined && { idempotencyKey: args.idempotency_key }),
      });
      deps.wake();
      const structured: z.input<typeof output> = { message_id: message.id, chat_id: chat.id, status: chat.status };
      return toolResult(structured, [
        `Posted as ${message.id}; chat ${chat.id} is ${chat.status}.`,
        `Next: read_chat {"chat_id":"${chat.id}","after_message_id":"${message.id}","wait_seconds":20}`,
      ]);
    },
  });
}

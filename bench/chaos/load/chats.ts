import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { runLine, toolThroughFront, type LoadContext } from './line.ts';

const started = z.object({ chat_id: z.string() });
const replied = z.object({ message_id: z.string() });
const read = z.object({ messages: z.array(z.object({ content: z.string() })) });
const tries = 12;

/** Starts a chat, replies to it, and reads it. What is not acknowledged is sent again with its idempotency key. */
export function chats(context: LoadContext, line: number): Promise<void> {
  const { ledger } = context;
  return runLine(context, 900, async (turn) => {
    const title = `chat ${line}.${turn}`;
    ledger.chats.sent(title);
    const chat = await untilAcknowledged(context, 'start_chat', started, { message: title, idempotency_key: title });
    if (chat === undefined) return;
    ledger.chats.acknowledged(title);
    if (turn % 2 === 0) {
      const message = `reply ${line}.${turn}`;
      ledger.replies.sent(message);
      const args = { ...chat, message, idempotency_key: message };
      if ((await untilAcknowledged(context, 'send_chat_reply', replied, args)) !== undefined) {
        ledger.replies.acknowledged(message);
      }
    }
    const { structured } = await toolThroughFront(context, 'read_chat', { ...chat, wait_seconds: 1 });
    if (structured !== undefined && !read.parse(structured).messages.some(({ content }) => content === title)) {
      ledger.broken.push(`${title} was read without its first message`);
    }
  });
}

async function untilAcknowledged<Shape extends z.ZodType>(
  context: LoadContext,
  tool: string,
  shape: Shape,
  args: object,
): Promise<z.output<Shape> | undefined> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const { structured } = await toolThroughFront(context, tool, args);
    if (structured !== undefined) return shape.parse(structured);
    await sleep(attempt * 200);
  }
  return undefined;
}

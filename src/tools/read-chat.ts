import { z } from 'zod';
import { defineTool, isId, SightlineError, toId, type Tool, type ToolContext } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';
import {
  followChat,
  type Chat,
  type ChatMessage,
  type MessagePart,
  type Storage,
  type Workspace,
} from '../contract/storage/index.ts';
import { createFence, cutText, shortText, toolResult } from './result.ts';
import { chatLine } from './list-chats.ts';
import { findChat } from './references.ts';
import { actorView, chatView, members, next, nextLine, untrustedPaths, type NextCall } from './views.ts';

/** How often a caller who asked for progress hears something. */
const progressEveryMs = 1_000;

/** Resolves when the agent is done, a message came, or after `seconds`. Rejects with query_cancelled. */
async function waitForAnswer(
  workspace: Workspace,
  chat: Chat,
  seconds: number,
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<Chat> {
  const begun = Date.now();
  const over = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
  let latest = chat;
  let reported = 0;
  for await (const current of followChat(workspace.chats, chat, progressEveryMs, over)) {
    if (signal.aborted) break;
    latest = current;
    const elapsed = Math.min(seconds, (Date.now() - begun) / 1_000);
    if (current !== chat && elapsed > reported) progress(elapsed, await describeWork(workspace, current), seconds);
    reported = Math.max(reported, elapsed);
    if (current.status !== 'running' || current.lastSeq > chat.lastSeq) return current;
  }
  if (signal.aborted) throw new SightlineError('query_cancelled', 'The call was cancelled.');
  return latest;
}

async function describeWork(workspace: Workspace, chat: Chat): Promise<string> {
  const [investigation] = await workspace.investigations.ofChat(chat.id);
  if (investigation === undefined || investigation.status === 'queued') return 'Waiting for the agent to begin';
  if (investigation.doing !== undefined) return investigation.doing;
  const steps = await workspace.investigations.steps(investigation.id);
  return `The agent has taken ${steps.length} steps`;
}

const input = z.strictObject({
  chat_id: shortText(500).describe('Id or URL'),
  after_message_id: shortText(64).optional().describe('Only messages after this one'),
  limit: z.int().min(1).max(200).default(50).describe('Page size; default 50'),
  wait_seconds: z.number().min(0).max(25).default(0).describe('Wait for the answer so long; default 0'),
});

const output = z.object({
  chat: members('as in list_chats'),
  messages: z.array(
    members('id, seq, role (user, agent, system), author{kind,id,name}, time, content (Markdown), parts[]'),
  ),
  next: next.optional(),
  next_cursor: z.string().optional().describe('For after_message_id'),
  notes: z.array(z.string()),
  untrusted: untrustedPaths,
});

/** What one call answers with at most, in UTF-16 units of content and parts: with what stands around them 40,000. */
const pageBudget = 34_000;

export function createReadChat(deps: { readonly storage: Storage; readonly pagesUrl: string }): Tool {
  return defineTool({
    name: 'read_chat',
    title: 'Read a chat',
    description:
      'A chat and its messages, oldest first. With wait_seconds it waits until the agent has answered or asked. ' +
      'While status is running, call again. Example: {"chat_id":"chat_…","wait_seconds":20}.',
    scope: 'chats:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    aliases: { id: 'chat_id', after: 'after_message_id', cursor: 'after_message_id', wait: 'wait_seconds' },
    output,
    async run(args, context) {
      const { principal } = context;
      const workspace = deps.storage.workspace(principal.organizationId);
      const found = await findChat(workspace, args.chat_id, deps.pagesUrl);
      const after = await seqOf(workspace, found, args.after_message_id);
      const nothingNew = args.after_message_id === undefined || after >= found.lastSeq;
      const chat =
        args.wait_seconds > 0 && nothingNew ? await waitForAnswer(workspace, found, args.wait_seconds, context) : found;
      const page = await readPage(workspace, chat, after, args.limit);
      const following = nextOf(chat, page, principal);
      const structured = {
        chat: chatView(chat, principal, deps.pagesUrl),
        next: following,
        next_cursor: page.nextCursor,
        messages: page.messages.map(messageView),
        notes: page.notes,
        untrusted: [
          'chat.title',
          'chat.created_by.name',
          ...['content', 'parts', 'author.name'].map((name) => `messages[].${name}`),
        ],
      };
      return toolResult(structured, describe(chat, page, principal, { following, pagesUrl: deps.pagesUrl }), {
        rows: page.messages.length,
        truncated: page.nextCursor !== undefined,
      });
    },
  });
}

async function seqOf(workspace: Workspace, chat: Chat, reference: string | undefined): Promise<number> {
  if (reference === undefined) return 0;
  const message = isId('msg', reference) ? await workspace.chats.message(chat.id, toId('msg', reference)) : undefined;
  if (message) return message.seq;
  throw new SightlineError('not_found', 'after_message_id is not a message of this chat.', {
    hint: 'Leave it out to read from the beginning, or send the id of a message that read_chat returned.',
    retry: { chat_id: chat.id },
  });
}

interface MessagePage {
  readonly messages: readonly ChatMessage[];
  readonly nextCursor: string | undefined;
  readonly notes: string[];
}

async function readPage(workspace: Workspace, chat: Chat, after: number, limit: number): Promise<MessagePage> {
  const found = await workspace.chats.messages(chat.id, { afterSeq: after, limit: limit + 1 });
  const messages: ChatMessage[] = [];
  const notes: string[] = [];
  let room = pageBudget;
  for (const message of found.slice(0, limit)) {
    const parts = message.parts.filter((part) => !isSaid(part, message));
    const length = sizeOf(message.content) + sizeOf(parts);
    if (messages.length > 0 && length > room) {
      notes.push('Cut at the size limit of one result; go on with next_cursor as after_message_id.');
      break;
    }
    room -= length;
    messages.push(fit({ ...message, parts }, notes));
  }
  const last = messages.at(-1);
  return { messages, notes, nextCursor: messages.length < found.length ? last?.id : undefined };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

/** A finding that the message says in the same words. */
function isSaid(part: MessagePart, { content }: ChatMessage): boolean {
  return part.type === 'finding' && content.includes(part.text);
}

/** A message longer than one result is cut, its queries before its words, and says so. */
function fit(message: ChatMessage, notes: string[]): ChatMessage {
  let { text } = cutText(message.content, pageBudget);
  while (sizeOf(text) > pageBudget) text = cutText(text, Math.floor(text.length * 0.8)).text;
  let room = pageBudget - sizeOf(text);
  const parts = message.parts.filter((part) => (room -= sizeOf(part) + 1) > 0);
  if (text.length === message.content.length && parts.length === message.parts.length) return message;
  notes.push(`Message ${message.id} is longer than one result can hold and was cut; its page has the whole.`);
  return { ...message, content: text, parts };
}

function messageView({ id, seq, role, author, time, content, parts }: ChatMessage) {
  return { id, seq, role, author: actorView(author), time: time.toISOString(), content, parts };
}

/** What goes on from here: the rest, the answer that is being worked on, or the reply that is waited for. */
function nextOf(chat: Chat, page: MessagePage, principal: Principal): NextCall | undefined {
  const at = { chat_id: chat.id };
  if (page.nextCursor !== undefined) {
    return { tool: 'read_chat', arguments: { ...at, after_message_id: page.nextCursor } };
  }
  const last = page.messages.at(-1)?.id;
  if (chat.status === 'running') {
    const after = last === undefined ? {} : { after_message_id: last };
    return { tool: 'read_chat', arguments: { ...at, ...after, wait_seconds: 20 } };
  }
  const replies = chat.status === 'waiting' && chat.createdBy.id === principal.subject;
  return replies ? { tool: 'send_chat_reply', arguments: { ...at, message: '<your answer>' } } : undefined;
}

function describe(
  chat: Chat,
  page: MessagePage,
  principal: Principal,
  { following, pagesUrl }: { readonly following: NextCall | undefined; readonly pagesUrl: string },
): readonly string[] {
  const fence = createFence();
  const lines = [chatLine(chat, principal, { fence, pagesUrl }), fence.notice];
  for (const message of page.messages) {
    const own = message.author.id === principal.subject;
    lines.push(
      '',
      `#${message.seq} ${message.id} ${message.role} ${message.time.toISOString()} by ${own ? 'you' : `${message.author.kind} ${message.author.id} ${fence.inline(message.author.name)}`}`,
      // The agent quotes telemetry, so its messages are fenced, too.
      own ? message.content : fence.block(message.content),
    );
    if (message.parts.length > 0)
      lines.push('Parts:', fence.block(message.parts.map((part) => JSON.stringify(part)).join('\n')));
  }
  lines.push('', ...page.notes);
  if (following !== undefined) lines.push(nextLine(following));
  return lines;
}

import { z } from 'zod';
import { defineTool, type Tool } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';
import type { Chat, Storage } from '../contract/storage/index.ts';
import { chosen, type Fence, pageCursor, pageLimit, shortText, some, toolResult } from './result.ts';
import { findIncident, pageOf } from './references.ts';
import { chatMembers, chatView, listLines, untrustedPaths } from './views.ts';

const chatStatuses = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const;

const input = z.strictObject({
  status: some(chatStatuses).optional().describe('Any of these'),
  mine: z.boolean().optional().describe('Only chats you started'),
  incident_id: shortText(500).optional().describe('Id, key or URL'),
  query: shortText().optional().describe('Words in the title'),
  limit: pageLimit,
  cursor: pageCursor,
});

const output = z.object({
  chats: z.array(chatMembers),
  next_cursor: z.string().optional(),
  untrusted: untrustedPaths,
});

export function createListChats(deps: { readonly storage: Storage; readonly pagesUrl: string }): Tool {
  return defineTool({
    name: 'list_chats',
    title: 'List chats',
    description:
      'Chats (questions put to the investigating agent), most recently changed first. ' +
      'Example: {"mine":true,"status":["waiting"]} for those that wait for your reply. Read one with read_chat.',
    scope: 'chats:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    aliases: { statuses: 'status', incident: 'incident_id' },
    output,
    async run(args, { principal }) {
      const workspace = deps.storage.workspace(principal.organizationId);
      const incident =
        args.incident_id === undefined ? undefined : await findIncident(workspace, args.incident_id, deps.pagesUrl);
      const page = await workspace.chats.list({
        limit: args.limit,
        statuses: chosen(args.status),
        createdBy: args.mine === true ? principal.subject : undefined,
        incidentId: incident?.id,
        query: args.query,
        cursor: args.cursor,
      });
      const structured = {
        chats: page.items.map((chat) => chatView(chat, principal, deps.pagesUrl)),
        next_cursor: page.nextCursor,
        untrusted: ['chats[].title', 'chats[].created_by.name'],
      };
      const lines = listLines(page, 'chat', 'most recently changed first', (chat, fence) =>
        chatLine(chat, principal, { fence, pagesUrl: deps.pagesUrl }),
      );
      return toolResult(structured, lines, { rows: page.items.length });
    },
  });
}

export function chatLine(
  chat: Chat,
  principal: Principal,
  { fence, pagesUrl }: { readonly fence: Fence; readonly pagesUrl: string },
): string {
  const { kind, id, name } = chat.createdBy;
  const owner = `${id === principal.subject ? 'you, ' : ''}${kind} ${id} ${fence.inline(name)}`;
  const incident = chat.incidentId === undefined ? [] : [`incident ${chat.incidentId}`];
  return [
    chat.id,
    chat.status,
    `by ${owner}`,
    `started ${chat.createdAt.toISOString()}`,
    `changed ${chat.updatedAt.toISOString()}`,
    `${chat.lastSeq} messages`,
    ...incident,
    fence.inline(chat.title),
    pageOf.chat(pagesUrl, chat.id),
  ].join(' | ');
}

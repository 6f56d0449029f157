import { z } from 'zod';
import { defineTool, type Tool } from '../contract/core/index.ts';
import { chatTitle } from '../contract/storage/index.ts';
import {
  idempotencyKey,
  maxMessageLength,
  maxTitleLength,
  oneLine,
  shortText,
  toolResult,
  writtenText,
} from './result.ts';
import { authorOf, next, nextLine, type ChatWriterDependencies, type NextCall } from './views.ts';
import { findIncident, pageOf } from './references.ts';

const input = z.strictObject({
  message: writtenText(maxMessageLength).describe('What to investigate'),
  title: shortText(maxTitleLength).optional().describe('For lists'),
  incident_id: shortText(500).optional().describe('Joins this incident and answers what its investigation asked'),
  idempotency_key: idempotencyKey,
});

const output = z.object({ chat_id: z.string(), status: z.string(), url: z.string(), next });

export function createStartChat(deps: ChatWriterDependencies): Tool {
  return defineTool({
    name: 'start_chat',
    title: 'Start a chat',
    description:
      'Asks the agent to investigate something over the telemetry. Returns at once; then call read_chat with the ' +
      'chat_id and wait_seconds. Name services and a time range if you know them. ' +
      'Example: {"message":"Why did checkout fail in the last 30 minutes?"}.',
    scope: 'chats:write',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    aliases: { prompt: 'message', question: 'message', incident: 'incident_id' },
    output,
    async run(args, { principal }) {
      const workspace = deps.storage.workspace(principal.organizationId);
      const incident =
        args.incident_id === undefined ? undefined : await findIncident(workspace, args.incident_id, deps.pagesUrl);
      const { chat } = await workspace.chats.start({
        title: oneLine(args.title ?? chatTitle(args.message)),
        message: args.message,
        author: authorOf(principal),
        engine: deps.engine,
        incidentId: incident?.id,
        idempotencyKey: args.idempotency_key,
      });
      deps.wake();
      const { id, status } = chat;
      const following: NextCall = { tool: 'read_chat', arguments: { chat_id: id, wait_seconds: 20 } };
      const url = pageOf.chat(deps.pagesUrl, id);
      const structured: z.input<typeof output> = { chat_id: id, status, url, next: following };
      return toolResult(structured, [`Chat ${id} is ${status}, for people at ${url}.`, nextLine(following)]);
    },
  });
}

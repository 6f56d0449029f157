import type { Tool } from '../contract/core/index.ts';
import { createGetIngestConfig, type IngestSource } from './get-ingest-config.ts';
import { createListChats } from './list-chats.ts';
import { createListIncidents } from './list-incidents.ts';
import { createReadChat } from './read-chat.ts';
import { createReadIncident } from './read-incident.ts';
import { createSendChatReply, type SendChatReplyDependencies } from './send-chat-reply.ts';
import { createStartChat } from './start-chat.ts';

export { describeIngest } from './get-ingest-config.ts';
export type { IngestSource } from './get-ingest-config.ts';
export type { IngestConfig } from './sender-setups.ts';

export interface ToolDependencies extends SendChatReplyDependencies {
  /** From `createQueryOtel`. */
  readonly queryOtel: Tool;
  readonly ingest: IngestSource;
  readonly now: () => Date;
}

/** The eight tools, in the order in which they are listed. */
export function createTools(deps: ToolDependencies): readonly Tool[] {
  return [
    deps.queryOtel,
    createGetIngestConfig(deps),
    createListIncidents(deps),
    createReadIncident(deps),
    createListChats(deps),
    createReadChat(deps),
    createStartChat(deps),
    createSendChatReply(deps),
  ];
}

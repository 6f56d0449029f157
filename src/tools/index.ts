import type { Tool } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import { createGetIngestConfig } from './get-ingest-config.ts';
import type { IngestSource } from './get-ingest-config.ts';
import { createListChats } from './list-chats.ts';
import { createListIncidents } from './list-incidents.ts';
import { createReadChat } from './read-chat.ts';
import { createReadIncident } from './read-incident.ts';
import { createSendChatReply } from './send-chat-reply.ts';
import type { CancelChat } from './send-chat-reply.ts';
import { createStartChat } from './start-chat.ts';

export { describeIngest } from './get-ingest-config.ts';
export type { IngestConfig, IngestSource } from './get-ingest-config.ts';

export interface ToolDependencies {
  readonly storage: Storage;
  /** From `createQueryOtel`. */
  readonly queryOtel: Tool;
  readonly ingest: IngestSource;
  /** {base_url}, without a trailing slash. */
  readonly publicUrl: string;
  /** The agent's, written on the investigations that chats queue. */
  readonly engine: string;
  /** Tells the investigation worker that there is work. */
  readonly wake: () => void;
  readonly cancelChat: CancelChat;
  readonly now: () => Date;
  /** The page of a chat; absent where no pages are served. */
  readonly chatUrl?: (chatId: string) => string;
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

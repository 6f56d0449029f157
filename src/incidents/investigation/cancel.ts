import type { ChatId, Logger } from '../../contract/core/index.ts';
import type { Actor, Chat, Workspace } from '../../contract/storage/index.ts';
import { followIncident } from './incident.ts';

/**
 * Ends what runs, queues or waits in a chat, on whichever gateway that is, and brings its incident up to date. A chat in
 * which nothing does stays as it is.
 */
export async function cancelChat(workspace: Workspace, id: ChatId, actor: Actor, logger: Logger): Promise<Chat> {
  const chat = await workspace.chats.cancel(id, actor);
  // Also where it was cancelled before: whoever did that may have died before this.
  if (chat.incidentId !== undefined && chat.status === 'cancelled') {
    await followIncident(workspace, chat.incidentId, actor, logger).follow();
  }
  return chat;
}

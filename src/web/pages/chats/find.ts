import { isId, SightlineError } from '../../../contract/core/index.ts';
import type { Chat, Workspace } from '../../../contract/storage/index.ts';

/** One of another organization is answered like one that was never there. */
export async function findChat(workspace: Workspace, id: string): Promise<Chat> {
  const chat = isId('chat', id) ? await workspace.chats.get(id) : undefined;
  if (chat) return chat;
  throw new SightlineError('not_found', 'There is no such chat in this organization.');
}

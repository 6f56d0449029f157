import { isId, SightlineError, toId } from '../contract/core/index.ts';
import type { Chat, Incident, Workspace } from '../contract/storage/index.ts';

/** The pages of what tools answer with, for people. `pagesUrl` has no trailing slash. */
export const pageOf = {
  incident: (pagesUrl: string, key: string): string => `${pagesUrl}/incidents/${key}`,
  /** One step, at its place among the evidence. */
  evidence: (pagesUrl: string, key: string, id: string): string =>
    `${pagesUrl}/incidents/${key}/evidence#${encodeURIComponent(id)}`,
  chat: (pagesUrl: string, id: string): string => `${pagesUrl}/chats/${id}`,
} as const;

/** By id, key (`INC-12`) or URL. One of another organization is answered like one that does not exist. */
export async function findIncident(workspace: Workspace, reference: string, pagesUrl: string): Promise<Incident> {
  const name = lastSegment(reference.trim(), pagesUrl, 'incidents');
  const known = isId('inc', name) || /^inc-[1-9][0-9]{0,9}$/i.test(name);
  const incident = known ? await workspace.incidents.get(name) : undefined;
  if (incident) return incident;
  throw new SightlineError('not_found', `There is no incident ${shown(reference)} in this workspace.`, {
    hint: known
      ? 'Call list_incidents for the keys that exist.'
      : 'An incident is named by its key (INC-12), its id (inc_…) or its URL. Call list_incidents for them.',
  });
}

export async function findChat(workspace: Workspace, reference: string, pagesUrl: string): Promise<Chat> {
  const name = lastSegment(reference.trim(), pagesUrl, 'chats');
  const chat = isId('chat', name) ? await workspace.chats.get(toId('chat', name)) : undefined;
  if (chat) return chat;
  throw new SightlineError('not_found', `There is no chat ${shown(reference)} in this workspace.`, {
    hint: 'Call list_chats for the ids that exist, or start_chat to begin one.',
  });
}

function lastSegment(reference: string, pagesUrl: string, folder: string): string {
  const prefix = `${pagesUrl}/${folder}/`;
  if (!reference.startsWith(prefix)) return reference;
  return reference.slice(prefix.length).split(/[/?#]/, 1)[0] ?? '';
}

function shown(reference: string): string {
  return JSON.stringify(reference.length > 60 ? `${reference.slice(0, 60)}…` : reference);
}

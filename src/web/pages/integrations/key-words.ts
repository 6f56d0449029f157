import { isId, SightlineError, type KeyId } from '../../../contract/core/index.ts';
import { scopeWords } from '../../connections.ts';
import { deletedPerson, type ApiKey, type Workspace } from '../../../contract/storage/index.ts';
import type { Client, Connection } from '../../client-setup/client.ts';
import { copyable, moment, strangersName } from '../../components.ts';
import { html, type Html, type Renderable } from '../../html.ts';

/** How each client is configured, one to unfold at a time. */
export function snippets(clients: readonly Client[], connection: Connection): Html {
  return html`${clients.map(
    (client) =>
      html`<details class="card">
        <summary>${client.title}</summary>
        ${client.snippets(connection).map(
          ({ title, text }, index) =>
            html`<p>${title}</p>
              ${copyable(`${client.name}-${index}`, text)}`,
        )}
      </details>`,
  )}`;
}

/** A key of this organization: ask before any change, since the service changes whatever key it is named. */
export async function findKey({ keys }: Workspace, id: string | undefined): Promise<ApiKey> {
  const key = id !== undefined && isId('ak', id) ? await keys.get(id) : undefined;
  if (key) return key;
  throw new SightlineError('not_found', 'There is no such API key in this organization.');
}

/** A key writes in its own name. */
export const keyScopeWords: typeof scopeWords = {
  ...scopeWords,
  'chats:write': {
    title: 'Write in chats',
    detail: 'Ask the agent, which then works, and reply to it.',
  },
};

/** Names who made something, by what its `createdBy` holds. */
export async function authorsOf({ members }: Workspace): Promise<(id: string | undefined) => Renderable> {
  const names = new Map((await members.list()).map(({ user }): [string, string] => [user.id, user.name]));
  return (id) => {
    if (id === undefined) return 'unknown';
    if (id === 'system') return 'Sightline';
    if (id === deletedPerson.id) return 'a deleted person';
    const name = names.get(id);
    if (name !== undefined) return strangersName(name);
    return isId('usr', id) ? 'a former member' : html`${strangersName(id)} (operator)`;
  };
}

/** The end of a secret, by which people tell two apart. */
export function ending(lastFour: string | undefined): Html {
  return html`<code>…${lastFour ?? '????'}</code>`;
}

export function lastUse(at: Date | undefined): Renderable {
  return at ? moment(at) : 'Never';
}

export function about(id: KeyId): string {
  return `key:${id}`;
}

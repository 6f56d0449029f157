import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UserId } from '../contract/core/index.ts';
import type { LiveSession } from '../contract/storage/index.ts';
import { createCookie } from './cookies.ts';
import type { PageServices } from './services.ts';

export interface BrowserSession extends LiveSession {
  /** The cookie's value, which the account's own pages act on. */
  readonly token: string;
}

export interface Sessions {
  /** One look-up in storage, or none where the browser shows nothing. */
  find(request: IncomingMessage): Promise<BrowserSession | undefined>;
  /** Always under a new token, against session fixation. */
  open(request: IncomingMessage, response: ServerResponse, userId: UserId): Promise<void>;
  close(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export function createSessions({ people, authUrl, now }: Pick<PageServices, 'people' | 'authUrl' | 'now'>): Sessions {
  const cookie = createCookie(authUrl);
  const shown = (request: IncomingMessage): string | undefined => {
    const token = cookie.read(request);
    return token !== undefined && /^[\w-]{1,100}$/.test(token) ? token : undefined;
  };

  return {
    async find(request) {
      const token = shown(request);
      const live = token === undefined ? undefined : await people.session(token);
      return token === undefined || live === undefined ? undefined : { ...live, token };
    },
    async open(request, response, userId) {
      const before = shown(request);
      const { token, expiresAt } = await people.openSession(userId);
      if (before !== undefined) await people.signOut(before);
      cookie.write(response, token, (expiresAt.getTime() - now().getTime()) / 1_000);
    },
    async close(request, response) {
      const token = shown(request);
      if (token !== undefined) await people.signOut(token);
      cookie.clear(response);
    },
  };
}

import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { equalHashes, SightlineError } from '../contract/core/index.ts';
import type { Organization } from '../contract/storage/index.ts';
import { createCookie } from './cookies.ts';
import type { BrowserSession } from './session.ts';

export const csrfField = 'csrf';

/** Of the token and the organization; in neither of them. */
const separator = '.';

/** Whether a POST comes from a form of ours. The token is what counts; the headers refuse a stranger's page earlier. */
export interface Csrf {
  /** For a hidden field: bound to the session, before one to a cookie. Behind it stands the page's organization. */
  token(request: IncomingMessage, response: ServerResponse, session: BrowserSession | undefined): string;
  /** Throws `forbidden` unless the headers allow that the browser was on a page of ours. */
  checkOrigin(request: IncomingMessage): void;
  /** Throws `forbidden` unless `shown` is this browser's token. */
  checkToken(request: IncomingMessage, session: BrowserSession | undefined, shown: string | null): void;
  /** Throws `conflict` unless the form was opened in this organization: another tab may have gone to another since. */
  checkOrganization(organization: Organization, shown: string | null): void;
}

export function createCsrf(authUrl: string): Csrf {
  const cookie = createCookie(authUrl, '-form');
  const own = new URL(authUrl);
  const visitor = (request: IncomingMessage): string | undefined => {
    const value = cookie.read(request);
    return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
  };
  // One-way: a form that leaks gives no session away.
  const tokenOf = (secret: string): string => createHmac('sha256', secret).update('csrf').digest('base64url');

  return {
    token(request, response, session) {
      if (session) return [tokenOf(session.token), session.membership?.organization.id].filter(Boolean).join(separator);
      const known = visitor(request);
      if (known !== undefined) return tokenOf(known);
      const made = randomBytes(32).toString('base64url');
      cookie.write(response, made);
      return tokenOf(made);
    },

    checkOrigin(request) {
      const { origin, host } = request.headers;
      const site = request.headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin') throw foreign();
      // Browsers write `null` where a page sends no referrer (Fetch §3.1), as ours do not; then the token decides.
      if (origin === undefined || origin === 'null') return;
      const from = URL.parse(origin);
      // The Host header has been held against the allowed ones before.
      if (from?.protocol !== own.protocol || (from.host !== own.host && from.host !== host)) throw foreign();
    },

    checkToken(request, session, shown) {
      const secret = session?.token ?? visitor(request);
      const [token = ''] = (shown ?? '').split(separator);
      if (secret === undefined || !equalHashes(tokenOf(secret), token)) {
        throw new SightlineError('forbidden', 'This form is out of date.', {
          hint: 'Open the page again and send it once more. Cookies have to be allowed for this site.',
        });
      }
    },

    checkOrganization({ id, name }, shown) {
      const [, openedIn] = (shown ?? '').split(separator);
      if (openedIn === id) return;
      throw new SightlineError(
        'conflict',
        `This browser shows ${name} now, and the form was opened in another organization. Nothing was changed.`,
        { hint: 'Go back to the other organization, or open the page again.' },
      );
    },
  };
}

function foreign(): SightlineError {
  return new SightlineError('forbidden', 'The form was sent from another website.', {
    hint: 'Open the page here and send it once more.',
  });
}

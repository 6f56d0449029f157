import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { hashSecret, parseJson, type UserId } from '../contract/core/index.ts';
import type { LiveSession } from '../contract/storage/index.ts';
import type { PageServices } from './services.ts';

export interface BrowserSession extends LiveSession {
  /** The cookie's value, which the account's own pages act on. */
  readonly token: string;
}

interface Sessions {
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

/** One of our cookies. Over https its name begins with `__Host-`, so that no other host can plant it (RFC 6265bis §4.1.3.2). */
interface Cookie {
  read(request: IncomingMessage): string | undefined;
  /** Without `maxAgeSeconds` it ends with the browser. */
  write(response: ServerResponse, value: string, maxAgeSeconds?: number): void;
  clear(response: ServerResponse): void;
}

/** @param suffix of the name, where it is not the session's. */
export function createCookie(authUrl: string, suffix = ''): Cookie {
  const secure = authUrl.startsWith('https:');
  const name = `${stem(authUrl)}${suffix}`;
  // Lax: with Strict a browser that comes back from an identity provider would not be known.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

  const write: Cookie['write'] = (response, value, maxAgeSeconds) => {
    const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}`;
    response.appendHeader('Set-Cookie', `${name}=${value}; ${attributes}${age}`);
  };
  return {
    read(request) {
      return pairsOf(request).find(([shown]) => shown === name)?.[1];
    },
    write,
    clear: (response) => write(response, '', 0),
  };
}

/** Suffixes of our cookies that begin so, as the browser shows them: the oldest first (RFC 6265 §5.4). */
export function cookieSuffixes(request: IncomingMessage, authUrl: string, beginning: string): readonly string[] {
  return pairsOf(request).flatMap(([name]) =>
    name.startsWith(`${stem(authUrl)}${beginning}`) ? [name.slice(stem(authUrl).length)] : [],
  );
}

/** With the port where it is tried out on one machine: a browser does not keep cookies of two ports apart. */
function stem(authUrl: string): string {
  const { protocol, port } = new URL(authUrl);
  if (protocol === 'https:') return '__Host-sightline';
  return port === '' ? 'sightline' : `sightline-${port}`;
}

function pairsOf({ headers }: IncomingMessage): readonly (readonly [name: string, value: string])[] {
  return (headers.cookie ?? '').split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals === -1 ? [] : [[trimmed(pair.slice(0, equals)), trimmed(pair.slice(equals + 1))] as const];
  });
}

/**
 * Without the blanks that a browser does not count either (RFC 6265bis §5.6). `trim` takes others off as well, and behind
 * one of those a browser sees no `__Host-`: any host of the domain may plant such a cookie.
 */
function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

/** Of a person who is signed in. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly session: BrowserSession;
}

interface SealedCookie<Kept> {
  /** Undefined for none, for one of another session, and for anything that we did not write. */
  read(visit: Visit): Kept | undefined;
  /** Without `maxAgeSeconds` it ends with the browser. */
  write(visit: Visit, kept: Kept, maxAgeSeconds?: number): void;
  clear(visit: Visit): void;
}

/** Something that one session keeps in its browser, which any instance can open and the browser cannot. */
export function sealedCookie<Schema extends z.ZodType>(
  { authUrl, vault }: Pick<PageServices, 'authUrl' | 'vault'>,
  name: 'once' | 'queries',
  schema: Schema,
): SealedCookie<z.output<Schema>> {
  const cookie = createCookie(authUrl, `-${name}`);
  const context = ({ session }: Visit): string =>
    `${name === 'once' ? 'shown-once' : name}:${hashSecret(session.token)}`;
  return {
    read(visit) {
      const sealed = cookie.read(visit.request);
      if (sealed === undefined || sealed === '') return undefined;
      let text: string;
      try {
        text = Buffer.from(vault.open(sealed, context(visit))).toString();
      } catch {
        // A browser may send anything.
        return undefined;
      }
      // An earlier version may have kept something else.
      return schema.safeParse(parseJson(text)).data;
    },
    write(visit, kept, maxAgeSeconds) {
      const sealed = vault.seal(Buffer.from(JSON.stringify(kept)), context(visit));
      cookie.write(visit.response, sealed, maxAgeSeconds);
    },
    clear: (visit) => cookie.clear(visit.response),
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';

/** One of our cookies. Over https its name begins with `__Host-`, so that no other host can plant it (RFC 6265bis §4.1.3.2). */
export interface Cookie {
  read(request: IncomingMessage): string | undefined;
  /** Without `maxAgeSeconds` it ends with the browser. */
  write(response: ServerResponse, value: string, maxAgeSeconds?: number): void;
  clear(response: ServerResponse): void;
}

/** @param suffix of the name, where it is not the session's. */
export function createCookie(authUrl: string, suffix = ''): Cookie {
  const secure = authUrl.startsWith('https:');
  const name = `${secure ? '__Host-' : ''}sightline${suffix}`;
  // Lax: with Strict a browser that comes back from an identity provider would not be known.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

  const write: Cookie['write'] = (response, value, maxAgeSeconds) => {
    const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}`;
    response.appendHeader('Set-Cookie', `${name}=${value}; ${attributes}${age}`);
  };
  return {
    read(request) {
      for (const pair of (request.headers.cookie ?? '').split(';')) {
        const equals = pair.indexOf('=');
        if (equals !== -1 && trimmed(pair.slice(0, equals)) === name) return trimmed(pair.slice(equals + 1));
      }
      return undefined;
    },
    write,
    clear: (response) => write(response, '', 0),
  };
}

/**
 * Without the blanks that a browser does not count either (RFC 6265bis §5.6). `trim` takes others off as well, and behind
 * one of those a browser sees no `__Host-`: any host of the domain may plant such a cookie.
 */
function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

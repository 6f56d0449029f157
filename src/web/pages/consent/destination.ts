import type { AuthorizationClient } from '../../../contract/issuer/index.ts';

/** Where the answer to an authorization request goes, for a person and for the browser. */
export interface Destination {
  /** "example.com", "a program on this computer". */
  readonly text: string;
  /** What to think of before allowing it; in plain words. */
  readonly warning?: string;
  /** A CSP source for the form. */
  readonly source: string;
}

/** Schemes that a browser gives a meaning of its own. */
const neverLinks = new Set(['about:', 'blob:', 'data:', 'file:', 'filesystem:', 'javascript:', 'vbscript:']);
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** @param redirectOrigin `https://example.com`, `http://127.0.0.1:4711`, `cursor:`. Undefined for anything else. */
export function destinationOf(redirectOrigin: string, client: AuthorizationClient): Destination | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*:)(?:\/\/[A-Za-z0-9.:[\]_-]*)?$/.exec(redirectOrigin)?.[1];
  if (scheme === undefined || neverLinks.has(scheme)) return undefined;
  if (scheme !== 'http:' && scheme !== 'https:') {
    return {
      text: `the application on this computer that opens ${scheme} links`,
      warning: `Any application on this computer could have asked to open ${scheme} links. ${justStarted}`,
      source: scheme,
    };
  }
  const url = URL.parse(redirectOrigin);
  if (!url) return undefined;
  const { host, hostname, origin } = url;
  if (loopback.has(hostname)) {
    return {
      text: `a program on this computer (${host})`,
      warning: `Any program on this computer can ask in this name. ${justStarted}`,
      // CSP has no way to write an IPv6 address: a browser would ignore the source.
      source: hostname.startsWith('[') ? scheme : origin,
    };
  }
  const warning = warningOf(host, client);
  return { text: host, source: origin, ...(warning === undefined ? {} : { warning }) };
}

const justStarted = 'Allow it only if you have just begun to connect it yourself.';

function warningOf(host: string, client: AuthorizationClient): string | undefined {
  if (client.known === 'registration') {
    return `Whoever runs ${host} gets this access, whatever the application calls itself. Allow it only if you know that site.`;
  }
  if (client.host !== undefined && client.host !== host) {
    return `The application is known by ${client.host}, but the access goes to ${host}. Allow it only if you know both.`;
  }
  return undefined;
}

import type { IncomingMessage } from 'node:http';
import type { Logger } from '../contract/core/index.ts';
import { onceEach } from '../limits/once-each.ts';
import { RequestFailure } from './protocol.ts';

export const ambiguous = 'The request has more than one Host field, or an empty Transfer-Encoding.';

export const hostHint = 'Use the address in publicUrl, or add the name to allowedHosts in the configuration.';

/** Logs each name once, for the operator who forgot to allow it. */
export function noteRefusedHosts(logger: Logger): (host: string | undefined) => void {
  return onceEach((host) => logger.warn({ host }, `A request for another host was refused. ${hostHint}`));
}

export interface Gate {
  /** The browser origin to answer with CORS headers, or undefined where there is none. Throws 403. */
  check(request: IncomingMessage): string | undefined;
}

/**
 * Host and Origin allow-list, against DNS rebinding (MCP transports, "Security warning"). A host without a port stands for
 * that name at any port: rebinding changes the name. Origins are compared whole; `null` is refused like any stranger.
 */
export function createGate(
  allowedHosts: readonly string[],
  allowedOrigins: readonly string[],
  onRefused: (host: string | undefined) => void,
): Gate {
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  /** Most requests name the same one. */
  let admitted: string | undefined;

  function isAllowed(named: string | undefined): boolean {
    const host = named?.toLowerCase();
    return host !== undefined && (hosts.has(host) || hosts.has(host.replace(/:\d+$/, '')));
  }

  return {
    check(request) {
      const { host, origin } = request.headers;
      if (!isUnambiguous(request))
        throw new RequestFailure(400, 400, ambiguous, { data: { code: 'invalid_argument' } });
      if (host === undefined || host !== admitted) {
        if (!isAllowed(host)) {
          onRefused(host);
          const data = { code: 'forbidden', hint: hostHint };
          throw new RequestFailure(403, 403, 'This Host is not served here.', { data });
        }
        admitted = host;
      }
      if (origin === undefined) return undefined;
      if (!origins.has(origin.toLowerCase())) {
        throw new RequestFailure(403, 403, 'This Origin may not call here.', { data: { code: 'forbidden' } });
      }
      return origin;
    },
  };
}

/**
 * Whether every HTTP parser on the way reads this request alike, as far as Node leaves that open: Node takes the first of several
 * Host fields (RFC 9112 §3.2), and some of its versions an empty Transfer-Encoding beside a Content-Length (§6.1).
 */
export function isUnambiguous({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name?.length === 17 && rawHeaders[at + 1] === '' && name.toLowerCase() === 'transfer-encoding')
      return false;
  }
  return hosts <= 1;
}

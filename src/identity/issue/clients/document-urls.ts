import { isIP } from 'node:net';
import { SightlineError } from '../../../contract/core/index.ts';

/** Longest client id that is kept with a grant. */
const longest = 255;

/** Which URLs may be fetched: https at a host's own port, or at what the configuration lists. */
export type UrlRules = (url: URL) => boolean;

/** `allowedHosts` are `host` or `host:port`; without them any host is allowed, at port 443. Throws `config_invalid`. */
export function createUrlRules(allowedHosts?: readonly string[]): UrlRules {
  const allowed = allowedHosts && new Set(allowedHosts.map(allowedHost));
  return (url) =>
    url.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '' &&
    url.pathname !== '/' &&
    isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 &&
    !url.hostname.endsWith('.') &&
    (allowed ? allowed.has(url.host) : url.port === '');
}

function allowedHost(entry: string): string {
  const url = URL.parse(`https://${entry}`);
  if (url && !/[/@?#*\s]/.test(entry)) return url.host;
  throw new SightlineError('config_invalid', `The allowed host ${entry} of OAuth clients must be a host or host:port.`);
}

/** The URL that a client id is; undefined unless it is written as the parser writes it, so that a document has one id. */
export function documentUrl(id: string): URL | undefined {
  if (id.length > longest || !id.startsWith('https://')) return undefined;
  const url = URL.parse(id);
  return url?.href === id && !/[#\\]/.test(id) ? url : undefined;
}

import { isIP } from 'node:net';
import { SightlineError } from '../../../contract/core/index.ts';
import { isLoopback } from '../scopes.ts';

/** Longest client id that is kept with a grant. */
const longestId = 255;

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
  if (id.length > longestId || !id.startsWith('https://')) return undefined;
  const url = URL.parse(id);
  return url?.href === id && !/[#\\]/.test(id) ? url : undefined;
}

const longestRedirect = 2_000;

/** Schemes that mean something to a browser or to the system's own programs: what answers to them is no OAuth client. */
const notPrivate = new Set(
  (
    'about afp blob chrome data facetime file filesystem ftp ftps gopher imap intent jar javascript ldap ldaps mailto mhtml nfs ' +
    'resource sftp sip sips smb sms ssh tel telnet urn vbscript view-source ws wss'
  ).split(' '),
);

/** What is wrong with it. Good are https elsewhere, http to this machine (RFC 8252 §7.3) and own schemes (§7.1). */
export function redirectUriFault(uri: string): string | undefined {
  if (uri.length > longestRedirect) return `must be at most ${longestRedirect} characters long`;
  // Whatever a URL parser drops or turns around, so that what is compared is what the browser is sent to.
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\"<>^`{|}]/.test(uri)) return 'must be written in the characters of a URI';
  const url = URL.parse(uri);
  if (!url) return 'must be absolute URIs';
  if (uri.includes('#')) return 'must have no fragment';
  if (uri.includes('*')) return 'must have no wildcard';
  if (url.username !== '' || url.password !== '' || /^[^/?]*\/\/[^/?]*@/.test(uri)) return 'must have no user name';
  if (url.protocol === 'https:') {
    return isLoopback(url.hostname) ? 'must use http for a loopback address' : undefined;
  }
  if (url.protocol === 'http:') {
    return isLoopback(url.hostname) ? undefined : 'must use https, or http with a loopback address';
  }
  const scheme = url.protocol.slice(0, -1);
  // Windows answers to many schemes of the shape ms-something, and several were a way into the machine.
  if (notPrivate.has(scheme) || /^(?:ms|search|chrome|moz|safari)-/.test(scheme)) return `must not use ${scheme}:`;
  return uri.length === url.protocol.length ? 'must say more than a scheme' : undefined;
}

/** `native` lets a loopback URI have any port, and an own scheme be used. Clients often declare it wrong. */
export function applicationType(redirectUris: readonly string[]): 'native' | 'web' {
  return redirectUris.every((uri) => new URL(uri).protocol === 'https:') ? 'web' : 'native';
}

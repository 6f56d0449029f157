import { scopes as allScopes, type Scope } from '../../contract/issuer/index.ts';

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** @param hostname as URL writes it. */
export function isLoopback(hostname: string): boolean {
  return loopback.has(hostname);
}

/**
 * Whether an RFC 8707 resource indicator means the MCP endpoint. Clients send it as it is, with a slash at the end, or the
 * bare origin; on a loopback address they may know us by another of its names.
 */
export function isOurResource(indicator: string, resource: string): boolean {
  if (indicator === resource) return true;
  if (!URL.canParse(indicator)) return false;
  const asked = new URL(indicator);
  const ours = new URL(resource);
  if (asked.username !== '' || asked.password !== '' || asked.search !== '' || asked.hash !== '') return false;
  const bothLoopback = isLoopback(asked.hostname) && isLoopback(ours.hostname);
  if (asked.protocol !== ours.protocol || asked.port !== ours.port) return false;
  if (asked.hostname !== ours.hostname && !bothLoopback) return false;
  const path = asked.pathname.replace(/\/$/, '');
  return path === '' || path === ours.pathname;
}

export const everyScope: string = allScopes.join(' ');

/** The scopes we have of those named, in the order of the contract; the others are nothing to us and no error. */
export function knownScopes(text: string): readonly Scope[] {
  const named = new Set(text.split(' '));
  return allScopes.filter((scope) => named.has(scope));
}

/** What the library gets of a request. Without `openid` it would refuse OpenID's parameters (`nonce`, `max_age` …). */
const passed = new Set(
  (
    'client_id redirect_uri response_type response_mode scope state resource code_challenge code_challenge_method prompt ' +
    // For the library to refuse by name.
    'request request_uri registration'
  ).split(' '),
);

/** Our scopes alone, or all; one name for the MCP endpoint. What comes twice stays twice, for the library to refuse. */
export function authorizationQuery(query: string, resource: string): string {
  const asked = new URLSearchParams(query);
  const params = new URLSearchParams([...asked].filter(([name]) => passed.has(name)));
  if (params.getAll('scope').length < 2)
    params.set('scope', knownScopes(params.get('scope') ?? '').join(' ') || everyScope);
  const resources = canonicalResources(params.getAll('resource'), resource);
  params.delete('resource');
  for (const each of resources) params.append('resource', each);
  // We always ask; so all that a prompt can tell us is that we may not.
  const prompts = params.getAll('prompt');
  if (prompts.length < 2 && !prompts[0]?.split(' ').includes('none')) params.delete('prompt');
  // Any other mode would be answered by a page with a script in it.
  if (params.has('response_mode') && params.get('response_mode') !== 'query')
    params.set('response_mode', 'unsupported');
  return params.toString();
}

/** Each resource of ours by its one name, once; others as they are. */
export function canonicalResources(indicators: readonly string[], resource: string): readonly string[] {
  return [...new Set(indicators.map((each) => (isOurResource(each, resource) ? resource : each)))];
}

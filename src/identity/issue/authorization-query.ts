import { isOurResource, everyScope, knownScopes } from './scopes.ts';

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

import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { product } from '../gateway/wiring/product.ts';
import { ask, isPrivate, timeoutMs } from './ask.ts';

/** An MCP endpoint and the authorization server it names, found as MCP clients find them. */
export interface Endpoint {
  readonly url: string;
  readonly authorizationServer: string;
  readonly tokenUrl: string;
  readonly signsPeopleIn: boolean;
}

const protectedResource = z.object({ resource: z.string(), authorization_servers: z.tuple([z.url()]).rest(z.url()) });
const authorizationServer = z.object({
  issuer: z.string(),
  token_endpoint: z.url(),
  authorization_endpoint: z.url().optional(),
  response_types_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
});

/** Follows the endpoint's refusal to its authorization server. Throws with what is missing and what to do. */
export async function discover(url: string): Promise<Endpoint> {
  const { status, headers } = await ask(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });
  if (status !== 401) throw noEndpoint(url, status);
  const [, metadataUrl] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
  if (metadataUrl === undefined || !URL.canParse(metadataUrl)) {
    throw broken(`${url} refuses a call without saying where a token is had.`, 'It is no endpoint of this gateway.');
  }
  const resource = protectedResource.safeParse((await ask(metadataUrl)).body);
  if (!resource.success) {
    throw broken(
      `${metadataUrl} is not the metadata of an MCP endpoint.`,
      'Does a proxy keep /.well-known/ to itself?',
    );
  }
  if (resource.data.resource !== url) {
    throw broken(
      `The gateway at ${url} calls itself ${resource.data.resource}; clients refuse that.`,
      `Use --url ${resource.data.resource}, or set publicUrl in its configuration.`,
    );
  }
  const [issuer] = resource.data.authorization_servers;
  const found = await authorizationServerOf(issuer);
  return {
    url,
    authorizationServer: issuer,
    tokenUrl: found.token_endpoint,
    signsPeopleIn:
      found.authorization_endpoint !== undefined &&
      found.response_types_supported?.includes('code') === true &&
      found.code_challenge_methods_supported?.includes('S256') === true,
  };
}

/** RFC 8414 §3.1 puts the well-known part before the issuer's path, OpenID discovery after it. */
async function authorizationServerOf(issuer: string): Promise<z.output<typeof authorizationServer>> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of new Set(places)) {
    const found = authorizationServer.safeParse((await ask(place)).body);
    if (found.success && found.data.issuer === issuer) return found.data;
  }
  throw broken(
    `The authorization server ${issuer} does not answer for itself.`,
    'Look whether authUrl is what clients see, and whether a proxy keeps /.well-known/ to itself.',
  );
}

/** Exchanges an API key. Throws `invalid_token` where it is refused. */
export async function exchangeKey(
  { tokenUrl }: Pick<Endpoint, 'tokenUrl'>,
  clientId: string,
  clientSecret: string,
): Promise<string> {
  if (!isPrivate(tokenUrl)) {
    throw broken(`${tokenUrl} is not https: the secret would cross the network in the open.`, 'Put TLS before it.');
  }
  const answer = await ask(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  const token = z.object({ access_token: z.string() }).safeParse(answer.body);
  if (token.success) return token.data.access_token;
  if (answer.status === 401 || answer.status === 400) {
    throw new SightlineError('invalid_token', `The gateway refuses the key ${clientId}.`, {
      hint: 'Is SIGHTLINE_CLIENT_SECRET its secret? sightline key list names the keys, key rotate gives a new secret.',
    });
  }
  throw broken(`The token exchange answered ${answer.status}.`, 'Try again; sightline doctor says what is wrong.');
}

/** Lists the tools with the official client, which no other command loads; with the revision that it negotiated. */
export async function listTools(
  { url }: Endpoint,
  token: string,
): Promise<{ readonly revision: string; readonly tools: readonly string[] }> {
  const { Client, SdkHttpError, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(
    { name: 'sightline-connect', version: product.version },
    { versionNegotiation: { mode: 'auto' } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }), { timeout: timeoutMs });
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs });
    return { revision: client.getNegotiatedProtocolVersion() ?? '', tools: tools.map(({ name }) => name) };
  } catch (cause) {
    const answered = SdkHttpError.isInstance(cause) ? `it answered ${cause.status}` : firstLine(cause);
    throw new SightlineError('unavailable', `The official MCP client cannot list the tools at ${url}: ${answered}.`, {
      cause,
      hint: 'Try again; sightline doctor says what is wrong.',
    });
  } finally {
    await client.close();
  }
}

function firstLine(thrown: unknown): string {
  const [line = ''] = (thrown instanceof Error ? thrown.message : '').split('\n', 1);
  return line.slice(0, 200).replace(/[.\s]+$/, '') || 'no answer';
}

function noEndpoint(url: string, status: number): SightlineError {
  if (status === 404) return broken(`There is no MCP endpoint at ${url}.`, 'Its path ends in /mcp.');
  if (status === 403) {
    return broken(
      `${url} answered 403: the Host that reaches the gateway is not one it serves.`,
      'Have the proxy pass the Host that was asked, or name the other one in allowedHosts.',
    );
  }
  return broken(
    `${url} answered ${status} to a call without a token, where an MCP endpoint that wants one answers 401.`,
    'Is it the right URL? Does a proxy answer for the gateway?',
  );
}

function broken(message: string, hint: string): SightlineError {
  return new SightlineError('unavailable', message, { hint });
}

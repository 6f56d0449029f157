import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { callTool } from '../../test/support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../../test/support/gateway.ts';
import { secret } from './support/issuer.ts';
import { startStandIn, type StandIn } from './support/stand-in.ts';

/* Whole gateways, from outside. */

const alice = { sub: 'alice', email: 'alice@acme.com', email_verified: true, name: 'Alice' };

let directory = '';
let provider: StandIn;
let gateway: RunningGateway | undefined;
beforeEach(async () => {
  directory = await temporaryDirectory();
  provider = await startStandIn();
});
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  await provider.stop();
  await removeDirectory(directory);
});

async function serve(issuer: object): Promise<RunningGateway> {
  const file = join(directory, 'sightline.config.json');
  const section = {
    plugin: 'oidc',
    issuer: provider.issuer,
    clientId: 'sightline',
    clientSecret: secret,
    userinfo: false,
  };
  await writeFile(file, JSON.stringify({ issuer: { ...section, ...issuer } }));
  const { code, stderr } = await sightline(directory, ['org', 'create', 'Acme']);
  if (code !== 0) throw new Error(stderr);
  gateway = await startGateway(directory, { args: ['--no-demo', '--config', file] });
  return gateway;
}

/** A browser at the gateway: keeps its cookies, follows nothing. */
function browserAt(url: string) {
  const cookies = new Map<string, string>();
  return async (path: string): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, url), { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
}

/** What the provider answers to whom the gateway sent there: the way back. */
async function provided(departure: Response): Promise<string> {
  const response = await fetch(departure.headers.get('location') ?? '', { redirect: 'manual' });
  return response.headers.get('location') ?? '';
}

describe('a gateway whose people sign in at the provider', () => {
  it('makes the account by domain, shows it signed in, and takes the answer in no other browser', async () => {
    provider.says.idToken = alice;
    const { url, output } = await serve({ memberships: [{ organization: 'Acme', emailDomain: 'acme.com' }] });
    const browser = browserAt(url);
    expect(await (await browser('/sign-in')).text()).toContain('Sign in with your company');
    const back = await provided(await browser('/sign-in/start?return_to=/account'));
    expect(back.startsWith(`${url}/sign-in/callback?`)).toBe(true);
    const stranger = await browserAt(url)(back);
    expect(stranger.status).toBe(403);
    const arrived = await browser(back);
    expect([arrived.status, arrived.headers.get('location')]).toEqual([303, '/account']);
    expect(await (await browser('/account')).text()).toContain('alice@acme.com');
    expect((await browser(back)).status).toBe(403);
    for (const hidden of [secret, 'code=', 'eyJ']) expect(output()).not.toContain(hidden);
  });

  it('turns away whom no rule lets in, and says so', async () => {
    provider.says.idToken = { ...alice, email_verified: false };
    const { url } = await serve({ memberships: [{ organization: 'Acme', emailDomain: 'acme.com' }] });
    const browser = browserAt(url);
    const arrived = await browser(await provided(await browser('/sign-in/start')));
    expect(arrived.status).toBe(403);
    expect(await arrived.text()).toContain('does not vouch for an e-mail address');
  });

  it('starts while the provider is down, and says that it is', async () => {
    await provider.pause();
    const { url } = await serve({});
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const answer = await browserAt(url)('/sign-in/start');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('cannot be reached');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('gives a token for an ID-JAG of the provider, and takes nothing from the person by it', async () => {
    const clientSecret = 'of the agent: 0123456789abcdef0123456789';
    const registered = [
      { clientId: 'agent', clientName: 'Agent', redirectUris: ['https://agent.example/callback'], clientSecret },
    ];
    provider.says.idToken = { ...alice, groups: ['sre'] };
    const { url } = await serve({
      memberships: [{ organization: 'Acme', role: 'admin', group: 'sre' }],
      enterpriseManaged: { enabled: true },
      clients: { registered },
    });
    const browser = browserAt(url);
    await browser(await provided(await browser('/sign-in/start')));
    const assert = async (claims: object) =>
      fetch(`${url}/oauth2/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`agent:${encodeURIComponent(clientSecret)}`).toString('base64')}`,
        },
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: await provider.mint(
            {
              sub: 'alice',
              aud: url,
              resource: `${url}/mcp`,
              client_id: 'agent',
              scope: 'incidents:read',
              jti: crypto.randomUUID(),
              ...claims,
            },
            { typ: 'oauth-id-jag+jwt' },
          ),
        }),
      });
    const answer = await assert({});
    if (!answer.ok) throw new Error(await answer.text());
    const { access_token: token } = z.object({ access_token: z.string() }).parse(await answer.json());
    expect((await callTool(url, token, 'list_incidents', {})).isError).toBe(false);
    expect((await assert({ sub: 'somebody else' })).status).toBe(400);
    expect(await (await browser('/members')).text()).toContain('alice@acme.com');
  });
});

describe('a gateway that takes the tokens of the provider', () => {
  it('sends clients there, admits by group and keeps API keys', async () => {
    const { url } = await serve({
      mode: 'resource-server',
      memberships: [{ organization: 'Acme', group: 'sre' }],
      accessTokens: { scopes: { 'read-all': ['incidents:read', 'chats:read'] } },
    });
    const call = (token: string, tool = 'list_incidents') => callTool(url, token, tool, {});
    const anonymous = await call('x');
    expect(anonymous.status).toBe(401);
    const metadata: unknown = await (await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(metadata).toMatchObject({ resource: `${url}/mcp`, authorization_servers: [provider.issuer] });

    const claims = { ...alice, aud: `${url}/mcp`, azp: 'claude', scope: 'read-all', groups: ['sre'] };
    expect((await call(await provider.mint(claims))).isError).toBe(false);
    expect((await call(await provider.mint({ ...claims, aud: 'other' }))).status).toBe(401);
    expect((await call(await provider.mint({ ...claims, sub: 'bob', email: 'bob@acme.com', groups: [] }))).status).toBe(
      403,
    );
    expect((await call(await provider.mint({ ...claims, scope: 'openid' }))).status).toBe(403);
    const key = await exchange(url, await createKey(directory, 'Acme'));
    expect((await call(key)).isError).toBe(false);
  });

  it('calls no token bad while the provider is down', async () => {
    await provider.pause();
    const { url } = await serve({ mode: 'resource-server' });
    const token = await provider.mint({ ...alice, aud: `${url}/mcp`, azp: 'claude', scope: 'incidents:read' });
    expect((await callTool(url, token, 'list_incidents', {})).status).toBe(503);
  });
});

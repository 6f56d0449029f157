import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { newId } from '../src/contract/core/index.ts';
import { expired, selfSigned, type Certificate } from './support/certificate.ts';
import { listen } from './support/listen.ts';
import { Sandbox } from './support/cli.ts';

const report = z.object({
  ok: z.boolean(),
  checks: z.array(z.object({ check: z.string(), status: z.string(), detail: z.string(), hint: z.string().optional() })),
});

describe('what lies outside the gateway', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.create();
  });
  afterEach(() => box.remove());

  const write = (config: object) => writeFile(join(box.directory, 'sightline.config.json'), JSON.stringify(config));

  it('is asked by config check --online and by doctor, and said with what to do', async () => {
    const { url } = await box.serve('--no-demo');
    // The address of somebody else: a proxy in front of nothing.
    const stranger = createServer((_request, response) => response.writeHead(403).end());
    const port = await listen(stranger);
    try {
      await write({ publicUrl: `http://127.0.0.1:${port}` });
      const checked = await box.run('config', 'check', '--online', '--json');
      const { ok, checks } = report.parse(JSON.parse(checked.stdout));
      expect([checked.code, ok]).toEqual([1, false]);
      expect(checks.map(({ check }) => check)).toEqual(['agent', 'publicUrl']);
      expect(checks[1]).toMatchObject({ status: 'fail', hint: expect.stringContaining('allowedHosts') });

      await write({ publicUrl: url });
      const doctor = report.parse(JSON.parse((await box.run('doctor', '--json')).stdout));
      const found = doctor.checks.find(({ check }) => check === 'publicUrl');
      expect(found).toMatchObject({ status: 'ok', detail: expect.stringContaining(`${url}/mcp`) });
    } finally {
      stranger.close();
    }
  });

  it('names organizations of the config that there are not', async () => {
    await write({
      scim: {
        organizations: [
          { organization: 'Acmee', emailDomain: 'acme.example' },
          { organization: 'ACME', emailDomain: 'acme.test' },
        ],
      },
      issuer: {
        plugin: 'oidc',
        issuer: 'https://idp.invalid',
        clientId: 'x',
        clientSecret: 'x',
        memberships: ['acme', 'globex'].map((organization) => ({ organization, emailDomain: 'acme.example' })),
      },
    });
    await box.run('org', 'create', 'acme');
    const { checks } = report.parse(JSON.parse((await box.run('doctor', '--json')).stdout));
    const said = checks.filter(({ check }) => check === 'scim.organizations' || check === 'issuer.memberships');
    expect(said).toEqual([
      {
        check: 'scim.organizations',
        status: 'warn',
        detail: expect.stringContaining('no organization "Acmee",'),
        hint: expect.stringContaining('org list'),
      },
      {
        check: 'issuer.memberships',
        status: 'warn',
        detail: expect.stringContaining('no organization "globex",'),
        hint: expect.stringContaining('org list'),
      },
    ]);
  }, 60_000);

  it.each([
    ['of the environment', false],
    ['of the configuration', true],
  ])('is asked through the proxy %s, and a forgotten trustProxy is told', async (_where, configured) => {
    const { proxy, port, asked } = await deadEnd();
    try {
      await write({
        publicUrl: 'https://sightline.invalid',
        issuer: { plugin: 'oidc', issuer: 'https://idp.invalid', clientId: 'x', clientSecret: 'not-to-be-said' },
        agent: {
          plugin: 'llm',
          provider: 'openai',
          model: 'm',
          baseUrl: 'https://model.invalid/v1',
          apiKey: 'not-to-be-said',
        },
        ...(configured && { network: { proxy: `http://127.0.0.1:${port}` } }),
      });
      // The one of the environment is not there.
      const env = configured
        ? { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:9' }
        : { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: `http://127.0.0.1:${port}` };
      const ended = await box.start(['config', 'check', '--online', '--json', '--data', box.data], env).ended;
      expect(ended.code).toBe(1);
      const { checks } = report.parse(JSON.parse(ended.stdout));
      expect(asked).toEqual(expect.arrayContaining(['idp.invalid:443', 'model.invalid:443', 'sightline.invalid:443']));
      expect(checks.map(({ check, status }) => `${check} ${status}`)).toEqual([
        'identity provider fail',
        'agent fail',
        'trustProxy warn',
        'publicUrl warn',
      ]);
      expect(ended.stdout + ended.stderr).not.toContain('not-to-be-said');
    } finally {
      proxy.close();
    }
  });

  it.each([
    ['key list', '/keys'],
    ['ingest tokens', '/ingest/tokens'],
    ['scim list', '/scim-tokens'],
  ])('looks up the members for %s only where it prints them', async (command, route) => {
    const asked: string[] = [];
    const organization = { id: newId('org'), name: 'Acme', created_at: '2026-03-01T12:00:00Z' };
    const stranger = createServer(({ url = '' }, response) => {
      asked.push(url.replace(/^.*org_[^/]*/, ''));
      response.end(JSON.stringify({ items: url.endsWith('/organizations') ? [organization] : [] }));
    });
    const there = ['--url', `http://127.0.0.1:${await listen(stranger)}`, '--token', 'x'];
    try {
      expect((await box.run(...command.split(' '), '--json', ...there)).stdout).toBe('[]\n');
      expect(asked.filter((path) => !path.endsWith('/organizations'))).toEqual([route]);
      await box.run(...command.split(' '), ...there);
      expect(asked).toContain('/people');
    } finally {
      stranger.close();
    }
  });

  it("reaches a webhook's receiver through the proxy", async () => {
    const { proxy, port, asked } = await deadEnd();
    try {
      await write({ network: { proxy: `http://127.0.0.1:${port}` } });
      await box.run('org', 'create', 'acme');
      const added = await box.run('webhook', 'add', 'https://hooks.invalid/sightline', '--org', 'acme', '--json');
      const { id } = z.object({ id: z.string() }).parse(JSON.parse(added.stdout));
      const tested = await box.run('webhook', 'test', id, '--org', 'acme');
      expect([tested.code, asked]).toEqual([1, ['hooks.invalid:443']]);
    } finally {
      proxy.close();
    }
  });

  it.each([
    [
      'an unknown authority',
      selfSigned('localhost'),
      {},
      'is of an authority that is not known',
      /network\.ca, or in NODE_EXTRA_CA_CERTS/,
    ],
    ['an authority that network.ca names', selfSigned('localhost'), { configured: true }, undefined, /^/],
    ['an authority that NODE_EXTRA_CA_CERTS names', selfSigned('localhost'), { inEnvironment: true }, undefined, /^/],
    ['2023, which has expired', expired('localhost'), { configured: true }, 'has expired', /Renew it/],
    ['another host', selfSigned('idp.example'), { configured: true }, 'is for another host', /Use a host name/],
  ] as const)('is asked over TLS, with a certificate of %s', async (_of, certificate, trusted, refusal, repair) => {
    const [configured, inEnvironment] = ['configured' in trusted, 'inEnvironment' in trusted];
    await withProvider(certificate, async (issuer) => {
      const authority = join(box.directory, 'authority.pem');
      await writeFile(authority, certificate.cert);
      await write({
        issuer: { plugin: 'oidc', issuer, clientId: 'x', clientSecret: 'not-to-be-said' },
        agent: {
          plugin: 'llm',
          provider: 'openai',
          baseUrl: `${issuer}/v1`,
          apiKey: 'not-to-be-said',
          model: 'm',
        },
        ...(configured && { network: { ca: ['authority.pem'] } }),
      });
      const env: Record<string, string> = inEnvironment ? { NODE_EXTRA_CA_CERTS: authority } : {};
      const ended = await box.start(['config', 'check', '--online', '--json', '--data', box.data], env).ended;
      const { checks } = report.parse(JSON.parse(ended.stdout));
      const [provider] = checks;
      const model = checks.find(({ check }) => check === 'agent');
      if (refusal === undefined) {
        expect(provider?.detail).toBe(`${issuer}/.well-known/openid-configuration answers, and calls itself ${issuer}`);
        expect([ended.code, provider?.status, model?.status]).toEqual([0, 'ok', 'ok']);
      } else {
        expect([ended.code, provider?.status, model?.status]).toEqual([1, 'fail', 'fail']);
        for (const found of [provider, model]) {
          expect(found?.detail).toContain(`the server's certificate ${refusal}`);
          expect(`${found?.detail} ${found?.hint}`).toMatch(repair);
        }
      }
      expect(ended.stdout + ended.stderr).not.toContain('not-to-be-said');
    });
  });
});

/** An identity provider and a model on this machine, by TLS. */
async function withProvider(certificate: Certificate, work: (issuer: string) => Promise<void>): Promise<void> {
  let issuer = '';
  const answers: Readonly<Record<string, () => object>> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/jwks': () => ({ keys: [] }),
  };
  const answer: RequestListener = (request, response) => {
    const body = answers[request.url ?? '']?.();
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  };
  const server = createTlsServer(certificate, answer);
  issuer = `https://localhost:${await listen(server)}`;
  try {
    await work(issuer);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** A proxy that reaches nobody, and notes who was asked for. */
async function deadEnd() {
  const asked: (string | undefined)[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    asked.push(request.url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  return { proxy, port: await listen(proxy), asked };
}

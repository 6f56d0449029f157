import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { leaksIn } from './support/leaks.ts';
import { listen } from './support/listen.ts';
import { createPerson, password } from './support/people.ts';
import { Person } from './support/person.ts';
import { until } from './support/workers.ts';

/*
 * One gateway at its most verbose does all that handles a secret, well and badly, and its log is searched for each of them.
 * A plugin of an operator's own that writes its secret shows that the search finds one.
 */

const redirect = 'http://127.0.0.1:41414/callback';
const random = (name: string): string => `${name}-${randomBytes(18).toString('hex')}`;

/** From the configuration and the environment. */
const configured = {
  masterKey: randomBytes(32).toString('base64'),
  exportHeader: random('export-header'),
  clientSecret: random('configured-client-secret'),
} as const;
const planted = random('planted-by-a-plugin');

/** An alert plugin that writes a secret under a name that nobody redacts. */
const leaky = `export default {
  kind: 'alerts', name: 'leaky', apiVersion: 1,
  configSchema: { safeParse: (data) => ({ success: true, data }) },
  create(config, { logger }) {
    logger.debug({ setUp: { note: config.note, token: config.note } }, 'made');
    return { verify: () => false, normalize: () => [], instructions: () => '' };
  },
};`;

describe('the log', () => {
  let directory = '';
  let gateway: RunningGateway;
  let hook: Server;
  /** All that was used, by name. */
  const secrets: Record<string, string> = { ...configured, password };

  beforeAll(async () => {
    directory = await temporaryDirectory();
    hook = createServer((_request, response) => {
      response.writeHead(500).end('no');
    });
    const hookPort = await listen(hook);
    const config = join(directory, 'sightline.config.json');
    await writeFile(join(directory, 'leaky.mjs'), leaky);
    await writeFile(
      config,
      JSON.stringify({
        log: { level: 'debug' },
        ownTelemetry: {
          otlp: { endpoint: 'http://127.0.0.1:9', headers: { 'X-Key': '${env:EXPORT_HEADER}' }, intervalSeconds: 1 },
        },
        issuer: {
          clients: {
            registered: [
              {
                clientId: 'backoffice',
                clientName: 'Back office',
                redirectUris: [redirect],
                clientSecret: '${env:CLIENT_SECRET}',
              },
            ],
          },
        },
        alerts: [{ plugin: 'generic' }, { plugin: './leaky.mjs', note: '${env:PLANTED}' }],
      }),
    );
    const env = {
      SIGHTLINE_MASTER_KEY: configured.masterKey,
      EXPORT_HEADER: configured.exportHeader,
      CLIENT_SECRET: configured.clientSecret,
      PLANTED: planted,
      SIGHTLINE_CONFIG: config,
    };
    Object.assign(process.env, env);
    gateway = await startOne(directory, { workers: 1, env });
    await useAll(hookPort);
  }, 120_000);

  afterAll(async () => {
    await gateway.kill();
    hook.close();
    await removeDirectory(directory);
  });

  async function useAll(hookPort: number): Promise<void> {
    const { url } = gateway;
    // Keys and tokens, right and wrong.
    const key = await createKey(directory, 'acme');
    const token = await exchange(url, key);
    Object.assign(secrets, { keySecret: key.client_secret, accessToken: token, signature: token.split('.')[2] });
    Object.assign(secrets, { wrongSecret: random('wrong-secret'), wrongBearer: random('wrong-bearer') });
    await fetch(`${url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${key.client_id}:${secrets['wrongSecret']}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    await fetch(`${url}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: key.client_id,
        client_secret: `${secrets['wrongSecret']}`,
      }),
    });
    await callTool(url, `${secrets['wrongBearer']}`, 'list_chats', {});
    await callTool(url, `${token.slice(0, -4)}AAAA`, 'list_chats', {});
    // A failing call of each kind.
    await callTool(url, token, 'query_otel', { sql: 'SELEC' });
    await callTool(url, token, 'query_otel', {
      sql: "SELECT CAST('x' AS INTEGER) UNION ALL SELECT CAST(service_name AS INTEGER) FROM otel.spans",
    });
    await callTool(url, token, 'read_chat', { chat_id: 'chat_none' });
    // Telemetry.
    const ingest = await sightlineJson(directory, ['ingest', 'show', '--org', 'acme'], z.object({ token: z.string() }));
    Object.assign(secrets, { ingestToken: ingest.token, wrongIngestToken: random('wrong-ingest-token') });
    for (const sent of [ingest.token, `${secrets['wrongIngestToken']}`]) {
      for (const headers of [{ authorization: `Bearer ${sent}` }, { 'x-api-key': sent }]) {
        await fetch(`${url}/v1/logs`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"hello"}}]}]}]}',
        });
        await fetch(`${url}/v1/logs`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: '{',
        });
      }
    }
    // A person: a link, a password wrong and right, a session, a client's authorization and its tokens.
    await sightline(directory, ['org', 'create', 'acme']);
    await createPerson(gateway, { email: 'ada@acme.example', organization: 'acme', role: 'admin' });
    secrets['wrongPassword'] = random('wrong password');
    await new Person(url).signIn('ada@acme.example', secrets['wrongPassword']);
    await new Person(url).signIn(secrets['wrongPassword'], secrets['wrongPassword']);
    const person = new Person(url);
    await person.signIn('ada@acme.example', password);
    for (const cookie of person.cookies.split('; ')) {
      const [name = '', value = ''] = cookie.split('=');
      if (value.length >= 8) secrets[`cookie ${name}`] = value;
    }
    const verifier = randomBytes(32).toString('base64url');
    const state = random('state');
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: 'backoffice',
      redirect_uri: redirect,
      state,
      scope: 'telemetry:read chats:read',
      resource: `${url}/mcp`,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const back = await person.press(await person.open(`/oauth2/authorize?${asked.toString()}`), 'Allow');
    const code = back.url.searchParams.get('code') ?? '';
    const redeem = async (body: Readonly<Record<string, string>>, secret: string): Promise<unknown> => {
      const response = await fetch(`${url}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`backoffice:${secret}`)}` },
        body: new URLSearchParams(body),
      });
      return response.json();
    };
    const redeemed = { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier };
    await redeem(redeemed, `${secrets['wrongSecret']}`);
    const tokens = z
      .object({ access_token: z.string(), refresh_token: z.string() })
      .parse(await redeem(redeemed, configured.clientSecret));
    Object.assign(secrets, {
      state,
      code,
      verifier,
      refreshToken: tokens.refresh_token,
      personToken: tokens.access_token,
    });
    // The code a second time, which revokes what came of it.
    await redeem(redeemed, configured.clientSecret);
    await redeem({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }, configured.clientSecret);
    // Alerts and webhooks.
    const source = await sightline(directory, [
      'alert-source',
      'add',
      '--org',
      'acme',
      '--plugin',
      'generic',
      '--name',
      'pager',
      '--json',
    ]);
    const { secret: sourceSecret, url: sourceUrl } = z
      .object({ secret: z.string(), url: z.string() })
      .parse(JSON.parse(source.stdout));
    Object.assign(secrets, { sourceSecret, wrongSourceSecret: random('wrong-source-secret') });
    const alerts = `${url}${new URL(sourceUrl).pathname}`;
    for (const shown of [sourceSecret, `${secrets['wrongSourceSecret']}`]) {
      await fetch(alerts, {
        method: 'POST',
        headers: { authorization: `Bearer ${shown}`, 'content-type': 'application/json' },
        body: '{"title":1}',
      });
      await fetch(`${alerts}?secret=${shown}`, { method: 'POST', body: '{' });
    }
    secrets['webhookKey'] = random('webhook-key');
    const webhook = await sightlineJson(
      directory,
      ['webhook', 'add', `http://127.0.0.1:${hookPort}/hook?key=${secrets['webhookKey']}`, '--org', 'acme'],
      z.object({ secret: z.string() }),
    );
    secrets['webhookSecret'] = webhook.secret;
    await callTool(url, token, 'start_chat', { message: 'why is checkout slow?' });
    await until('the webhook was tried', () => gateway.output().includes('a webhook did not take'));
    await until('the investigation ended', () => gateway.output().includes('investigation ended'));
    await until('the export was tried', () => gateway.output().includes('own telemetry cannot be sent'));
  }

  it('holds no secret, at its most verbose, of all that were used', () => {
    expect(Object.keys(secrets).length).toBeGreaterThanOrEqual(23);
    const log = gateway.output();
    expect(log).toContain('"level":"debug"');
    // Of each kind of misuse a line is there, so that it was looked at where it would be.
    for (const said of [
      'wrong secret',
      'access token refused',
      'sign-in with a password refused',
      'a query failed',
      'webhook',
    ]) {
      expect(log).toContain(said);
    }
    expect(leaksIn(log, secrets)).toEqual([]);
  });

  it('would show one: what a plugin writes under a name of its own is found, and what it writes as a token is not there', () => {
    const log = gateway.output();
    expect(leaksIn(log, { ...secrets, planted })).toEqual(['planted']);
    expect(log).toContain('"token":"[redacted]"');
  });

  it('finds each of the secrets in any writing', () => {
    const log = gateway.output();
    for (const [name, secret] of Object.entries(secrets)) {
      const written = [secret, encodeURIComponent(secret), btoa(secret), JSON.stringify({ at: secret })];
      for (const each of written) expect(leaksIn(`${log}\n{"msg":"${each}"}`, secrets)).toContain(name);
    }
  });

  it('is JSON, and in a request every line has its id', () => {
    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) =>
        z.looseObject({ level: z.string(), time: z.iso.datetime(), msg: z.string() }).parse(JSON.parse(line)),
      );
    const inRequests = /wrong secret|access token refused|sign-in with a password refused|a query failed|an alert/;
    const told = lines.filter(({ msg }) => inRequests.test(msg));
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(told.filter((line) => !z.looseObject({ request_id: z.uuid() }).safeParse(line).success)).toEqual([]);
    // What a request only set off is not its own.
    const ended = lines.filter(({ msg }) => msg === 'investigation ended');
    expect(ended.length).toBeGreaterThan(0);
    expect(ended.filter((line) => 'request_id' in line)).toEqual([]);
  });
});

describe('a start that fails', () => {
  it.each([
    ['the storage', { storage: { plugin: 'knex', client: 'postgres', url: '${env:DSN}' } }],
    ['the warehouse', { telemetry: { plugin: 'postgres', url: '${env:DSN}', boundary: { secret: '${env:DSN}' } } }],
    ['an unknown key', { storage: { plugin: 'knex', client: 'postgres', url: '${env:DSN}', password: '${env:DSN}' } }],
  ])('because of %s says why without the password', async (_name, config) => {
    const directory = await temporaryDirectory();
    const dsnPassword = random('dsn-password');
    const file = join(directory, 'sightline.config.json');
    await writeFile(file, JSON.stringify({ log: { level: 'debug' }, ...config }));
    const env = { DSN: `postgres://sightline:${dsnPassword}@127.0.0.1:9/none?connect_timeout=1` };
    const { code, stdout, stderr } = await sightline(
      directory,
      ['serve', '--no-demo', '--port', '0', '--config', file],
      { env },
    );
    expect(code).not.toBe(0);
    expect(stderr).not.toBe('');
    expect(leaksIn(stdout + stderr, { dsnPassword })).toEqual([]);
    await removeDirectory(directory);
  });
});

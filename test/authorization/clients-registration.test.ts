import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClients, type Clients, clientSecretMatches } from '../../src/identity/issue/clients/index.ts';
import { callerOf } from '../../src/limits/network.ts';
import { createThrottle } from '../../src/limits/rate-limit.ts';
import { authorizationServerSchema, scopes } from '../../src/contract/issuer/index.ts';
import { openStore, testClock, type Clock, type TestStore } from '../issuer/support.ts';
import { listen } from '../support/listen.ts';
import { rawRequest, rawSocket, type RawAnswer } from '../support/raw-http.ts';
import { recordingLogger, stoppedClock } from './clients-support.ts';

const callback = 'https://client.example/callback';

let clock: Clock;
let store: TestStore;
let server: Server;
let port: number;
let clients: Clients;
let lines: ReturnType<typeof recordingLogger>['lines'];
let address: string | undefined;

/** What a gateway that starts anew would make of the same store. */
function open(registration: object = {}, { storage }: Pick<TestStore, 'storage'> = store): Clients {
  const recorded = recordingLogger();
  lines = recorded.lines;
  return createClients({
    config: authorizationServerSchema.parse({ clients: { registration } }).clients,
    issuer: 'https://gateway.example',
    repository: storage.directory.clients,
    buckets: () => storage.directory.buckets,
    now: clock.now,
    logger: recorded.logger,
    caller: () => '',
    network: {
      resolve: async () => [],
      connect: () => {
        throw new Error('nothing is fetched here');
      },
    },
  });
}

beforeEach(async () => {
  clock = testClock();
  store = await openStore(clock);
  clients = open();
  address = undefined;
  server = createServer((request, response) => void clients.register(request, response, address));
  port = await listen(server);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await store.close();
});

function send(body: unknown, headers: Record<string, string> = {}, method = 'POST'): Promise<RawAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return rawRequest(`http://127.0.0.1:${port}/oauth2/register`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

function member(answer: RawAnswer, name: string): string {
  const { json } = answer;
  const value: unknown = typeof json === 'object' && json !== null ? Reflect.get(json, name) : undefined;
  if (typeof value !== 'string') throw new Error(`${name} is no text in ${answer.text}`);
  return value;
}

async function register(metadata: object = {}): Promise<string> {
  return member(
    await send({ redirect_uris: [callback], token_endpoint_auth_method: 'none', ...metadata }),
    'client_id',
  );
}

describe('a registration', () => {
  it('is answered with all that was kept of it, and the client is found', async () => {
    const answer = await send({
      client_name: 'Example',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_method: 'none',
      scope: 'admin',
      org: 'org_of_another',
      client_id: 'ak_of_another',
      client_secret: 'chosen',
      registration_access_token: 'x',
    });
    const kept = {
      client_id: expect.stringMatching(/^dcr_[a-z0-9]{26}$/),
      client_name: 'Example',
      application_type: 'web',
      redirect_uris: [callback],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    };
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(answer.json).toEqual({ ...kept, scope: scopes.join(' '), client_id_issued_at: expect.any(Number) });
    const id = member(answer, 'client_id');
    expect(await open().find(id)).toEqual(kept);
    expect(await open().describe(id)).toEqual({ id, name: 'Example', known: 'registration' });
  });

  it.each([undefined, 'client_secret_basic', 'client_secret_post'])(
    'brings a secret that is kept as a hash alone (%s)',
    async (method) => {
      const answer = await send({ redirect_uris: [callback], token_endpoint_auth_method: method });
      expect(answer.json).toMatchObject({
        client_secret: expect.stringMatching(/^dcs_[A-Za-z0-9_-]{43}$/),
        client_secret_expires_at: 0,
        token_endpoint_auth_method: method ?? 'client_secret_basic',
      });
      const secret = member(answer, 'client_secret');
      const row = await store.storage.directory.clients.find(member(answer, 'client_id'));
      expect(row?.metadata).not.toContain(secret);
      expect(JSON.stringify(lines)).not.toContain(secret);
      const kept = (await clients.find(member(answer, 'client_id')))?.client_secret ?? '';
      const matches = (shown: string) => clientSecretMatches({ clientSecret: kept }, shown);
      expect([secret, kept, '', `${secret}x`].map(matches)).toEqual([true, false, false, false]);
      expect(clientSecretMatches({}, '')).toBe(false);
    },
  );

  it.each([
    ['\u3164', 'Unnamed application'],
    ['\u2800\u115F\uFFA0\uFE0F', 'Unnamed application'],
    ['\u0301\u0302', 'Unnamed application'],
    ['Claude\u3164\u3164Code', 'Claude Code'],
    [`Z${'\u0335'.repeat(50)}algo`, 'Z\u0335\u0335\u0335algo'],
    ['Tiếng Việt สวัสดีปู่ا', 'Tiếng Việt สวัสดีปู่ا'],
    ['日本語 קוד 😀', '日本語 קוד 😀'],
  ])('has a name that is seen and stays in its line: %j', async (name, shown) => {
    expect(await clients.describe(await register({ client_name: name }))).toMatchObject({ name: shown });
  });

  it('keeps no secret of a client that has none', async () => {
    const answer = await send({ redirect_uris: [callback], token_endpoint_auth_method: 'none' });
    expect(answer.json).not.toHaveProperty('client_secret');
    expect(await clients.find(member(answer, 'client_id'))).not.toHaveProperty('client_secret');
  });

  it.each([
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [callback, 'http://client.example/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://*.example/callback'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: callback }, 'invalid_redirect_uri'],
    [{ redirect_uris: undefined }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array.from({ length: 51 }, (_value, index) => `${callback}/${index}`) }, 'invalid_redirect_uri'],
    [{ token_endpoint_auth_method: 'tls_client_auth' }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: 'client_secret_jwt' }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://169.254.169.254/latest' },
      'invalid_client_metadata',
    ],
    [{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'file:///etc/passwd' }, 'invalid_client_metadata'],
    [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ response_types: ['token'] }, 'invalid_client_metadata'],
    [{ client_name: 42 }, 'invalid_client_metadata'],
  ])('is refused with the reason: %j', async (metadata, error) => {
    const answer = await send({ redirect_uris: [callback], token_endpoint_auth_method: 'none', ...metadata });
    expect(answer).toMatchObject({ status: 400, json: { error, error_description: expect.stringMatching(/\w/) } });
  });

  it.each([['{'], ['[]'], ['null'], ['"text"'], ['']])('is refused unless it is a JSON object: %s', async (text) => {
    expect(await send(text)).toMatchObject({ status: 400, json: { error: 'invalid_client_metadata' } });
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/jsonx', ''])(
    'is refused as %s, which any page may send without asking',
    async (type) => {
      const answer = await send({ redirect_uris: [callback] }, { 'content-type': type });
      expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_client_metadata' } });
    },
  );

  it('has at most 16 kB, whether its length was told or not', async () => {
    const large = { redirect_uris: [callback], pad: 'x'.repeat(16_384) };
    expect(await send(large)).toMatchObject({ status: 413, headers: { connection: 'close' } });
    const text = JSON.stringify(large);
    const received = await rawSocket(port, [
      'POST /oauth2/register HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      `${text.length.toString(16)}\r\n${text}\r\n`,
    ]);
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('may come from any page in a browser', async () => {
    const asked = await send('', { origin: 'https://inspector.example' }, 'OPTIONS');
    expect(asked).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': expect.stringContaining('Content-Type'),
      },
    });
    for (const body of [{ redirect_uris: [callback] }, {}]) {
      expect(await send(body)).toMatchObject({ headers: { 'access-control-allow-origin': '*' } });
    }
  });

  it('is made by POST alone', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect(await send('', {}, method)).toMatchObject({ status: 405, headers: { allow: 'POST, OPTIONS' } });
    }
  });

  it('is told to come back when nothing can be kept, and the log has the reason', async () => {
    await store.storage.stop();
    expect(await send({ redirect_uris: [callback] })).toMatchObject({
      status: 503,
      json: { error: 'temporarily_unavailable' },
      headers: { 'retry-after': '2' },
    });
    expect(lines.map(({ level }) => level)).toEqual(['error']);
  });

  it('cannot be made where it is switched off, and the metadata does not announce it', async () => {
    expect(await clients.metadata()).toHaveProperty('registration_endpoint', 'https://gateway.example/oauth2/register');
    const id = await register();
    clients = open({ enabled: false });
    expect(await send({ redirect_uris: [callback] })).toMatchObject({ status: 404 });
    expect(await clients.metadata()).not.toHaveProperty('registration_endpoint');
    // Who registered before stays.
    expect(await clients.find(id)).toMatchObject({ client_id: id });
  });

  it('that the store gives back damaged is no client', async () => {
    await store.storage.directory.clients.register(
      { id: 'dcr_01hzx0000000000000000000aa', metadata: '{"client_id":1}', createdAt: clock.now() },
      10,
    );
    expect(await clients.find('dcr_01hzx0000000000000000000aa')).toBeUndefined();
    expect(lines.map(({ level }) => level)).toEqual(['error']);
  });
});

describe('a flood of registrations', () => {
  it('is stopped at one address, by its network, and spares the others', async () => {
    const statuses = new Map<number, number>();
    for (let index = 0; index < 60; index += 1) {
      address = `2001:4860::${index.toString(16)}`;
      const { status, headers } = await send({ redirect_uris: [callback] });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect([...statuses]).toEqual([
      [201, 30],
      [429, 30],
    ]);
    address = '198.51.100.7';
    expect(await send({ redirect_uris: [callback] })).toMatchObject({ status: 201 });
    address = '2001:4860::1';
    clock.advance(60_000);
    expect(await send({ redirect_uris: [callback] })).toMatchObject({ status: 201 });
  });

  it('is stopped at one address over all gateways, also by one that just started', async () => {
    const gateways = [clients, open({}, { storage: await store.another() })];
    const statuses = new Map<number, number>();
    for (let index = 0; index < 60; index += 1) {
      clients = gateways[index % 2] ?? clients;
      const { status } = await send({ redirect_uris: [callback] });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([
      [201, 30],
      [429, 30],
    ]);
    clients = open();
    const { status, headers } = await send({ redirect_uris: [callback] });
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    // What was refused is not counted.
    clock.advance(60_000);
    expect(await send({ redirect_uris: [callback] })).toMatchObject({ status: 201 });
  });

  it('of a thousand from forty addresses leaves a newcomer’s way in', async () => {
    const statuses = new Map<number, number>();
    for (let index = 0; index < 1_000; index += 1) {
      address = `203.0.113.${index % 40}`;
      const { status } = await send({ redirect_uris: [callback] });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([[201, 1_000]]);
    address = '198.51.100.8';
    expect(await send({ redirect_uris: [callback] })).toMatchObject({ status: 201 });
  });

  it('leaves the table bounded, and every client that was used where it is', async () => {
    const most = 100;
    clients = open({ unusedClients: most });
    let caller = 0;
    const flood = async (times: number) => {
      const statuses = new Set<number>();
      const ids: string[] = [];
      for (let index = 0; index < times; index += 1) {
        address = `10.0.${(caller >> 8) & 255}.${(caller += 1) & 255}`;
        const answer = await send({ redirect_uris: [callback] });
        statuses.add(answer.status);
        if (answer.status === 201) ids.push(member(answer, 'client_id'));
      }
      return { statuses, ids };
    };
    const kept = async (ids: readonly string[]) =>
      (await Promise.all(ids.map((id) => clients.find(id)))).filter((client) => client !== undefined).length;

    const used: string[] = [];
    for (let index = 0; index < 20; index += 1) {
      address = `192.0.2.${index}`;
      const id = await register();
      await clients.markUsed(id);
      used.push(id);
    }
    const first = await flood(4 * most);
    expect([first.ids.length, await kept(first.ids), await kept(used)]).toEqual([most, most, used.length]);
    expect(first.statuses).toEqual(new Set([201, 503]));

    clock.advance(15 * 60_000 + 1);
    const second = await flood(4 * most);
    expect([second.ids.length, await kept(second.ids)]).toEqual([most, most]);
    expect([await kept(first.ids), await kept(used)]).toEqual([0, used.length]);
  }, 120_000);

  it('leaves no more than a bounded number of addresses in memory, the one seen longest ago first', () => {
    const throttle = createThrottle({ perMinute: 1, burst: 1, now: stoppedClock().now });
    expect([throttle('first'), throttle('first')]).toEqual([0, 60]);
    for (let index = 0; index < 9_999; index += 1) throttle(String(index));
    expect(throttle('first')).toBe(60);
    for (let index = 0; index < 10_000; index += 1) throttle(String(index));
    expect(throttle('first')).toBe(0);
  });

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:4860:a:b:c:d:e:f', '2001:4860:a:b::/64'],
    ['2001:4860:000a:000B::1', '2001:4860:a:b::/64'],
    ['2001:4860::1', '2001:4860:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('counts %s as %s', (of, caller) => {
    expect(callerOf(of)).toBe(caller);
  });
});

describe('markUsed', () => {
  it('is for clients that registered themselves, and harmless for all others', async () => {
    for (const id of ['https://client.example/client.json', 'ak_01hzx0000000000000000000aa', 'configured', '']) {
      await expect(clients.markUsed(id)).resolves.toBeUndefined();
    }
  });
});

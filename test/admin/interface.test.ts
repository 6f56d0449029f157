import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { allOperations, placesOf, routeOf } from '../../src/gateway/admin/index.ts';
import type { Operation } from '../../src/gateway/admin/operation.ts';
import { instanceId } from '../../src/contract/storage/index.ts';
import { eventually } from '../contract/storage/stage.ts';
import { callTool } from '../support/call.ts';
import {
  createKey,
  exchange,
  main,
  removeDirectory,
  root,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../support/gateway.ts';
import { runNode } from '../support/run.ts';
import { client } from '../support/workers.ts';

type Document = Readonly<Record<string, unknown>> & { readonly paths: Readonly<Record<string, object>> };
type Operate = (parameters: object, body?: object) => Promise<{ readonly data: unknown }>;

/** What is used of packages that know OpenAPI, and nothing of us. */
const packages = {
  client: z.object({
    OpenAPIClientAxios: z.custom<
      new (options: { readonly definition: Document; readonly axiosConfigDefaults: object }) => {
        init(): Promise<Readonly<Record<string, Operate>>>;
      }
    >((value) => typeof value === 'function'),
  }),
  validator: z.object({
    Validator: z.custom<new () => { validate(document: Document): Promise<unknown> }>(
      (value) => typeof value === 'function',
    ),
  }),
};
const packageNames = { client: 'openapi-client-axios', validator: '@seriousme/openapi-schema-validator' };

let directory: string;
let gateway: RunningGateway;
let acme: string;
let globex: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  gateway = await startGateway(directory);
  const made = z.object({ id: z.string() });
  acme = (await sightlineJson(directory, ['org', 'create', 'Acme'], made)).id;
  globex = (await sightlineJson(directory, ['org', 'create', 'Globex'], made)).id;
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await removeDirectory(directory);
});

const adminKey = z.object({ id: z.string(), secret: z.string() });
const newKey = (...options: string[]) =>
  sightlineJson(directory, ['admin-key', 'create', '--name', 'terraform', ...options], adminKey);

interface Sent {
  readonly secret?: string;
  readonly body?: object | undefined;
}

async function send(method: string, path: string, { secret, body }: Sent): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, {
    method: method.toUpperCase(),
    headers: {
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: response.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text,
  };
}

/** The path of an operation in the organization. */
function pathOf(operation: Operation, organization: string): string {
  const route = routeOf(operation);
  return placesOf(route).reduce(
    (path, name) => path.replace(`{${name}}`, name === 'organization' ? organization : 'some'),
    route,
  );
}

const failure = (code: string) => expect.objectContaining({ error: expect.objectContaining({ code }) });

describe('every route of the admin interface', () => {
  let reading: string;
  let writing: string;
  let outside: string;
  /** By the path under which the organization has its own: of Globex. */
  let foreigners: Readonly<Record<string, readonly string[]>>;
  beforeAll(async () => {
    outside = (await newKey('--all-organizations')).secret;
    const made = z.looseObject({ id: z.string().optional(), client_id: z.string().optional() });
    const make = async (path: string, body?: object) => {
      const answer = await send('post', `/organizations/Globex${path}`, { secret: outside, body });
      const { id, client_id: clientId } = made.parse(answer.body);
      return id ?? clientId ?? '';
    };
    await send('post', '/organizations/Globex/ingest/rotate', { secret: outside });
    const { items } = z
      .object({ items: z.array(z.looseObject({ id: z.string() })) })
      .parse((await send('get', '/organizations/Globex/ingest/tokens', { secret: outside })).body);
    foreigners = {
      '/keys': [await make('/keys', { name: 'theirs' })],
      '/ingest/tokens': items.map(({ id }) => id),
      '/alert-sources': [await make('/alert-sources', { plugin: 'generic', name: 'Theirs' }), 'Theirs'],
      '/webhooks': [await make('/webhooks', { url: 'https://hooks.example.com/x' })],
      '/people': [await make('/people', { email: 'eve@globex.example', role: 'admin' }), 'eve@globex.example'],
      '/scim-tokens': [await make('/scim-tokens')],
    };
    reading = (await newKey('--org', 'Acme', '--scopes', 'admin:read')).secret;
    writing = (await newKey('--org', 'Acme', '--scopes', 'admin:write')).secret;
  });

  it.each(allOperations.map((operation) => [operation.id, operation] as const))(
    '%s needs a key, its scope and its organization',
    async (_, operation) => {
      const { method, scope, of } = operation;
      const own = pathOf(operation, acme);
      const denied = await send(method, own, {});
      expect([denied.status, denied.body]).toEqual([401, failure('invalid_token')]);
      const unscoped = await send(method, own, { secret: scope === 'admin:read' ? writing : reading });
      expect([unscoped.status, unscoped.body]).toEqual([403, failure('insufficient_scope')]);
      const secret = scope === 'admin:read' ? reading : writing;
      if (of === 'organization') {
        for (const other of [globex, 'Globex', 'nobody']) {
          const foreign = await send(method, pathOf(operation, other), { secret });
          expect(foreign).toEqual({
            status: 404,
            body: failure('not_found'),
          });
          // In the same words as one that is not there.
          expect(JSON.stringify(foreign.body)).toBe(
            JSON.stringify({
              error: { code: 'not_found', message: `There is no organization ${JSON.stringify(other)}.` },
            }),
          );
        }
      }
      if (operation.instanceOnly === true) {
        const bound = await send(method, own, { secret });
        expect([bound.status, bound.body]).toEqual([403, failure('forbidden')]);
      } else if (of === 'instance') {
        // Of all organizations by its path, and so by its answer of the key's own.
        const bound = await send(method, own, { secret });
        expect([bound.status, typeof bound.body]).toEqual([200, operation.lines ? 'string' : 'object']);
        expect(JSON.stringify(bound.body)).toContain(acme);
        expect(JSON.stringify(bound.body)).not.toMatch(new RegExp(`${globex}|Globex|${instanceId}`));
        if ('organization' in operation.input.shape) {
          for (const other of [globex, 'Globex', instanceId, 'nobody']) {
            const foreign =
              method === 'post'
                ? await send(method, own, { secret, body: { organization: other } })
                : await send(method, `${own}?organization=${other}`, { secret });
            expect(foreign).toEqual({ status: 404, body: failure('not_found') });
          }
        }
      }
    },
  );

  const naming = allOperations.filter(({ of, path }) => of === 'organization' && placesOf(path).length > 0);
  it.each(naming.map((operation) => [operation.id, operation] as const))(
    '%s changes nothing of another organization that is named',
    async (_, operation) => {
      const [area = ''] = operation.path.split(`/{${placesOf(operation.path)[0]}}`);
      const foreign = foreigners[area];
      if (foreign === undefined) throw new Error(`nothing of another organization for ${operation.path}`);
      const { method, path } = operation;
      for (const named of foreign) {
        const asked = `/organizations/Acme${path.replace(/\{\w+\}/, named)}`;
        expect(await send(method, asked, { secret: writing })).toEqual({ status: 404, body: failure('not_found') });
      }
      const list = await send('get', `/organizations/Globex${area}`, { secret: outside });
      for (const named of foreign) expect(JSON.stringify(list.body)).toContain(named);
    },
  );
});

describe('a key of the admin interface', () => {
  it('opens nothing else, and nothing else opens it', async () => {
    const { secret } = await newKey('--org', 'Acme');
    const refused = await callTool(gateway.url, secret, 'list_incidents', {});
    expect(refused.status).toBe(401);
    const api = await createKey(directory, 'Acme');
    const token = await exchange(gateway.url, api);
    for (const other of [token, api.client_secret, `${secret}x`, 'ads_x']) {
      const answer = await send('get', `/organizations/${acme}/keys`, { secret: other });
      expect([answer.status, answer.body]).toEqual([401, failure('invalid_token')]);
    }
  });

  it('is kept as a hash, ends with the request after it is revoked, and leaves records of both and of each call', async () => {
    const { id, secret } = await newKey('--org', 'Acme');
    expect((await send('get', `/organizations/Acme/people`, { secret })).status).toBe(200);
    await sightlineJson(directory, ['admin-key', 'revoke', id], z.object({ revoked: z.literal(true) }));
    expect((await send('get', `/organizations/Acme/people`, { secret })).status).toBe(401);
    const reader = await newKey('--org', 'Acme');
    await send('post', `/organizations/Globex/keys`, { secret: reader.secret, body: { name: 'x' } });
    const records = z.array(z.looseObject({ type: z.string(), event: z.string().optional() }));
    // A call is on the disk a moment after its answer.
    for (let attempt = 0; ; attempt += 1) {
      const { body } = await send('get', `/organizations/Acme/audit`, { secret: reader.secret });
      const lines = records.parse(
        String(body)
          .trim()
          .split('\n')
          .map((line): unknown => JSON.parse(line)),
      );
      const told = lines.filter(({ subject, target }) => subject === id || target === id || subject === reader.id);
      const seen = told.map(
        ({ event, target, outcome }) => `${String(event)} ${target === id ? 'it' : String(target)} ${String(outcome)}`,
      );
      const all = [
        'admin_key.created it ok',
        'admin.call listPeople ok',
        'admin_key.revoked it ok',
        'admin.call createKey not_found',
      ];
      if (attempt < 50 && all.some((one) => !seen.includes(one))) continue;
      expect(seen).toEqual(expect.arrayContaining(all));
      expect(String(body)).not.toContain(secret);
      expect(lines.at(-1)).toMatchObject({ type: 'end', problems: 0 });
      break;
    }
  });

  it('of all organizations leaves records of calls that name none, which verify and are exported', async () => {
    const { id, secret } = await newKey('--all-organizations');
    expect((await send('get', '/organizations', { secret })).status).toBe(200);
    expect((await send('post', '/people/nobody/disable', { secret })).status).toBe(404);
    expect((await send('get', '/organizations/nowhere/keys', { secret })).status).toBe(404);
    const records = z.looseObject({
      organization: z.string(),
      event: z.string(),
      target: z.string(),
      outcome: z.string(),
    });
    const told = async () =>
      (await sightline(directory, ['audit', 'export', '-', '--org', instanceId])).stdout
        .trim()
        .split('\n')
        .map((line) => z.looseObject({}).parse(JSON.parse(line)))
        .filter((line) => line['type'] === 'record' && (line['subject'] === id || line['target'] === id))
        .map((line) => records.parse(line));
    await eventually(async () => (await told()).length === 4);
    expect(
      (await told()).map(({ organization, event, target, outcome }) =>
        [organization, event, target === id ? 'it' : target, outcome].join(' '),
      ),
    ).toEqual([
      `${instanceId} admin_key.created it ok`,
      `${instanceId} admin.call listOrganizations ok`,
      `${instanceId} admin.call disablePerson not_found`,
      `${instanceId} admin.call listKeys not_found`,
    ]);
    const verified = await sightlineJson(
      directory,
      ['audit', 'verify'],
      z.looseObject({ ok: z.boolean(), heads: z.array(z.looseObject({ organization: z.string() })) }),
    );
    expect([verified.ok, verified.heads.some(({ organization }) => organization === instanceId)]).toEqual([true, true]);
    expect((await sightline(directory, ['org', 'list', '--deleted'])).stdout).not.toContain(instanceId);
    const other = await newKey('--org', 'Acme');
    const verify = (body: object) => send('post', '/audit/verification', { secret: other.secret, body });
    expect(await verify({})).toMatchObject({ status: 200, body: { organizations: 1, problem_count: 0 } });
    for (const organization of ['Globex', instanceId]) expect((await verify({ organization })).status).toBe(404);
    expect((await send('get', `/organizations/${instanceId}/audit`, { secret })).status).toBe(404);
    expect((await send('get', `/organizations/${instanceId}/audit`, { secret: other.secret })).status).toBe(404);
  });

  it('ends with its organization, and is not taken for one of all', async () => {
    await sightlineJson(directory, ['org', 'create', 'Initrode'], z.looseObject({}));
    const { secret } = await newKey('--org', 'Initrode');
    expect((await send('get', '/organizations', { secret })).status).toBe(200);
    await sightlineJson(directory, ['org', 'delete', 'Initrode', '--yes'], z.looseObject({ deleted: z.literal(true) }));
    for (const path of ['/organizations', '/organizations/Initrode/keys', `/organizations/${acme}/keys`]) {
      expect((await send('get', path, { secret })).status).toBe(401);
    }
    await sightlineJson(directory, ['org', 'restore', 'Initrode'], z.looseObject({}));
    expect((await send('get', '/organizations', { secret })).status).toBe(200);
  });

  it('is told what is wrong with a request', async () => {
    const { secret } = await newKey('--org', 'Acme');
    const path = '/organizations/Acme/keys';
    for (const [body, code, status] of [
      [{ name: 'x', scopes: ['everything'] }, 'invalid_argument', 400],
      [{ name: 'x', more: 1 }, 'invalid_argument', 400],
      [{}, 'invalid_argument', 400],
      [{ name: 'x'.repeat(70_000) }, 'payload_too_large', 413],
    ] as const) {
      expect(await send('post', path, { secret, body })).toEqual({ status, body: failure(code) });
    }
    expect(
      (
        await send('post', `/organizations/Acme/invitations`, {
          secret,
          body: { email: 'a@b.example', organization: 'Globex' },
        })
      ).status,
    ).toBe(400);
    // Where a body may be large: neither what keeps the parser busy for seconds, nor what makes a million mistakes.
    for (const [known, told] of [
      ['['.repeat(2_000_000), 'nests deeper'],
      [`[${'1,'.repeat(1_000_000)}1]`, 'more entries'],
    ] as const) {
      const response = await fetch(`${gateway.url}/admin/v1/audit/verification`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: `{"known":${known}}`,
      });
      expect(await response.text()).toContain(told);
    }
    expect((await send('patch', path, { secret })).status).toBe(405);
    expect((await send('get', '/organizations/Acme/nothing', { secret })).status).toBe(404);
    expect((await send('get', `${path}?x=1`, { secret })).status).toBe(400);
    expect((await send('post', `${path}?name=x`, { secret, body: { name: 'x' } })).status).toBe(400);
    expect((await send('get', '/organizations/%ff/keys', { secret })).status).toBe(400);
  });

  it('goes on with the connection behind a body that is too large', async () => {
    const { secret } = await newKey('--org', 'Acme');
    const kept = client(gateway.url, { keepAlive: true });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const make = async (name: string): Promise<number> =>
      (await kept.post('/admin/v1/organizations/Acme/keys', headers, JSON.stringify({ name }))).status;
    try {
      expect(await make('x'.repeat(300_000))).toBe(413);
      expect(await make('')).toBe(400);
    } finally {
      kept.close();
    }
  });

  it('is slowed down, and another is not', async () => {
    const [first, second] = [await newKey('--org', 'Acme'), await newKey('--org', 'Globex')];
    const statuses = await Promise.all(
      Array.from({ length: 250 }, async () => (await send('get', '/organizations', { secret: first.secret })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await send('get', '/organizations', { secret: second.secret })).status).toBe(200);
  });
});

describe('the OpenAPI document', () => {
  const read = async (): Promise<Document> => {
    const response = await fetch(`${gateway.url}/admin/v1/openapi.json`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the validator below is what checks it
    return (await response.json()) as Document;
  };

  it('is valid OpenAPI 3.1, with an operation for each route', async () => {
    const document = await read();
    const { Validator } = packages.validator.parse({ ...(await import(packageNames.validator)) });
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(ids).toHaveLength(allOperations.length);
  });

  it('makes a client that manages an organization from its first key to its last', async () => {
    const { secret } = await newKey('--all-organizations');
    const { OpenAPIClientAxios } = packages.client.parse({ ...(await import(packageNames.client)) });
    const api = new OpenAPIClientAxios({
      definition: await read(),
      axiosConfigDefaults: { baseURL: `${gateway.url}/admin/v1`, headers: { authorization: `Bearer ${secret}` } },
    });
    const client = await api.init();
    const called = new Set<string>();
    const ask = async (id: string, parameters: object = {}, body?: object): Promise<unknown> => {
      const operation = client[id];
      if (operation === undefined) throw new Error(`the document has no ${id}`);
      called.add(id);
      return (await operation({ ...parameters }, body)).data;
    };
    const call = async (...asked: Parameters<typeof ask>) =>
      z.record(z.string(), z.unknown()).parse(await ask(...asked));
    const { id: organization } = await call('createOrganization', {}, { name: 'Initech' });
    const here = { organization };
    const person = await call('createPerson', here, { email: 'ada@initech.example', role: 'admin' });
    expect(person['password_url']).toMatch(/\/password\?token=/);
    expect(await call('invitePerson', here, { email: 'bob@initech.example' })).toMatchObject({ role: 'member' });
    expect(await call('listPeople', here)).toMatchObject({ items: [{ email: 'ada@initech.example', role: 'admin' }] });
    const ada = { person: 'ada@initech.example' };
    await call('disablePerson', ada);
    expect(await call('listPeople', here)).toMatchObject({ items: [{ enabled: false }] });
    await call('enablePerson', ada);
    expect((await call('createPasswordLink', ada))['url']).toMatch(/\/password\?token=/);
    const linked = new RegExp(
      `"event":"password.link_created","subject":"adk_[^"]*","[^{}]*"target":"${String(person['id'])}"`,
    );
    expect(String(await ask('exportAudit', here))).toMatch(linked);

    const key = z.object({ client_id: z.string(), client_secret: z.string() });
    const made = key.parse(await call('createKey', here, { name: 'ci', scopes: ['incidents:read'] }));
    const token = await exchange(gateway.url, made);
    expect((await callTool(gateway.url, token, 'list_incidents', {})).isError).toBe(false);
    const named = { ...here, client_id: made.client_id };
    const rotated = key.parse(await call('rotateKey', named));
    await call('retireKeySecret', named);
    await exchange(gateway.url, rotated);
    await call('rotateKey', named);
    await call('discardKeySecret', named);
    await call('pauseKey', named);
    expect(await call('listKeys', here)).toMatchObject({ items: [{ paused_at: expect.any(String) }] });
    await call('resumeKey', named);
    await call('revokeKey', named);
    expect((await callTool(gateway.url, token, 'list_incidents', {})).status).toBe(401);
    expect(await call('listKeys', here)).toEqual({ items: [] });

    const source = await call('addAlertSource', here, { plugin: 'generic', name: 'Pager' });
    expect(source['url']).toMatch(new RegExp(`^${gateway.url}/alerts/als_`));
    await call('rotateAlertSource', { ...here, source: 'Pager' });
    await call('removeAlertSource', { ...here, source: 'Pager' });
    expect(await call('listAlertSources', here)).toEqual({ items: [] });

    const shown = await call('showIngest', here);
    const { previous } = await call('rotateIngestToken', here);
    await call('revokeIngestToken', { ...here, id: previous });
    expect(await call('listIngestTokens', here)).toMatchObject({ items: [expect.anything()] });
    expect((await call('showIngest', here))['token']).not.toBe(shown['token']);

    const hook = await call('addWebhook', here, { url: 'http://127.0.0.1:9/none?key=1' });
    await expect(call('testWebhook', { ...here, id: hook['id'] })).rejects.toMatchObject({ response: { status: 503 } });
    expect(await call('listWebhooks', here)).toMatchObject({ items: [{ address: 'http://127.0.0.1:9' }] });
    await call('removeWebhook', { ...here, id: hook['id'] });
    await call('removePerson', { ...here, ...ada }).catch((error: unknown) =>
      expect(error).toMatchObject({ response: { status: 409 } }),
    );

    const provider = z.object({ id: z.string(), address: z.string(), token: z.string() });
    const scim = provider.parse(await call('createScimToken', here));
    const provision = async () =>
      (await fetch(`${scim.address}/Users`, { headers: { authorization: `Bearer ${scim.token}` } })).status;
    expect(await call('listScimTokens', here)).toMatchObject({
      items: [{ id: scim.id, last_four: scim.token.slice(-4) }],
    });
    const taken = await provision();
    await call('revokeScimToken', { ...here, id: scim.id });
    expect(taken).not.toBe(401);
    expect(await provision()).toBe(401);

    const bob = await call('createPerson', here, { email: 'bob@initech.example' });
    expect(await call('showPerson', { person: 'bob@initech.example' })).toMatchObject({
      id: bob['id'],
      organizations: [{ id: organization, name: 'Initech', role: 'member' }],
    });
    const carl = await call('createPerson', here, { email: 'carl@initech.example' });
    await call('removePerson', { ...here, person: carl['id'] });
    const alone = { id: carl['id'], email: 'carl@initech.example', name: 'carl@initech.example', enabled: true };
    expect(await call('listPeopleOfNone')).toEqual({ items: [alone] });
    const about = String(await ask('exportPerson', { person: bob['id'] }));
    expect(about).toMatch(/^\{"type":"account","id":"usr_/);
    expect(about).toContain('"event":"person.joined"');
    expect(about).toMatch(/"event":"person.exported","subject":"adk_/);
    expect(about).not.toContain('ada@');
    await expect(call('deletePerson', { person: ada.person })).rejects.toMatchObject({ response: { status: 409 } });
    expect(await call('deletePerson', { person: bob['id'], chats: 'keep' })).toMatchObject({ id: bob['id'] });
    await expect(call('exportPerson', { person: bob['id'] })).rejects.toMatchObject({ response: { status: 404 } });

    expect(await call('showOrganization', here)).toMatchObject({ name: 'Initech', members: 1, keys: 0 });
    expect(String(await ask('exportAudit', here))).toMatch(/"event":"person.deleted".*\n[^]*"type":"end"/);
    const { until } = await call('deleteOrganization', here);
    await expect(call('showOrganization', here)).rejects.toMatchObject({ response: { status: 404 } });
    expect(JSON.stringify(await call('listOrganizations'))).not.toContain(String(organization));
    expect(await call('listDeletedOrganizations')).toEqual({ items: [{ id: organization, name: 'Initech', until }] });
    const whole = String(await ask('exportWholeAudit', { organization: 'Initech' }));
    expect(whole).toContain('"event":"organization.deleted"');
    expect(whole).not.toContain(instanceId);
    expect(String(await ask('exportWholeAudit'))).toContain(instanceId);
    const verified = await call('verifyAudit', {}, { organization: 'Initech' });
    expect(verified).toMatchObject({ organizations: 1, problem_count: 0, problems: [] });
    const known = z
      .array(z.looseObject({ seq: z.int() }))
      .min(1)
      .parse(verified['heads']);
    const later = known.map((head) => Object.assign(head, { seq: head.seq + 1_000 }));
    expect(await call('verifyAudit', {}, { known: later })).toMatchObject({ problem_count: later.length });
    expect(await call('restoreOrganization', { name: 'initech' })).toEqual({ id: organization, name: 'Initech' });
    expect(await call('showOrganization', here)).toMatchObject({ members: 1 });
    expect([...called].toSorted()).toEqual(allOperations.map(({ id }) => id).toSorted());
  });
});

describe('the command line', () => {
  const answer = z.looseObject({ id: z.string().optional(), client_id: z.string().optional() });

  const lists = z.array(answer);
  const kept = z.looseObject({ deleted: z.literal(false) });
  const gone = z.looseObject({ deleted: z.literal(true) });
  let elsewhere: string;
  let there: readonly string[];
  beforeAll(async () => {
    elsewhere = await temporaryDirectory();
    there = ['--url', gateway.url, '--token', (await newKey('--all-organizations')).secret];
  });
  afterAll(() => removeDirectory(elsewhere));
  /** A data directory that holds nothing: what is answered comes from the gateway. */
  const remotely = <Shape extends z.ZodType>(shape: Shape, ...command: string[]) =>
    sightlineJson(elsewhere, [...command, ...there], shape);
  const both = async (shape: z.ZodType, ...command: string[]): Promise<void> => {
    const here = await sightlineJson(directory, command, shape);
    expect(await remotely(shape, ...command)).toEqual(here);
  };

  it('does over HTTP what it does on the storage, and says so in the same way', async () => {
    const made = await sightlineJson(
      elsewhere,
      ['key', 'create', '--org', 'Globex', '--name', 'ci', '--scopes', 'all', ...there],
      answer,
    );
    await sightlineJson(
      elsewhere,
      ['alert-source', 'add', '--org', 'Globex', '--plugin', 'generic', '--name', 'Pager', ...there],
      answer,
    );
    await sightlineJson(
      elsewhere,
      ['webhook', 'add', 'https://hooks.example.com/x', '--org', 'Globex', ...there],
      answer,
    );
    const ada = ['--email', 'ada@globex.example', '--org', 'Globex'];
    await sightlineJson(elsewhere, ['user', 'create', ...ada, '--role', 'admin', ...there], answer);
    await both(lists, 'org', 'list');
    await both(lists, 'key', 'list', '--org', 'Globex');
    await both(lists, 'alert-source', 'list', '--org', 'Globex');
    await both(lists, 'webhook', 'list', '--org', 'Globex');
    await both(lists, 'user', 'list', '--org', 'Globex');
    await both(answer, 'ingest', 'show', '--org', 'Globex');
    await both(answer, 'user', 'disable', 'ada@globex.example');
    await sightlineJson(elsewhere, ['key', 'rotate', made.client_id ?? '', ...there], answer);
    await sightlineJson(elsewhere, ['key', 'revoke', made.client_id ?? '', ...there], answer);
    await both(lists, 'key', 'list', '--org', 'Globex');
  });

  it('does so with people and what provisions them', async () => {
    const bob = 'bob@globex.example';
    await remotely(answer, 'user', 'create', '--email', bob, '--org', 'Globex');
    await both(kept, 'user', 'delete', bob);
    await both(lists, 'user', 'list');
    const about = join(elsewhere, 'bob.jsonl');
    await remotely(answer, 'user', 'export', bob, about);
    expect(await readFile(about, 'utf8')).toMatch(/^\{"type":"account".*bob@globex.example/);
    await remotely(gone, 'user', 'delete', bob, '--yes');
    const { id = '' } = await remotely(answer, 'scim', 'create', '--org', 'Globex');
    await both(lists.min(1), 'scim', 'list', '--org', 'Globex');
    await remotely(answer, 'scim', 'revoke', id, '--org', 'Globex');
  });

  it('does so with organizations and the audit', async () => {
    await remotely(answer, 'org', 'create', 'Hooli');
    await both(kept, 'org', 'delete', 'Hooli');
    await remotely(gone, 'org', 'delete', 'Hooli', '--yes');
    await both(lists.min(1), 'org', 'list', '--deleted');
    const file = join(elsewhere, 'audit.jsonl');
    const exported = z.looseObject({ records: z.number().min(1), problems: z.literal(0) });
    await remotely(exported, 'audit', 'export', file, '--org', 'Hooli', '--from', '2026-01-01');
    const whole = z.looseObject({ ok: z.literal(true) });
    await sightlineJson(directory, ['audit', 'verify', file], whole);
    const heads = join(elsewhere, 'heads.json');
    const verified = await remotely(whole.extend({ heads: z.array(z.looseObject({})).min(1) }), 'audit', 'verify');
    const [head] = verified.heads;
    // As many as an instance of years has.
    const many = Array.from({ length: 20_000 }, () => head);
    await writeFile(heads, JSON.stringify({ heads: [...verified.heads, ...many] }));
    await remotely(whole.extend({ organizations: z.literal(1) }), 'audit', 'verify', '--org', 'Hooli');
    await remotely(whole, 'audit', 'verify', '--since', heads);
    const sent = await sightline(elsewhere, ['audit', 'verify', file, ...there]);
    expect([sent.code, sent.stderr]).toEqual([2, expect.stringContaining('master key')]);
    await remotely(answer, 'org', 'restore', 'Hooli');
  });

  it('is refused as the interface refuses, and sends its secret nowhere in the clear', async () => {
    const { secret } = await newKey('--org', 'Acme', '--scopes', 'admin:read');
    const asked = async (url: string, token: string | undefined, ...command: string[]): Promise<string> => {
      const { code, stderr } = await runNode([
        main,
        ...command,
        '--json',
        '--data',
        directory,
        '--url',
        url,
        ...(token === undefined ? [] : ['--token', token]),
      ]);
      expect(code).not.toBe(0);
      expect(stderr).not.toContain(secret);
      return stderr;
    };
    expect(
      await asked(gateway.url, secret, 'key', 'create', '--org', 'Acme', '--name', 'x', '--scopes', 'all'),
    ).toContain('insufficient_scope');
    expect(await asked(gateway.url, secret, 'key', 'list', '--org', 'Globex')).toContain('not_found');
    const ours = await sightlineJson(elsewhere, ['user', 'list', '--url', gateway.url, '--token', secret], lists);
    expect(ours.filter((person) => person['org'] !== 'Acme')).toEqual([]);
    expect(await asked(gateway.url, 'ads_wrong', 'org', 'list')).toContain('invalid_token');
    expect(await asked(gateway.url, undefined, 'org', 'list')).toContain('needs an admin key');
    expect(await asked('http://gateway.example', secret, 'org', 'list')).toContain('with https');
  });
});

it('takes the commands of docs/admin.md', async () => {
  const page = await readFile(join(root, 'docs/admin.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text);
  const { secret } = await newKey('--org', 'Acme');
  const id = (await newKey('--org', 'Acme')).id;
  const script = blocks
    .join('')
    .replaceAll(/^sightline (.*?)( #.*)?$/gm, `'${process.execPath}' '${main}' $1 --data '${directory}'`)
    .replace('adk_…', id);
  const env = { PATH: process.env['PATH'], SIGHTLINE_URL: gateway.url, SIGHTLINE_ADMIN_KEY: secret };
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], { env });
  for (const part of [`${id} is revoked.`, '{"items":', 'client_secret']) expect(stdout).toContain(part);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { createServer } from 'node:http';
import { newId, SightlineError } from '../../src/contract/core/index.ts';
import { patchGroup, wholeGroup } from '../../src/identity/scim/incoming.ts';
import { patchUser } from '../../src/identity/scim/patch.ts';
import { createScimRoutes } from '../../src/identity/scim/routes.ts';
import { readResource, writeResource } from '../../src/identity/scim/schema.ts';
import { silentLogger } from '../contract/host.ts';
import { listen } from '../support/listen.ts';
import { client } from '../support/workers.ts';
import { connect, openScim, schemas, type Provider, type Scim } from './support.ts';

describe('the SCIM endpoint', () => {
  let scim: Scim;
  beforeAll(async () => {
    scim = await openScim();
  });
  afterAll(() => scim.close());

  it('takes a SCIM token and nothing else, before it looks at anything', async () => {
    const { acme, site } = scim;
    const key = await site.storage.workspace(acme.organization.id).ingestTokens.current();
    const others = [
      '',
      'Bearer',
      'Bearer x',
      `Bearer scim_${'A'.repeat(43)}`,
      `Basic ${btoa(`scim:${acme.token}`)}`,
      `Bearer ${acme.token} x`,
      `Bearer ${acme.token.toUpperCase()}`,
      `Bearer ${key?.hash}`,
    ];
    for (const authorization of others) {
      for (const path of ['/Users', '/Schemas', '/ServiceProviderConfig', '/nothing']) {
        const answer = await acme.send('POST', path, '{', { authorization });
        expect([authorization, answer.status]).toEqual([authorization, 401]);
        expect(answer.headers.get('www-authenticate')).toMatch('Bearer');
        expect(answer.at('schemas.0')).toBe(schemas.error);
      }
    }
  });

  it('refuses a token from the request on that follows its end, and lists when it was used', async () => {
    const { site } = scim;
    const provider = await connect(site, 'Ended');
    const operator = { kind: 'operator', id: 'root', name: 'root' } as const;
    expect((await provider.send('GET', '/Users')).status).toBe(200);
    const [token] = await site.scimTokens.list(provider.organization.id);
    expect(token?.lastFour).toBe(provider.token.slice(-4));
    const stranger = site.scimTokens.revoke(scim.acme.organization.id, token?.id ?? '', operator);
    await expect(stranger).rejects.toMatchObject({ code: 'not_found' });
    expect((await provider.send('GET', '/Users')).status).toBe(200);
    await site.scimTokens.revoke(provider.organization.id, token?.id ?? '', operator);
    expect((await provider.send('GET', '/Users')).status).toBe(401);
    const events = await site.storage.workspace(provider.organization.id).audit.list({ limit: 10 });
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['scim_token.created', 'scim_token.revoked']),
    );
    expect(JSON.stringify(events)).not.toContain(provider.token);
  });

  it('says that an operator has to name the organization, where none has', async () => {
    const provider = await connect(scim.site, 'Unprovisioned');
    const answer = await provider.send('GET', '/Users');
    expect(answer.status).toBe(403);
    expect(answer.at('detail')).toMatch('scim');
  });

  it('answers at once what would keep a parser busy, in filters, paths, attributes and ids', async () => {
    const { acme } = scim;
    const made = await acme.user();
    const path = `/Users/${String(made.at('id'))}`;
    const hostile = [
      `${'(a eq 1 or b eq 2) and '.repeat(40)}c eq 3`,
      `userName eq "${'\\'.repeat(800)}`,
      '('.repeat(900),
      '['.repeat(900),
      'a.'.repeat(450),
      `${'userName eq "x" and '.repeat(40)}userName eq "x"`,
      `userName eq "x"${' '.repeat(900)}!`,
      'userName eq "x" or userName eq "y"',
      'userName pr',
      'userName',
      'userName eq "x" and',
      'constructor eq "x"',
      '__proto__ eq "x"',
    ];
    for (const text of hostile) {
      const asked = encodeURIComponent(text);
      for (const query of [`filter=${asked}`, `attributes=${asked}x!`, `excludedAttributes=(${asked}`]) {
        expect([query, (await acme.send('GET', `/Users?${query}`)).status]).toEqual([query, 400]);
      }
      expect((await acme.send('GET', `/Users/${asked}`)).status).toBe(404);
      expect((await acme.send('GET', `/Schemas/${asked}`)).status).toBe(404);
      for (const [name, operation] of Object.entries({
        filter: { op: 'replace', path: `emails[${text}].value`, value: 'x@acme.example' },
        key: { op: 'replace', value: { [`x${text}`]: 'x' } },
      })) {
        expect([name, text, (await acme.patch(path, operation)).status]).toEqual([name, text, 400]);
      }
    }
    // Values that are kept are never read as filters.
    const emails = [{ type: 'work', value: 'kept@acme.example', display: hostile[0] }];
    await acme.patch(path, { op: 'replace', path: 'emails', value: emails });
    const removed = await acme.patch(path, { op: 'remove', path: 'emails[type eq "work"]' });
    expect(removed.body).not.toHaveProperty('emails');
  });

  it('goes on with the connection behind a body that is too large', async () => {
    const { acme, site } = scim;
    const kept = client(site.authUrl, { keepAlive: true });
    const headers = { authorization: `Bearer ${acme.token}`, 'content-type': 'application/scim+json' };
    try {
      expect((await kept.post('/scim/v2/Users', headers, 'x'.repeat(2_000_000))).status).toBe(413);
      expect((await kept.post('/scim/v2/Users', headers, '{}')).status).toBe(400);
    } finally {
      kept.close();
    }
  });

  it('bounds bodies, their depth, their texts and their operations', async () => {
    const { acme } = scim;
    const made = await acme.user();
    const path = `/Users/${String(made.at('id'))}`;
    const { userName } = made.body;
    const user = { schemas: [schemas.user], userName };
    const title = { op: 'replace', path: 'title', value: 'x' };
    const answers = {
      large: await acme.send('PUT', path, `{"a":"${'x'.repeat(1_100_000)}"}`),
      deep: await acme.send('PUT', path, `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      long: await acme.send('PUT', path, { ...user, title: 'x'.repeat(5_000) }),
      much: await acme.send('PUT', path, {
        ...user,
        roles: Array.from({ length: 100 }, () => ({ value: 'x'.repeat(900) })),
      }),
      operations: await acme.patch(path, ...Array.from({ length: 101 }, () => title)),
      list: await acme.send('PUT', path, '[]'),
      text: await acme.send('PUT', path, '"x"'),
      broken: await acme.send('PUT', path, '{'),
      form: await acme.send('POST', '/Users', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      prototype: await acme.send('PUT', path, `{"userName":"x","name":{"__proto__":{"x":1}}}`),
      patched: await acme.patch(path, { op: 'add', path: 'name', value: JSON.parse('{"__proto__":{"x":1}}') }),
      path: await acme.patch(path, { op: 'add', path: '__proto__.polluted', value: 'x' }),
      constructor: await acme.patch(path, { op: 'add', path: 'constructor.prototype', value: { x: 1 } }),
      id: await acme.send('PUT', path, { ...user, userName: 'x'.repeat(300) }),
      method: await acme.send('POST', path, user),
    };
    const statuses = Object.entries(answers).map(([name, { status }]) => [name, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      large: 413,
      deep: 400,
      long: 400,
      much: 413,
      operations: 400,
      list: 400,
      text: 400,
      broken: 400,
      form: 400,
      prototype: 400,
      patched: 400,
      path: 400,
      constructor: 400,
      id: 400,
      method: 405,
    });
    for (const { body } of Object.values(answers)) expect(body).toMatchObject({ schemas: [schemas.error] });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect((await acme.send('GET', path)).at('name.familyName')).toBe(made.at('name.familyName'));
  });

  it('bounds the values of a user, as they are sent and after each operation', async () => {
    const { acme } = scim;
    const made = await acme.user();
    const path = `/Users/${String(made.at('id'))}`;
    const user = { schemas: [schemas.user], userName: made.body['userName'] };
    const roles = (count: number, name: string) =>
      Array.from({ length: count }, (_, at) => ({ value: `${name}${at}` }));
    const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`x${at}`, 0]));
    const put = async (more: object) => (await acme.send('PUT', path, { ...user, ...more })).status;
    const add = async (...values: readonly object[]) =>
      (await acme.patch(path, ...values.map((value) => ({ op: 'add', path: 'roles', value })))).status;
    expect(await put({ roles: roles(198, 'a') })).toBe(200);
    expect(await put({ roles: roles(201, 'a') })).toBe(413);
    expect(await put({ roles: roles(100, 'a'), entitlements: roles(101, 'b') })).toBe(413);
    expect(await put({ roles: [keys] })).toBe(413);
    expect(await put(keys)).toBe(413);
    expect(await put({ roles: roles(100, 'a') })).toBe(200);
    expect(await add(roles(90, 'b'), roles(90, 'b'))).toBe(200);
    expect(await add(roles(20, 'c'))).toBe(413);
    expect(await add(roles(201, 'd'))).toBe(413);
    expect((await acme.send('GET', path)).at('roles')).toHaveLength(190);
    const answer = await acme.send('POST', '/Users', {
      ...user,
      userName: 'many@acme.example',
      roles: roles(201, 'a'),
    });
    expect(answer.at('detail')).toMatch('at most 200 entries');
  });

  it('refuses what is too much before it looks at any of it, and looks at the rest a fixed number of times', () => {
    let reads = 0;
    const counted = (count: number, id: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => ({
        get value() {
          reads += 1;
          return id(at);
        },
      }));
    const readsOf = (work: () => unknown): number | string => {
      reads = 0;
      try {
        work();
      } catch {
        return `refused after ${reads}`;
      }
      return reads;
    };
    const message = (path: string, ...values: readonly unknown[]) => ({
      schemas: [schemas.patch],
      Operations: values.map((value) => ({ op: 'add', path, value })),
    });
    const emails = (count: number) => counted(count, (at) => `a${at}@acme.example`);
    expect(readsOf(() => patchUser({}, message('emails', emails(201))))).toBe('refused after 0');
    expect(readsOf(() => patchUser({}, message('emails', emails(40_000))))).toBe('refused after 0');
    expect(readsOf(() => readResource('User', { userName: 'x', emails: emails(201) }))).toBe('refused after 0');
    expect(readsOf(() => patchUser({}, message('emails', emails(100), emails(99))))).toBeLessThan(100 * 100 * 2);

    const members = (count: number) => counted(count, () => newId('scu'));
    const change = (count: number) => readsOf(() => patchGroup(message('members', members(count), members(count))));
    const whole = (count: number) => readsOf(() => wholeGroup({ displayName: 'x', members: members(count) }));
    expect([change(2_501), change(20_000), whole(5_001)]).toEqual([
      'refused after 5002',
      'refused after 0',
      'refused after 0',
    ]);
    expect(change(2_500)).toBe(Number(change(1_250)) * 2);
    expect(whole(5_000)).toBe(Number(whole(2_500)) * 2);
    const shown = (count: number) =>
      readsOf(() => writeResource('User', { id: 'x', emails: emails(count) }, '', { excluded: [] }));
    expect(shown(200)).toBe(200);
  });

  it('takes no name that leads to what all objects share', async () => {
    const { acme } = scim;
    const made = await acme.user();
    const names = ['__proto__.polluted', 'constructor.polluted', 'CONSTRUCTOR.polluted', 'manager.__proto__.polluted'];
    for (const name of names) {
      const more = { [`${schemas.enterprise}:${name}`]: 'x' };
      expect([name, (await acme.user(more)).status]).toEqual([name, 400]);
      const patched = await acme.patch(`/Users/${String(made.at('id'))}`, { op: 'add', value: more });
      expect([name, patched.status]).toEqual([name, 400]);
    }
    for (const shared of [Object.prototype, Object]) expect(Object.hasOwn(shared, 'polluted')).toBe(false);
  });

  it('keeps no password, and shows none', async () => {
    const { acme, site } = scim;
    const made = await acme.user({ password: 'correct horse battery staple' });
    expect(made.status).toBe(201);
    expect(made.text).not.toContain('battery');
    const kept = await site.storage.workspace(acme.organization.id).scim.users({ where: {}, offset: 0, limit: 100 });
    expect(JSON.stringify(kept)).not.toContain('battery');
    expect(site.log.join('\n')).not.toContain(acme.token);
  });

  it('makes a token wait that asks too often, and no other', async () => {
    const [busy, calm] = [await connect(scim.site, 'Busy'), await connect(scim.site, 'Calm')];
    const routes = createScimRoutes({
      tokens: scim.site.scimTokens,
      provisioning: () => Promise.reject(new SightlineError('forbidden', 'Not asked here.')),
      base: '',
      requestId: () => 'id',
      // A clock that stands gives nothing back.
      now: () => new Date(0),
      logger: silentLogger,
    });
    const server = createServer(express().use(routes));
    const url = `http://127.0.0.1:${await listen(server)}/Users`;
    const ask = ({ token }: Provider) => fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const statuses: number[] = [];
    for (let count = 0; count < 310; count += 1) statuses.push((await ask(busy)).status);
    expect(statuses.filter((status) => status === 403)).toHaveLength(300);
    expect(statuses.slice(300)).toEqual(Array.from({ length: 10 }, () => 429));
    expect((await ask(busy)).headers.get('retry-after')).toBe('1');
    expect((await ask(calm)).status).toBe(403);
    server.closeAllConnections();
    server.close();
  });
});

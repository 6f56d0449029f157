import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isId } from '../../src/contract/core/index.ts';
import { scopes } from '../../src/contract/issuer/index.ts';
import { exchange, tokenOf } from '../issuer/support.ts';
import type { RawAnswer } from '../support/raw-http.ts';
import { readable } from '../support/person.ts';
import type { Fields } from './support/test-browser.ts';
import { newKey } from '../contract/storage/stage.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

const list = '/integrations/api-keys';

describe('the page of API keys', () => {
  let place: Workplace;
  let admin: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
  });
  afterAll(() => place.close());

  const secretOf = (page: string): string | undefined => /aks_[\w-]{43}/.exec(page)?.[0];

  /** Makes a key; the answer is the redirect, and `page` the one it leads to. */
  async function create(fields: Fields): Promise<{ readonly answer: RawAnswer; readonly path: string }> {
    const answer = await admin.browser.submit(list, fields);
    return { answer, path: answer.headers.location ?? '' };
  }

  async function made(name: string): Promise<{ readonly path: string; readonly id: string; readonly secret: string }> {
    const { path } = await create({ name, scopes: ['telemetry:read', 'incidents:read'] });
    const secret = secretOf((await admin.browser.get(path)).text);
    if (secret === undefined) throw new Error('no secret is shown');
    return { path, id: path.slice(list.length + 1), secret };
  }

  const change = (path: string, action: string): Promise<RawAnswer> => admin.browser.submit(`${path}/${action}`, {});

  async function rotate(path: string): Promise<string> {
    const answer = await admin.browser.submit(path, {}, `${path}/rotate`);
    expect([answer.status, answer.headers.location]).toEqual([303, path]);
    return secretOf((await admin.browser.get(path)).text) ?? '';
  }

  const bearer = async (id: string, secret: string): Promise<string> =>
    tokenOf(await exchange(place.site.authUrl, { clientId: id, clientSecret: secret }));

  it('makes a key with the chosen scopes, that is exchanged for a token at once', async () => {
    const { id, secret } = await made('Nightly report');
    expect(isId('ak', id)).toBe(true);
    const principal = await place.verify(await bearer(id, secret));
    expect(principal).toMatchObject({ subject: id, organizationId: place.organization.id });
    expect([...principal.scopes]).toEqual(['telemetry:read', 'incidents:read']);
  });

  it('shows the secret until somebody says that it is copied, with the configuration of every client, and never again', async () => {
    admin.browser.cookies.delete(`${admin.browser.sessionCookie}-once`);
    const before = (await place.workspace.keys.list()).length;
    const { answer, path } = await create({ name: 'Once', scopes: [...scopes] });
    expect(answer.text).toBe('');
    const shown = await admin.browser.get(path);
    const secret = secretOf(shown.text) ?? '';
    expect(secret).not.toBe('');
    for (const title of ['Claude Code', 'Cursor', 'VS Code', 'MCP Inspector', 'CI and scripts']) {
      expect(shown.text).toContain(`<summary>${title}</summary>`);
    }
    expect(readable(shown.text)).toContain(`SIGHTLINE_CLIENT_SECRET='${secret}'`.replaceAll("'", ''));

    // Neither a prefetch nor a reload uses it up, nor a second key made in between.
    await admin.browser.get(path, { 'sec-purpose': 'prefetch' });
    const other = await create({ name: 'Twice', scopes: ['telemetry:read'] });
    expect(secretOf((await admin.browser.get(path)).text)).toBe(secret);
    expect(secretOf((await admin.browser.get(other.path)).text)).not.toBe(secret);

    const copied = await admin.browser.submit(path, {}, '/secret-copied');
    expect([copied.status, copied.headers.location]).toEqual([303, path]);
    const again = [path, list, `${path}/revoke`, '/integrations/applications', '/account'];
    const pages = await Promise.all(again.map((page) => admin.browser.get(page)));
    expect(pages.map(({ status, text }) => [status, text.includes(secret)])).toEqual(again.map(() => [200, false]));
    expect(secretOf((await admin.browser.get(other.path)).text)).toBeDefined();
    const last = await admin.browser.submit(other.path, {}, '/secret-copied');
    expect(last.headers['set-cookie']).toEqual([expect.stringMatching(/^sightline-\d+-once=; .*Max-Age=0$/)]);
    expect((await place.workspace.keys.list()).length).toBe(before + 2);
  });

  it('keeps the cookie of secrets small, however many keys are made', async () => {
    const paths: string[] = [];
    for (let made = 0; made < 10; made += 1) {
      paths.push((await create({ name: `Many ${made}`, scopes: ['telemetry:read'] })).path);
    }
    expect(admin.browser.cookies.get(`${admin.browser.sessionCookie}-once`)?.length).toBeLessThan(2_000);
    const shown = await Promise.all(paths.map(async (path) => secretOf((await admin.browser.get(path)).text)));
    expect(shown.map((secret) => secret !== undefined)).toEqual([
      false,
      false,
      ...Array.from({ length: 8 }, () => true),
    ]);
  });

  it('leaves the secret in no log line, no audit record and nothing that is kept', async () => {
    const { path, secret } = await made('Quiet');
    const second = await rotate(path);
    const audit = await place.workspace.audit.list({ limit: 1_000 });
    const kept = await place.workspace.keys.list();
    const everything = JSON.stringify([place.site.log, audit, kept]);
    expect(everything).toContain('key.created');
    for (const each of [secret, second]) expect(everything).not.toContain(each);
  });

  it('hands the secret over in a cookie that no script reads, sealed, for a quarter of an hour and for this key alone', async () => {
    const { answer, path } = await create({ name: 'Sealed', scopes: ['telemetry:read'] });
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^sightline-\d+-once=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900$/);
    expect(Buffer.from(cookie, 'base64url').toString()).not.toContain('aks_');
    const sealed = admin.browser.cookies.get(`${admin.browser.sessionCookie}-once`) ?? '';

    const other = await place.workspace.keys.list().then((keys) => keys.find(({ id }) => !path.endsWith(id)));
    expect(secretOf((await admin.browser.get(`${list}/${other?.id}`)).text)).toBeUndefined();

    // Not even another admin's browser opens it, whoever took the cookie there.
    const colleague = await place.enter('admin', 'alan@acme.example');
    colleague.browser.cookies.set(`${colleague.browser.sessionCookie}-once`, sealed);
    expect(secretOf((await colleague.browser.get(path)).text)).toBeUndefined();

    // Not the last character, of which not all bits count.
    const changed = sealed.replace(/.(?=.$)/, (one) => (one === 'A' ? 'B' : 'A'));
    admin.browser.cookies.set(`${admin.browser.sessionCookie}-once`, changed);
    expect(secretOf((await admin.browser.get(path)).text)).toBeUndefined();

    admin.browser.cookies.set(`${admin.browser.sessionCookie}-once`, sealed);
    place.site.ahead = 901_000;
    expect(secretOf((await admin.browser.get(path)).text)).toBeUndefined();
    place.site.ahead = 0;
  });

  it('rotates: both secrets work until the older is retired, whose token ends at once', async () => {
    const { path, id, secret } = await made('Rotated');
    const first = await bearer(id, secret);
    const second = await rotate(path);
    const next = await bearer(id, second);
    await Promise.all([first, next].map((token) => place.verify(token)));

    const page = readable((await admin.browser.get(path)).text);
    expect(page).toContain('Both secrets work');
    expect(page).not.toContain('Rotate:');
    for (const each of [secret, second]) expect(page).toContain(`…${each.slice(-4)}`);
    const actions = /<div class="actions">[^]*?<\/div>/.exec((await admin.browser.get(path)).text)?.[0] ?? '';
    // None of them is the button that the eye finds first.
    expect(actions.match(/class="[^"]*"/g)?.slice(1)).toEqual(Array.from({ length: 4 }, () => 'class="button quiet"'));

    expect((await change(path, 'retire')).headers.location).toBe(`${path}?done=retired`);
    await expect(place.verify(first)).rejects.toMatchObject({ code: 'invalid_token' });
    expect((await exchange(place.site.authUrl, { clientId: id, clientSecret: secret })).status).toBe(401);
    await expect(place.verify(next)).resolves.toMatchObject({ subject: id });
  });

  it('discards a newer secret that was lost, and shows it no more', async () => {
    const { path, id, secret } = await made('Lost');
    const lost = await rotate(path);
    const next = await bearer(id, lost);
    const asked = readable((await admin.browser.get(`${path}/discard`)).text);
    expect(asked).toContain(`…${secret.slice(-4)} , was never used`);
    expect((await change(path, 'discard')).headers.location).toBe(`${path}?done=discarded`);
    await expect(place.verify(next)).rejects.toMatchObject({ code: 'invalid_token' });
    expect((await admin.browser.get(path)).text).not.toContain(lost);
    await expect(place.verify(await bearer(id, secret))).resolves.toMatchObject({ subject: id });
    expect(await rotate(path)).not.toBe(lost);
  });

  it('pauses after asking, with effect on the next request, and resumes', async () => {
    const { path, id, secret } = await made('Paused');
    const token = await bearer(id, secret);
    expect(readable((await admin.browser.get(`${path}/pause`)).text)).toContain('Pause “Paused”?');
    await expect(place.verify(token)).resolves.toMatchObject({ subject: id });
    await change(path, 'pause');
    await expect(place.verify(token)).rejects.toMatchObject({ code: 'invalid_token' });
    expect(readable((await admin.browser.get(path)).text)).toContain('The key is paused since');
    expect(readable((await admin.browser.get(list)).text)).toContain('paused');
    await admin.browser.submit(path, {}, `${path}/resume`);
    await expect(place.verify(token)).resolves.toMatchObject({ subject: id });
    const events = (await place.workspace.audit.list({ limit: 50 })).filter(({ target }) => target === id);
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['key.paused', 'key.resumed']));
  });

  it('says who made a key', async () => {
    const { path } = await made('Used');
    const operators = await place.workspace.keys.create({
      ...newKey(),
      name: 'From the shell',
      createdBy: 'root',
    });
    expect(readable((await admin.browser.get(path)).text)).toContain(`by ${admin.user.name}`);
    expect(readable((await admin.browser.get(`${list}/${operators.id}`)).text)).toContain('by root (operator)');
  });

  it('ticks no scope by itself', async () => {
    expect((await admin.browser.get(list)).text).not.toMatch(/name="scopes"[^>]* checked/);
  });

  it('says in a sentence that a third secret, or retiring the only one, is not to be had', async () => {
    const { path } = await made('Conflicts');
    const csrf = await admin.browser.csrf(path);
    const none = await admin.browser.post(`${path}/retire`, { csrf });
    expect([none.status, readable(none.text)]).toEqual([409, expect.stringContaining('one active secret')]);
    await rotate(path);
    const third = await admin.browser.post(`${path}/rotate`, { csrf });
    expect([third.status, readable(third.text)]).toEqual([409, expect.stringContaining('two active secrets')]);
  });

  it('revokes after asking, and the tokens of the key end with the next request', async () => {
    const { path, id, secret } = await made('Revoked');
    const token = await bearer(id, secret);
    const asked = await admin.browser.get(`${path}/revoke`);
    expect(readable(asked.text)).toContain('Revoke “Revoked”?');
    await expect(place.verify(token)).resolves.toMatchObject({ subject: id });

    expect((await change(path, 'revoke')).headers.location).toBe(`${list}?done=revoked`);
    await expect(place.verify(token)).rejects.toMatchObject({ code: 'invalid_token' });
    expect((await admin.browser.get(path)).status).toBe(404);
    const [last] = await place.workspace.audit.list({ limit: 1 });
    expect(last).toMatchObject({ event: 'key.revoked', target: id, subject: admin.user.id, outcome: 'ok' });
  });

  it.each([
    ['no name', { name: '  ', scopes: 'telemetry:read' }, 'A key needs a name.'],
    ['a name of 101 characters', { name: 'x'.repeat(101), scopes: 'telemetry:read' }, 'at most 100 characters'],
    ['a control character', { name: 'a\u0007b', scopes: 'telemetry:read' }, 'no control characters'],
    ['no scope', { name: 'Nothing', scopes: [] }, 'Choose at least one.'],
    ['a scope that is none', { name: 'Root', scopes: 'everything' }, 'Choose from these.'],
  ])('keeps what was typed and says what is wrong with %s', async (_what, fields, problem) => {
    const before = (await place.workspace.keys.list()).length;
    const answer = await admin.browser.submit(list, fields);
    expect(answer.status).toBe(400);
    expect(readable(answer.text)).toContain(problem);
    expect((await place.workspace.keys.list()).length).toBe(before);
  });

  it('shows names as they were typed, and only as text', async () => {
    const name = '<img src=x onerror=alert(1)>"\'&`${x}';
    const { path } = await create({ name, scopes: 'telemetry:read' });
    const pages = await Promise.all([list, path, `${path}/revoke`].map((page) => admin.browser.get(page)));
    for (const { text } of pages) {
      expect(text).not.toContain('<img src=x');
      expect(readable(text)).toContain(name);
    }
  });
});

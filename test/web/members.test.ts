import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readable } from '../support/person.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

describe('the page of members', () => {
  let place: Workplace;
  let admin: Colleague;
  let member: Colleague;
  beforeEach(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
    member = await place.enter('member', 'mia@acme.example');
    await place.enter('admin', 'oskar@globex.example', place.elsewhere);
  });
  afterEach(() => place.close());

  const rolesNow = async () =>
    Object.fromEntries((await place.workspace.members.list()).map(({ user, role }) => [user.email, role]));
  const setRole = (by: Colleague, { user }: Colleague, role: string) =>
    by.browser.csrf('/account').then((csrf) => by.browser.post(`/members/${user.id}/role`, { csrf, role }));

  it('shows who belongs to the organization, and nobody else', async () => {
    for (const { browser } of [admin, member]) {
      const page = readable((await browser.get('/members')).text);
      expect(page).toContain('ada@acme.example Admin');
      expect(page).toContain('mia@acme.example Member');
      expect(page).not.toContain('globex');
    }
  });

  it('has nothing to press for a member', async () => {
    const { text } = await member.browser.get('/members');
    expect(text).not.toMatch(/action="\/members|href="\/members\//);
    expect((await admin.browser.get('/members')).text).toMatch(/action="\/members\/usr_/);
  });

  it('changes a role with the next request', async () => {
    expect((await member.browser.get('/integrations/api-keys')).status).toBe(403);
    expect((await setRole(admin, member, 'admin')).headers.location).toBe('/members');
    expect((await member.browser.get('/integrations/api-keys')).status).toBe(200);
    await setRole(member, admin, 'member');
    expect(await rolesNow()).toEqual({ 'ada@acme.example': 'member', 'mia@acme.example': 'admin' });
    expect((await admin.browser.get('/integrations/api-keys')).status).toBe(403);
    expect((await setRole(member, admin, 'owner')).status).toBe(400);
  });

  it('leaves somebody as admin, and says so', async () => {
    const answers = [
      await setRole(admin, admin, 'member'),
      await admin.browser.submit(`/members/${admin.user.id}/remove`, {}),
    ];
    for (const { status, text } of answers) {
      expect([status, readable(text)]).toEqual([409, expect.stringContaining('ada@acme.example is the only admin.')]);
    }
    expect(await rolesNow()).toEqual({ 'ada@acme.example': 'admin', 'mia@acme.example': 'member' });
  });

  it('removes after asking, with effect on the next request', async () => {
    const asked = await admin.browser.get(`/members/${member.user.id}/remove`);
    expect(readable(asked.text)).toContain('Remove mia@acme.example?');
    expect((await admin.browser.submit(`/members/${member.user.id}/remove`, {})).headers.location).toBe('/members');
    expect(await rolesNow()).toEqual({ 'ada@acme.example': 'admin' });
    expect((await member.browser.get('/incidents')).headers.location).toMatch(/^\/organizations/);
  });

  it('makes an invitation whose link is shown once, works, and stands in no log and no audit record', async () => {
    const invited = await admin.browser.submit('/members', { email: 'new@acme.example', role: 'admin' });
    const path = invited.headers.location ?? '';
    expect(path).toMatch(/^\/members\/invitations\/invt_/);
    const shown = await admin.browser.get(path);
    const link = /id="link">([^<]*)</.exec(shown.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    expect(link).toMatch(new RegExp(`^${place.site.authUrl}/invitation\\?token=`));
    const token = new URL(link).searchParams.get('token') ?? 'none';
    await admin.browser.submit(path, {}, '/secret-copied');
    const again = await Promise.all([path, '/members', `${path}/revoke`].map((page) => admin.browser.get(page)));
    expect(again.map(({ status, text }) => [status, text.includes(token)])).toEqual(again.map(() => [200, false]));
    const audit = await place.workspace.audit.list({ limit: 1_000 });
    expect(JSON.stringify([audit, place.site.log])).not.toContain(token);

    const newcomer = place.site.browser();
    const answer = await newcomer.submit(
      link.slice(place.site.authUrl.length),
      { name: 'New', password: 'a long enough pass phrase' },
      '/invitation',
    );
    expect(answer.status).toBe(303);
    expect(await rolesNow()).toMatchObject({ 'new@acme.example': 'admin' });
  });

  it.each(['ada@intranet', 'jürgen@firma.example', "o'brien+a/b@acme.example", 'ada@xn--bcher-kva.xn--p1ai'])(
    'invites %s, to which an account can be made',
    async (email) => {
      const { status, headers } = await admin.browser.submit('/members', { email, role: 'member' });
      expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/members\/invitations\/invt_/)]);
      for (const { id } of await place.workspace.invitations.list()) await place.workspace.invitations.revoke(id);
    },
  );

  it('revokes an invitation after asking, and its link ends', async () => {
    const invited = await admin.browser.submit('/members', { email: 'new@acme.example', role: 'member' });
    const path = invited.headers.location ?? '';
    const link = /id="link">([^<]*)</.exec((await admin.browser.get(path)).text)?.[1] ?? '';
    const open = link.slice(place.site.authUrl.length);
    expect((await place.site.browser().get(open)).status).toBe(200);
    expect(readable((await admin.browser.get(`${path}/revoke`)).text)).toContain(
      'Revoke the invitation for new@acme.example?',
    );
    expect((await admin.browser.submit(`${path}/revoke`, {})).headers.location).toBe('/members');
    expect((await place.site.browser().get(open)).status).toBe(404);
    expect((await admin.browser.get(path)).status).toBe(404);
  });

  it.each([
    ['no address', { email: 'nobody', role: 'member' }, 400, 'This is not an e-mail address.'],
    ['no role', { email: 'new@acme.example', role: 'owner' }, 400, 'Choose a role.'],
    ['a member', { email: 'mia@acme.example', role: 'member' }, 409, 'member'],
  ])('keeps what was typed and says what is wrong with %s', async (_what, fields, status, problem) => {
    const answer = await admin.browser.submit('/members', fields);
    expect([answer.status, readable(answer.text)]).toEqual([status, expect.stringContaining(problem)]);
    expect(answer.text).toContain(`value="${fields.email}"`);
    expect(await place.workspace.invitations.list()).toEqual([]);
  });

  it('shows names as they were given, and only as text', async () => {
    const name = '<script>alert(1)</script>"\'';
    const { id } = await place.site.storage.directory.createUser({ email: 'odd@acme.example', name });
    await place.workspace.members.add(id, 'member');
    for (const page of ['/members', `/members/${id}/remove`]) {
      const { text } = await admin.browser.get(page);
      expect(text).not.toContain('<script>alert');
      expect(readable(text)).toContain(name);
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openScim, schemas, type Scim } from './support.ts';

/*
 * The steps and assertions of Okta's published specification tests (Okta-SCIM-20-SPEC-Test.json for Runscope), and of the
 * life of a user as its SCIM 2.0 reference describes the requests.
 */
const headers = {
  accept: 'application/scim+json',
  'accept-charset': 'utf-8',
  'content-type': 'application/scim+json; charset=utf-8',
  'user-agent': 'OKTA SCIM Integration',
};

const userName = 'okta.runscope@acme.example';
const body = {
  schemas: [schemas.user],
  userName,
  name: { givenName: 'Okta', familyName: 'Runscope' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Okta Runscope',
  active: true,
};
const filtered = (value: string) => `/Users?filter=${encodeURIComponent(`userName eq "${value}"`)}`;

describe('Okta’s specification tests', () => {
  let scim: Scim;
  let id = '';
  beforeAll(async () => {
    scim = await openScim();
    await scim.acme.user();
    await scim.globex.user();
  });
  afterAll(() => scim.close());
  const get = (path: string) => scim.acme.send('GET', path, undefined, headers);

  it('Required Test: Test Users endpoint', async () => {
    const answer = await get('/Users?count=1&startIndex=1');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch('application/scim+json');
    expect(answer.body).toMatchObject({ schemas: [schemas.list], itemsPerPage: 1, startIndex: 1, totalResults: 1 });
    for (const path of ['id', 'name.familyName', 'name.givenName', 'userName', 'active', 'emails.0.value']) {
      expect([undefined, '']).not.toContain(answer.at(`Resources.0.${path}`));
    }
    id = String(answer.at('Resources.0.id'));
  });

  it('Required Test: Get Users/{{id}}', async () => {
    const answer = await get(`/Users/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.at('id')).toBe(id);
    for (const path of ['name.familyName', 'name.givenName', 'userName', 'active', 'emails.0.value']) {
      expect([undefined, '']).not.toContain(answer.at(path));
    }
  });

  it('Required Test: Test invalid User by username, and that the random user does not exist', async () => {
    for (const name of ['abcdefgh@atko.com', userName]) {
      const answer = await get(filtered(name));
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ schemas: [schemas.list], totalResults: 0 });
    }
  });

  it('Required Test: Test invalid User by ID', async () => {
    for (const unknown of ['010101001010101011001010101011', 'scu_01hx0000000000000000000000']) {
      const answer = await get(`/Users/${unknown}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ schemas: [schemas.error], status: '404' });
      expect(answer.at('detail')).toBe('There is no such user.');
    }
  });

  it('Required Test: Create Okta user with realistic values, and verify that it was created', async () => {
    const made = await scim.acme.send('POST', '/Users', body, { 'content-type': 'application/json' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ active: true, name: body.name, userName, schemas: [schemas.user] });
    id = String(made.at('id'));
    expect(made.headers.get('location')).toBe(`${scim.site.authUrl}/scim/v2/Users/${id}`);
    expect((await get(`/Users/${id}`)).body).toEqual(made.body);
    expect((await scim.acme.members()).get(userName)).toBe('member');
  });

  it('Required Test: Expect failure when recreating user with same values', async () => {
    const again = await scim.acme.send('POST', '/Users', body, { 'content-type': 'application/json' });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ schemas: [schemas.error], scimType: 'uniqueness', status: '409' });
  });

  it('Required Test: Username Case Sensitivity Check', async () => {
    const answer = await get(filtered(userName.toUpperCase()));
    expect(answer.status).toBe(200);
    expect(answer.at('totalResults')).toBe(1);
  });

  it('Optional Test: Verify Groups endpoint, and that there is no such group', async () => {
    expect((await get('/Groups')).status).toBe(200);
    expect((await get('/Groups/scg_01hx0000000000000000000000')).status).toBe(404);
  });

  it('updates by PUT, deactivates and reactivates by PATCH without a path', async () => {
    const renamed = {
      ...body,
      id,
      name: { givenName: 'Another', familyName: 'Excited' },
      displayName: 'Another Excited',
    };
    const put = await scim.acme.send('PUT', `/Users/${id}`, renamed, headers);
    expect(put.status).toBe(200);
    expect(put.at('name.givenName')).toBe('Another');
    expect((await scim.site.storage.directory.findUser(userName))?.name).toBe('Another Excited');

    const off = await scim.acme.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
    expect(off.status).toBe(200);
    expect(off.at('active')).toBe(false);
    expect(await scim.acme.members()).not.toContain(userName);
    expect((await get(filtered(userName))).at('Resources.0.active')).toBe(false);

    expect((await scim.acme.patch(`/Users/${id}`, { op: 'replace', value: { active: true } })).at('active')).toBe(true);
    expect((await scim.acme.members()).get(userName)).toBe('member');
  });

  it('pushes a group, its members and its name', async () => {
    const made = await scim.acme.send('POST', '/Groups', {
      schemas: [schemas.group],
      displayName: 'Test SCIMv2',
      members: [{ value: id, display: userName }],
    });
    expect(made.status).toBe(201);
    expect(made.at('members.0.value')).toBe(id);
    const group = `/Groups/${String(made.at('id'))}`;
    const value = { id: made.at('id'), displayName: 'Sightline Admins' };
    expect((await scim.acme.patch(group, { op: 'replace', value })).at('displayName')).toBe('Sightline Admins');
    expect((await scim.acme.members()).get(userName)).toBe('admin');
    await scim.acme.patch(group, { op: 'remove', path: `members[value eq "${id}"]` });
    expect((await scim.acme.members()).get(userName)).toBe('member');
    await scim.acme.patch(group, { op: 'add', path: 'members', value: [{ value: id, display: userName }] });
    expect((await scim.acme.members()).get(userName)).toBe('admin');
    expect((await get('/Groups?startIndex=1&count=100')).at('Resources.0.members.0.value')).toBe(id);
    expect((await scim.acme.send('DELETE', group)).status).toBe(204);
    expect((await scim.acme.members()).get(userName)).toBe('member');
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openScim, schemas, type Answer, type Scim } from './support.ts';

/*
 * The requests of Microsoft's "Develop and plan provisioning for a SCIM endpoint in Microsoft Entra ID", in its order, and the
 * cases of its SCIM validator: users and groups by create, duplicate, filter, patch and delete.
 */
const user = {
  schemas: [schemas.user, schemas.enterprise],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName: 'Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1',
  active: true,
  emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@acme.example' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
  [schemas.enterprise]: { department: 'Sales', employeeNumber: '701984' },
};

describe('the requests of Entra ID', () => {
  let scim: Scim;
  let path = '';
  const patch = (...operations: readonly object[]): Promise<Answer> => scim.acme.patch(path, ...operations);
  const find = (kind: string, filter: string, more = '') =>
    scim.acme.send('GET', `/${kind}?${more}filter=${encodeURIComponent(filter)}`);
  beforeAll(async () => {
    scim = await openScim();
    const made = await scim.acme.send('POST', '/Users', user);
    path = `/Users/${String(made.at('id'))}`;
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ ...user, meta: { resourceType: 'User' }, schemas: user.schemas });
  });
  afterAll(() => scim.close());

  it('test the connection with a user that is not there', async () => {
    const answer = await find('Users', 'userName eq "9f3cd3b0-9c5a-4a4a-8f3b-2f1d1cc9e9ab"');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ schemas: [schemas.list], totalResults: 0, Resources: [], startIndex: 1 });
  });

  it('find a user by user name, external id and address of work', async () => {
    for (const filter of [
      `userName eq "${user.userName}"`,
      `userName eq "${user.userName.toLowerCase()}"`,
      `externalId eq "${user.externalId}"`,
      `externalId eq ${user.externalId}`,
      'emails[type eq "work"].value eq "Test_User_fd0ea19b@acme.example"',
      `id eq "${path.slice('/Users/'.length)}" and userName eq "${user.userName}"`,
      `${schemas.user}:userName eq "${user.userName}"`,
    ]) {
      const answer = await find('Users', filter);
      expect([filter, answer.status, answer.at('totalResults')]).toEqual([filter, 200, 1]);
      expect(answer.at('Resources.0.userName')).toBe(user.userName);
    }
    expect((await scim.acme.send('POST', '/Users', user)).status).toBe(409);
  });

  it('update several values, as Replace, Add and Remove', async () => {
    const answer = await patch(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@shared.example' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0100' },
      { op: 'Add', path: 'addresses[type eq "work"].formatted', value: '1 Main St' },
      { op: 'Add', path: 'addresses[type eq "work"].country', value: 'DE' },
      { op: 'Add', path: `${schemas.enterprise}:manager`, value: '26118915-6090-4610-87e4-49d8ca9f808d' },
      { op: 'Replace', path: `${schemas.enterprise}:department`, value: 'Research' },
      { op: 'Remove', path: `${schemas.enterprise}:employeeNumber` },
      { op: 'Add', path: 'roles', value: [{ value: 'analyst', primary: 'True' }] },
      { op: 'Replace', path: 'Title', value: 'Dr' },
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      emails: [{ value: 'updated@shared.example', type: 'work', primary: true }],
      name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
      phoneNumbers: [{ type: 'mobile', value: '+1 555 0100' }],
      addresses: [{ type: 'work', formatted: '1 Main St', country: 'DE' }],
      roles: [{ value: 'analyst', primary: true }],
      title: 'Dr',
      [schemas.enterprise]: { department: 'Research', manager: { value: '26118915-6090-4610-87e4-49d8ca9f808d' } },
    });
    expect(answer.at(`${schemas.enterprise.split('.')[0]}`)).toBeUndefined();
    expect((await scim.acme.send('GET', path)).body).toEqual(answer.body);
    expect(await scim.acme.members()).toContainEqual(['updated@shared.example', 'member']);
    const removed = await patch(
      { op: 'Remove', path: 'phoneNumbers[type eq "mobile"]' },
      { op: 'Remove', path: 'title' },
    );
    expect(removed.body).not.toHaveProperty('title');
    expect(removed.at('phoneNumbers.0')).toBeUndefined();
  });

  it('name a manager by the id alone, or in a list of one, wherever a manager may stand', async () => {
    const id = '26118915-6090-4610-87e4-49d8ca9f808d';
    const manager = `${schemas.enterprise}:manager`;
    const named = { [schemas.enterprise]: { manager: { value: id } } };
    for (const [number, sent] of [
      { [schemas.enterprise]: { Manager: id } },
      { [schemas.enterprise]: { manager: [{ $ref: null, value: id }] } },
      { [manager]: id },
    ].entries()) {
      const person = { userName: `managed${number}@acme.example`, emails: [], ...sent };
      const made = await scim.acme.user(person);
      expect(made.body).toMatchObject(named);
      const itself = `/Users/${String(made.at('id'))}`;
      expect((await scim.acme.send('PUT', itself, { ...person, title: 'Dr' })).body).toMatchObject(named);
      expect((await scim.acme.send('DELETE', itself)).status).toBe(204);
    }
    for (const operation of [
      { path: manager, value: [{ $ref: null, value: id }] },
      { path: manager, value: [id] },
      { value: { [schemas.enterprise]: { manager: id } } },
    ]) {
      expect((await patch({ op: 'Add', ...operation })).body).toMatchObject(named);
      expect((await patch({ op: 'Remove', path: manager })).status).toBe(200);
    }
  });

  it('update values under one operation without a path', async () => {
    const value = {
      displayName: 'Given Family',
      'name.givenName': 'Given',
      'emails[type eq "home"].value': 'home@elsewhere.example',
      [`${schemas.enterprise}:department`]: 'Sales',
      [schemas.enterprise]: { division: 'EMEA' },
    };
    const answer = await patch({ op: 'Replace', value });
    expect(answer.body).toMatchObject({
      displayName: 'Given Family',
      name: { givenName: 'Given', familyName: 'updatedFamilyName' },
      [schemas.enterprise]: { department: 'Sales', division: 'EMEA' },
    });
    expect(answer.at('emails.1')).toMatchObject({ type: 'home', value: 'home@elsewhere.example' });
  });

  it('update the user name', async () => {
    const userName = '5b50642d-79fc-4410-9e90-4c077cdd1a59@acme.example';
    const answer = await patch({ op: 'Replace', path: 'userName', value: userName });
    expect(answer.status).toBe(200);
    expect((await find('Users', `userName eq "${userName}"`)).at('totalResults')).toBe(1);
    expect((await find('Users', `userName eq "${user.userName}"`)).at('totalResults')).toBe(0);
  });

  it('disable a user, with a boolean and as a text, and enable them again', async () => {
    for (const [off, on] of [
      [false, true],
      ['False', 'True'],
    ]) {
      const disabled = await patch({ op: 'Replace', path: 'active', value: off });
      expect([disabled.status, disabled.at('active')]).toEqual([200, false]);
      expect((await scim.acme.members()).size).toBe(0);
      expect((await find('Users', `externalId eq "${user.externalId}"`)).at('Resources.0.active')).toBe(false);
      // Removing what says so is no permission.
      await patch({ op: 'Remove', path: 'active' }, { op: 'Replace', path: 'nickName', value: 'x' });
      expect((await scim.acme.members()).size).toBe(0);
      expect((await patch({ op: 'Replace', path: 'active', value: on })).at('active')).toBe(true);
      expect((await scim.acme.members()).size).toBe(1);
    }
  });

  it('refuse a path that no schema has, and what a user cannot be without', async () => {
    for (const operation of [
      { op: 'Replace', path: 'frobnicate', value: 'x' },
      { op: 'Replace', path: 'urn:x:y:User:foo', value: 'x' },
      { op: 'Remove', path: 'userName' },
      { op: 'Replace', path: 'password', value: 'x' },
      { op: 'Move', path: 'title', value: 'x' },
    ]) {
      const answer = await patch(operation);
      expect([operation, answer.status, answer.at('schemas.0')]).toEqual([operation, 400, schemas.error]);
    }
    expect((await scim.acme.send('PATCH', path, { Operations: [] })).status).toBe(400);
  });

  it('create a group, find it without its members, rename it, and change its members', async () => {
    const body = {
      schemas: [schemas.group, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    };
    const made = await scim.acme.send('POST', '/Groups', body);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ displayName: 'displayName', externalId: body.externalId, members: [] });
    const group = `/Groups/${String(made.at('id'))}`;
    expect((await scim.acme.send('POST', '/Groups', body)).status).toBe(409);
    const bare = await scim.acme.send('GET', `${group}?excludedAttributes=members`);
    expect(bare.body).not.toHaveProperty('members');
    const found = await find('Groups', 'displayName eq "displayName"', 'excludedAttributes=members&');
    expect(found.at('totalResults')).toBe(1);
    expect(found.at('Resources.0')).toEqual(bare.body);

    const id = path.slice('/Users/'.length);
    const isMember = () =>
      find('Groups', `id eq "${group.slice('/Groups/'.length)}" and members eq "${id}"`, 'attributes=id&');
    const change = async (op: string, value?: object) => scim.acme.patch(group, { op, path: 'members', value });
    expect((await isMember()).at('totalResults')).toBe(0);
    expect((await change('Add', [{ $ref: null, value: id }])).status).toBe(200);
    expect((await isMember()).at('Resources.0')).toEqual({ schemas: [schemas.group], id: made.at('id') });
    expect((await scim.acme.send('GET', group)).at('members.0')).toMatchObject({ value: id, type: 'User' });
    expect((await change('Remove', [{ $ref: null, value: id }])).status).toBe(200);
    expect((await isMember()).at('totalResults')).toBe(0);
    const renamed = await scim.acme.patch(group, { op: 'Replace', path: 'displayName', value: 'Sightline Admins' });
    expect(renamed.at('displayName')).toBe('Sightline Admins');
    await change('Replace', [{ value: id }]);
    expect([...(await scim.acme.members()).values()]).toEqual(['admin']);
    await change('Remove');
    expect([...(await scim.acme.members()).values()]).toEqual(['member']);
    expect((await scim.acme.send('DELETE', group)).status).toBe(204);
    expect((await scim.acme.send('GET', group)).status).toBe(404);
    expect((await scim.acme.send('DELETE', group)).status).toBe(404);
  });

  it('discover schemas, resource types and what is supported', async () => {
    const all = await scim.acme.send('GET', '/Schemas');
    expect(all.body).toMatchObject({ schemas: [schemas.list], startIndex: 1 });
    for (const id of [schemas.user, schemas.group, schemas.enterprise]) {
      const one = await scim.acme.send('GET', `/Schemas/${id}`);
      expect([one.status, one.at('id'), one.at('meta.location')]).toEqual([
        200,
        id,
        `${scim.site.authUrl}/scim/v2/Schemas/${id}`,
      ]);
      expect(one.text).not.toContain('null');
    }
    expect((await scim.acme.send('GET', '/ResourceTypes/User')).at('endpoint')).toBe('/Users');
    expect((await scim.acme.send('GET', '/ServiceProviderConfig')).body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
      changePassword: { supported: false },
      sort: { supported: false },
      etag: { supported: false },
      authenticationSchemes: [{ type: 'oauthbearertoken' }],
    });
    for (const path of ['/Schemas/urn:x', '/Me', '/Bulk', '/.search', '/ResourceTypes/x', '/Users/a/b', '/']) {
      expect((await scim.acme.send('GET', path)).status).toBe(404);
    }
  });

  it('page through users, each once', async () => {
    for (let count = 0; count < 5; count += 1) await scim.acme.user();
    const seen: unknown[] = [];
    for (let startIndex = 1; startIndex <= 6; startIndex += 2) {
      const page = await scim.acme.send('GET', `/Users?startIndex=${startIndex}&count=2&attributes=userName`);
      expect(page.body).toMatchObject({ totalResults: 6, startIndex, itemsPerPage: 2 });
      expect(Object.keys(page.at('Resources.0') ?? {}).toSorted()).toEqual(['id', 'schemas', 'userName']);
      seen.push(page.at('Resources.0.id'), page.at('Resources.1.id'));
    }
    expect(new Set(seen).size).toBe(6);
    expect((await scim.acme.send('GET', '/Users?count=0')).body).toMatchObject({ totalResults: 6, Resources: [] });
    expect((await scim.acme.send('GET', '/Users?startIndex=-3&count=-1')).body).toMatchObject({ startIndex: 1 });
  });

  it('delete a user, who may come again', async () => {
    expect((await scim.acme.send('DELETE', path)).status).toBe(204);
    expect((await scim.acme.send('GET', path)).status).toBe(404);
    expect((await scim.acme.send('DELETE', path)).status).toBe(404);
    expect(await scim.acme.members()).not.toContain('updated@shared.example');
    expect((await scim.acme.send('POST', '/Users', user)).status).toBe(201);
  });
});

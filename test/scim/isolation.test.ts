import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, openScim, schemas, type Answer, type Provider, type Scim } from './support.ts';
import { newGrant, newKey } from '../contract/storage/stage.ts';

const idOf = (answer: Answer): string => String(answer.at('id'));

describe('two organizations that are provisioned on one gateway', () => {
  let scim: Scim;
  beforeAll(async () => {
    scim = await openScim();
  });
  afterAll(() => scim.close());

  /** All that an organization's provider sees, and its members. */
  async function all(provider: Provider): Promise<unknown> {
    const [users, groups] = [await provider.send('GET', '/Users?count=200'), await provider.send('GET', '/Groups')];
    return [users.body, groups.body, [...(await provider.members())], await recordsOf(provider)];
  }
  const recordsOf = async ({ organization }: Provider) =>
    (await scim.site.storage.workspace(organization.id).audit.list({ limit: 1_000 })).length;

  it('answer what is the other’s exactly as what is not there, by whatever it is named', async () => {
    const { acme, globex } = scim;
    const secret = { userName: 'secret@shared.example', externalId: 'secret-external-id' };
    const user = idOf(await acme.user({ ...secret, emails: [{ value: 'secret@shared.example', primary: true }] }));
    const group = idOf(
      await acme.send('POST', '/Groups', {
        schemas: [schemas.group],
        displayName: 'Secret',
        members: [{ value: user }],
      }),
    );
    const own = idOf(await globex.send('POST', '/Groups', { schemas: [schemas.group], displayName: 'Own' }));
    const before = await all(acme);
    const body = { schemas: [schemas.user], userName: 'mine@globex.example', active: false };
    const filters = [
      'userName eq "secret@shared.example"',
      'externalId eq "secret-external-id"',
      'emails.value eq "secret@shared.example"',
      'displayName eq "Secret"',
      'id eq "ID"',
      'members eq "ID"',
      'id eq "OWN" and members eq "ID"',
    ];
    const tries = (id: string, other: string): readonly (() => Promise<Answer>)[] => [
      () => globex.send('GET', `/Users/${id}`),
      () => globex.send('PUT', `/Users/${id}`, body),
      () => globex.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      () => globex.send('DELETE', `/Users/${id}`),
      () => globex.send('GET', `/Groups/${other}`),
      () => globex.send('PUT', `/Groups/${other}`, { schemas: [schemas.group], displayName: 'Mine' }),
      () => globex.patch(`/Groups/${other}`, { op: 'remove', path: `members[value eq "${id}"]` }),
      () => globex.patch(`/Groups/${other}`, { op: 'remove', path: 'members' }),
      () => globex.send('DELETE', `/Groups/${other}`),
      () => globex.patch(`/Groups/${own}`, { op: 'add', path: 'members', value: [{ value: id }] }),
      () => globex.patch(`/Groups/${own}`, { op: 'remove', path: 'members', value: [{ value: id }] }),
      () => globex.send('POST', '/Groups', { schemas: [schemas.group], displayName: 'New', members: [{ value: id }] }),
      ...filters.flatMap((filter) =>
        ['Users', 'Groups'].map((kind) => () => {
          const text = filter.replaceAll('ID', id).replace('OWN', own);
          return globex.send('GET', `/${kind}?filter=${encodeURIComponent(text)}`);
        }),
      ),
    ];
    const nobody = tries('scu_01hx0000000000000000000000', 'scg_01hx0000000000000000000000');
    for (const [index, attempt] of tries(user, group).entries()) {
      const [stranger, none] = [await attempt(), await nobody[index]?.()];
      expect([index, stranger.status, normal(stranger)]).toEqual([index, none?.status, none && normal(none)]);
      expect(stranger.text.toLowerCase()).not.toContain('secret');
    }
    expect(await all(acme)).toEqual(before);
  });

  it('each end a person in their own organization alone', async () => {
    const { acme, globex, site } = scim;
    const both = { userName: 'both@shared.example', emails: [{ value: 'both@shared.example', primary: true }] };
    const [here, there] = [await acme.user(both), await globex.user({ ...both, displayName: 'Mine now' })];
    expect([here.status, there.status]).toEqual([201, 201]);
    const account = await site.storage.directory.findUser('both@shared.example');
    expect(account?.name).toBe('Barbara Jensen');
    if (account === undefined) throw new Error('there is no account');
    const owned = await Promise.all(
      [acme, globex].map(async ({ organization }) => {
        const { token } = await site.people.openSession(account.id);
        await site.people.chooseOrganization(token, organization.id);
        const workspace = site.storage.workspace(organization.id);
        const grant = newGrant(account.id);
        await workspace.grants.create(grant);
        return { token, grant, key: await workspace.keys.create(newKey({ createdBy: account.id })) };
      }),
    );
    const alive = () =>
      Promise.all(
        owned.map(async ({ token, grant, key }) => [
          (await site.people.session(token)) !== undefined,
          (await site.storage.directory.liveGrant(grant.id)) !== undefined,
          (await site.storage.directory.keyForExchange(key.id)) !== undefined,
        ]),
      );
    await globex.patch(`/Users/${idOf(there)}`, { op: 'replace', path: 'userName', value: 'gone@globex.example' });
    await globex.patch(`/Users/${idOf(there)}`, {
      op: 'replace',
      path: 'emails',
      value: [{ value: 'gone@globex.example' }],
    });
    expect((await site.storage.directory.findUser(account.id))?.email).toBe('both@shared.example');
    await globex.patch(`/Users/${idOf(there)}`, { op: 'replace', path: 'active', value: false });
    expect(await alive()).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
    expect(await acme.members()).toContainEqual(['both@shared.example', 'member']);
    await acme.send('DELETE', `/Users/${idOf(here)}`);
    expect((await alive()).flat()).toEqual(Array.from({ length: 6 }, () => false));
    expect((await site.storage.directory.findUser(account.id))?.enabled).toBe(true);
  });

  it('speak for people of their own domains alone', async () => {
    const { acme, globex } = scim;
    const before = await all(globex);
    const address = 'owner@globex.example';
    await globex.user({ userName: address, emails: [{ value: address, primary: true }] });
    const after = await all(globex);
    expect(after).not.toEqual(before);
    for (const userName of [
      address,
      'owner@GLOBEX.example',
      'x@sub.acme.example',
      'x@acme.example@globex.example',
      'nobody',
      'x@ACME.EXAMPLE\u212A',
    ]) {
      const answer = await acme.user({ userName, emails: [{ value: userName, primary: true }] });
      expect([userName, answer.status, answer.at('schemas.0')]).toEqual([userName, 400, schemas.error]);
    }
    const own = idOf(await acme.user());
    const patched = await acme.patch(`/Users/${own}`, {
      op: 'replace',
      value: { userName: address, emails: [{ value: address }] },
    });
    expect(patched.status).toBe(400);
    expect(await all(globex)).toEqual(after);
  });

  it('never mix, whatever both ask for at once', async () => {
    const providers = [await connect(scim.site, 'Hooli'), await connect(scim.site, 'Initech')];
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const provider = providers[index % 2];
        if (provider === undefined) return;
        const { name } = provider.organization;
        const made = await provider.user({ title: name });
        expect(made.status).toBe(201);
        expect(made.at('meta.location')).toContain(scim.site.authUrl);
        const path = `/Users/${idOf(made)}`;
        await provider.patch(path, { op: 'replace', path: 'nickName', value: name });
        const filter = encodeURIComponent(`userName eq "${String(made.at('userName'))}"`);
        expect((await provider.send('GET', `/Users?filter=${filter}`)).at('Resources.0.nickName')).toBe(name);
      }),
    );
    for (const provider of providers) {
      const listed = await provider.send('GET', '/Users?count=200');
      expect(listed.at('totalResults')).toBe(20);
      const other = providers.find((each) => each !== provider)?.organization.name ?? '';
      expect(listed.text).not.toContain(other);
      expect(listed.text.toLowerCase()).not.toContain(other.toLowerCase());
    }
  });

  it('change a user from what they are: of two that overlap none undoes the other’s deactivation', async () => {
    const { acme } = scim;
    const made = await acme.user();
    const path = `/Users/${idOf(made)}`;
    const answers = await Promise.all([
      acme.patch(path, { op: 'replace', path: 'active', value: false }),
      ...Array.from({ length: 6 }, (_, index) =>
        acme.patch(path, { op: 'replace', path: 'title', value: `t${index}` }),
      ),
    ]);
    for (const { status, headers } of answers) {
      expect([200, 503]).toContain(status);
      if (status === 503) expect(headers.get('retry-after')).toBe('1');
    }
    const [off] = answers;
    const active = (await acme.send('GET', path)).at('active');
    expect(active).toBe(off?.status !== 200);
    expect((await acme.members()).has(String(made.at('userName')))).toBe(active);
  });
});

/** What an answer says, but for ids, times and addresses of what it made. */
function normal({ text }: Answer): string {
  return text.replaceAll(/sc[ug]_[0-9a-z]{26}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…');
}

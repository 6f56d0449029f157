import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ExternalIdentity } from '../../src/contract/issuer/index.ts';
import { openScim, type Scim } from './support.ts';

describe('a provisioned person who signs in at the provider', () => {
  let scim: Scim;
  beforeAll(async () => {
    scim = await openScim();
  });
  afterAll(() => scim.close());

  it('has the account of their address and the role of SCIM, and is let in no more once they have left', async () => {
    const { acme, globex, site } = scim;
    const made = await acme.user();
    const path = `/Users/${String(made.at('id'))}`;
    const email = String(made.at('userName'));
    const identity: ExternalIdentity = {
      issuer: 'https://idp.example',
      subject: 'sub-1',
      email,
      memberships: [{ organization: 'Acme', role: 'admin' }],
    };
    const user = await site.people.signInWithIdentity(identity);
    expect(user.email).toBe(email);
    expect(await acme.members()).toContainEqual([email, 'member']);
    expect(await site.people.admit({ identity })).toEqual({ userId: user.id, organizationId: acme.organization.id });

    await acme.patch(path, { op: 'replace', path: 'active', value: false });
    const forbidden = { code: 'forbidden' };
    await expect(site.people.signInWithIdentity(identity)).rejects.toMatchObject(forbidden);
    expect(await site.storage.directory.liveMember(user.id, acme.organization.id)).toBeUndefined();
    // The same rules in another organization are that one's matter.
    const elsewhere: ExternalIdentity = { ...identity, memberships: [{ organization: 'Globex', role: 'member' }] };
    expect((await site.people.signInWithIdentity(elsewhere)).id).toBe(user.id);
    expect(await globex.members()).toContainEqual([email, 'member']);

    await acme.send('DELETE', path);
    await site.people.signInWithIdentity({
      ...elsewhere,
      memberships: [...elsewhere.memberships, ...identity.memberships],
    });
    expect(await acme.members()).not.toContain(email);
    await acme.user({ userName: email, emails: [{ value: email }] });
    expect(await acme.members()).toContainEqual([email, 'member']);
    expect((await site.people.signInWithIdentity(identity)).id).toBe(user.id);
  });

  it('is let in no more after the account was deleted, and where nothing else lets them in no account is made', async () => {
    const { acme, globex, site } = scim;
    const made = await acme.user();
    const email = String(made.at('userName'));
    const own = [{ organization: 'Globex', role: 'member' } as const];
    const claims = [...own, { organization: 'Acme', role: 'member' } as const];
    const identity: ExternalIdentity = {
      issuer: 'https://idp.example',
      subject: 'sub-eve',
      email,
      memberships: claims,
    };
    const eve = await site.people.signInWithIdentity(identity);
    expect([await acme.members(), await globex.members()].map((each) => each.has(email))).toEqual([true, true]);
    await acme.patch(`/Users/${String(made.at('id'))}`, { op: 'replace', path: 'active', value: false });
    const actor = { kind: 'user', id: eve.id, name: eve.name } as const;
    await site.people.deletePerson({ userId: eve.id, chats: 'delete', actor });

    const again = await site.people.signInWithIdentity(identity);
    expect((await site.people.memberships(again.id)).map(({ organization }) => organization.name)).toEqual(['Globex']);
    await site.people.deletePerson({
      userId: again.id,
      organizationId: globex.organization.id,
      chats: 'delete',
      actor,
    });
    const refused = site.people.signInWithIdentity({ ...identity, memberships: claims.slice(1) });
    await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
    expect(await site.storage.directory.findUser(email)).toBeUndefined();

    await acme.user({ userName: email, emails: [{ value: email }] });
    await site.people.signInWithIdentity(identity);
    expect([await acme.members(), await globex.members()].map((each) => each.has(email))).toEqual([true, true]);
  });

  it('is in the export of their data', async () => {
    const { acme, site } = scim;
    const made = await acme.user({ nickName: 'Babs' });
    const user = await site.storage.directory.findUser(String(made.at('userName')));
    if (user === undefined) throw new Error('there is no account');
    const actor = { kind: 'user', id: user.id, name: user.name } as const;
    let text = '';
    for await (const line of site.people.exportPerson(user.id, { audit: false, actor })) text += line;
    expect(text).toContain('Babs');
  });
});

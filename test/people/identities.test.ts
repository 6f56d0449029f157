import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../contract/host.ts';
import type { UserId } from '../../src/contract/core/index.ts';
import type { ExternalIdentity } from '../../src/contract/issuer/index.ts';
import type { Organization } from '../../src/contract/storage/index.ts';
import { createPeople } from '../../src/identity/people/create-people.ts';
import {
  admin,
  audited,
  home,
  identity,
  openWorld,
  password,
  person,
  refusal,
  refused,
  type World,
} from './support.ts';

let world: World;
let other: Organization;
beforeEach(async () => {
  world = await openWorld();
  other = await world.store.storage.directory.createOrganization({ name: 'Other' });
});
afterEach(() => world.close());

const acme = { organization: 'Acme', role: 'member' } as const;
const enter = (overrides: Partial<ExternalIdentity> = {}, token?: string) =>
  world.people.signInWithIdentity(identity(overrides), token);
const invite = async (email: string, organization = world.organization) =>
  (await world.people.invite({ organizationId: organization.id, email, role: 'member', actor: admin })).token;
const rolesOf = async (id: Parameters<World['people']['memberships']>[0]) =>
  Object.fromEntries((await world.people.memberships(id)).map(({ organization, role }) => [organization.name, role]));
const bound = (target: object, name: string | symbol): unknown => {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
};
const accounts = async () => (await world.store.storage.directory.users()).length;

describe("an identity provider's person", () => {
  it('gets an account at the first sign-in where the provider gives a membership, and the same one from then on', async () => {
    const made = await enter({ memberships: [acme] });
    expect(made).toMatchObject({ email: 'ada@example.com', name: 'Ada' });
    const again = await enter({ memberships: [acme], email: 'renamed@example.com', name: 'Renamed' });
    expect(again.id).toBe(made.id);
    expect(await accounts()).toBe(1);
    expect((await audited(world)).map(({ event, target }) => [event, target])).toEqual([
      ['person.joined', made.id],
      ['person.signed_in', 'https://idp.example'],
      ['person.signed_in', 'https://idp.example'],
    ]);
  });

  it('gets one account from two browsers at once', async () => {
    const signedIn = await Promise.all(Array.from({ length: 5 }, () => enter({ memberships: [acme] })));
    expect(new Set(signedIn.map(({ id }) => id)).size).toBe(1);
    expect(await accounts()).toBe(1);
  });

  it('is refused, and no account made, where nothing lets them in', async () => {
    expect(await refusal(enter())).toMatchObject(refused('forbidden', 'no organization here lets you in'));
    expect(await refusal(enter({ memberships: [{ organization: 'Unknown', role: 'admin' }] }))).toMatchObject(
      refused('forbidden', 'no organization here lets you in'),
    );
    expect(await accounts()).toBe(0);
    expect(world.lines.join('\n')).toContain('names an organization that there is not');
    expect(world.lines.join('\n')).toContain('Unknown');
  });

  it('is refused without an address that the provider vouches for, until they are known', async () => {
    const { email: _none, ...anonymous } = identity({ memberships: [acme] });
    expect(await refusal(world.people.signInWithIdentity(anonymous))).toMatchObject(
      refused('forbidden', 'vouch for an e-mail address, so no account can be found or made. Ask its administrator'),
    );
    await enter({ memberships: [acme] });
    await expect(world.people.signInWithIdentity(anonymous)).resolves.toBeDefined();
  });

  it('has the memberships that the provider says at each sign-in, beside those given here', async () => {
    const { id } = await enter({ memberships: [acme, { organization: other.id, role: 'admin' }] });
    expect(await rolesOf(id)).toEqual({ Acme: 'member', Other: 'admin' });
    await enter({ memberships: [{ ...acme, role: 'admin' }] });
    expect(await rolesOf(id)).toEqual({ Acme: 'admin' });
    expect((await audited(world, other)).at(-1)).toMatchObject({
      event: 'member.removed',
      subject: 'identity-provider',
    });
    await world.people.addMember(other.id, id, 'member', admin);
    await enter({ memberships: [acme] });
    expect(await rolesOf(id)).toEqual({ Acme: 'member', Other: 'member' });
    await enter();
    expect(await rolesOf(id)).toEqual({ Other: 'member' });
  });

  it('has the higher of two roles in one organization', async () => {
    const { id } = await enter({
      memberships: [
        acme,
        { organization: 'ACME', role: 'admin' },
        { organization: world.organization.id, role: 'member' },
      ],
    });
    expect(await rolesOf(id)).toEqual({ Acme: 'admin' });
  });

  it('is out once the provider takes the last membership, sessions and all', async () => {
    const { id } = await enter({ memberships: [acme] });
    const { token } = await world.people.openSession(id);
    expect(await refusal(enter())).toMatchObject(refused('forbidden'));
    expect(await world.people.session(token)).not.toHaveProperty('membership');
  });

  it('is refused while the account is disabled, and nothing changes', async () => {
    const { id } = await enter({ memberships: [acme] });
    await world.people.setEnabled(id, false, admin);
    const more = enter({ memberships: [acme, { organization: 'Other', role: 'admin' }] });
    expect(await refusal(more)).toMatchObject(refused('forbidden', 'disabled'));
    expect(await rolesOf(id)).toEqual({ Acme: 'member' });
  });
});

describe('an account', () => {
  it('without password and identity is linked to the first identity of its address', async () => {
    const ada = await person(world, 'Ada@example.com', { role: 'admin', password: null });
    expect((await enter()).id).toBe(ada.id);
    expect((await enter({ email: 'renamed@example.com' })).id).toBe(ada.id);
    expect(await rolesOf(ada.id)).toEqual({ Acme: 'admin' });
  });

  it('is linked to one alone of those that show its address at once', async () => {
    const ada = await person(world, 'ada@example.com', { role: 'admin', password: null });
    const { storage } = world.store;
    const met = Promise.withResolvers<void>();
    let looked = 0;
    const repository = new Proxy(storage.directory.people, {
      get(target, name) {
        if (name !== 'hasIdentity') return bound(target, name);
        // Both have looked before either links.
        return async (userId: UserId) => {
          const has = await target.hasIdentity(userId);
          looked += 1;
          if (looked === 2) met.resolve();
          await met.promise;
          return has;
        };
      },
    });
    const directory = new Proxy(storage.directory, {
      get: (target, name) => (name === 'people' ? repository : bound(target, name)),
    });
    const people = createPeople({
      storage: new Proxy(storage, { get: (target, name) => (name === 'directory' ? directory : bound(target, name)) }),
      logger: silentLogger,
      now: world.clock.now,
    });
    const results = await Promise.allSettled(
      ['subject-1', 'subject-2'].map((subject) => people.signInWithIdentity(identity({ subject }))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toMatchObject([{ value: { id: ada.id } }]);
    expect(results.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: refused('forbidden', 'not connected with this sign-in') },
    ]);
  });

  it('is not taken over by an address that nobody vouches for', async () => {
    await person(world, 'ada@example.com', { password: null });
    const { email: _unverified, ...rest } = identity({ memberships: [acme] });
    expect(await refusal(world.people.signInWithIdentity(rest))).toMatchObject(refused('forbidden'));
    await expect(enter()).resolves.toBeDefined();
  });

  it.each([
    ['the same address at another issuer', { issuer: 'https://evil.example' }],
    ['the same address under another subject, as when it was given to somebody new', { subject: 'subject-2' }],
    ['the same issuer with a slash at its end', { issuer: 'https://idp.example/' }],
    ['the subject in another case', { subject: 'SUBJECT-1' }],
  ])('is not taken over by %s', async (_what, taken) => {
    const { id } = await enter({ memberships: [acme] });
    const attempt = enter({ ...taken, memberships: [acme, { organization: 'Other', role: 'admin' }] });
    expect(await refusal(attempt)).toMatchObject(refused('forbidden', 'not connected with this sign-in'));
    expect(await rolesOf(id)).toEqual({ Acme: 'member' });
    expect(await accounts()).toBe(1);
  });

  it('is not taken over by the same subject at another issuer, who is somebody else', async () => {
    const ada = await enter({ memberships: [acme] });
    const mallory = await enter({ issuer: 'https://evil.example', email: 'mallory@example.com', memberships: [acme] });
    expect(mallory.id).not.toBe(ada.id);
  });

  it('with a password is not taken over by an identity of its address', async () => {
    await person(world, 'ada@example.com', { role: 'admin' });
    expect(await refusal(enter({ memberships: [acme] }))).toMatchObject(refused('forbidden', 'not connected'));
    await expect(
      world.people.signInWithPassword({ email: 'ada@example.com', password, address: home }),
    ).resolves.toBeDefined();
  });

  it('that is disabled is not linked', async () => {
    const ada = await person(world, 'ada@example.com', { password: null });
    await world.people.setEnabled(ada.id, false, admin);
    expect(await refusal(enter({ memberships: [acme] }))).toMatchObject(refused('forbidden', 'disabled'));
    expect(await world.store.storage.directory.people.hasIdentity(ada.id)).toBe(false);
  });
});

describe("an invitation's link", () => {
  it('lets an identity of its address in, once', async () => {
    const token = await invite('ADA@example.com');
    const made = await enter({}, token);
    expect(await rolesOf(made.id)).toEqual({ Acme: 'member' });
    expect(await world.people.invitation(token)).toBeUndefined();
    expect((await enter()).id).toBe(made.id);
    expect(await refusal(enter({ subject: 'subject-2', email: 'eve@example.com' }, token))).toMatchObject(
      refused('forbidden'),
    );
  });

  it('lets in nobody of another address, nor one that the provider does not vouch for', async () => {
    const token = await invite('ada@example.com');
    expect(await refusal(enter({ email: 'mallory@example.com' }, token))).toMatchObject(
      refused('forbidden', 'ada@example.com'),
    );
    const { email: _unverified, ...rest } = identity();
    expect(await refusal(world.people.signInWithIdentity(rest, token))).toMatchObject(refused('forbidden'));
    expect(await world.people.invitation(token)).toBeDefined();
    expect(await accounts()).toBe(0);
  });

  it('adds an organization to who is known', async () => {
    const { id } = await enter({ memberships: [acme] });
    await enter({ memberships: [acme] }, await invite('ada@example.com', other));
    expect(await rolesOf(id)).toEqual({ Acme: 'member', Other: 'member' });
  });

  it('connects an account that had a password', async () => {
    const ada = await person(world, 'ada@example.com', { organization: other });
    expect((await enter({}, await invite('ada@example.com'))).id).toBe(ada.id);
    expect((await enter()).id).toBe(ada.id);
  });

  it('does not give an account that is another identity its memberships elsewhere', async () => {
    const before = await enter({ memberships: [{ organization: 'Other', role: 'admin' }] });
    const token = await invite('ada@example.com');
    expect(await refusal(enter({ subject: 'successor' }, token))).toMatchObject(refused('forbidden', 'not connected'));
    await world.people.addMember(
      other.id,
      (await person(world, 'root@example.com', { organization: other, role: 'admin', password: null })).id,
      'admin',
      admin,
    );
    await world.people.removeMember(other.id, before.id, admin);
    const after = await enter({ subject: 'successor' }, token);
    expect(await rolesOf(after.id)).toEqual({ Acme: 'member' });
  });

  it('gives the account of who has left to a successor alone', async () => {
    const before = await enter({ memberships: [acme] });
    const { token } = await world.people.openSession(before.id);
    await world.people.removeMember(world.organization.id, before.id, admin);
    const after = await enter({ subject: 'successor' }, await invite('ada@example.com'));
    expect(await rolesOf(after.id)).toEqual({ Acme: 'member' });
    expect(await world.people.session(token)).toBeUndefined();
    for (const email of ['ada@example.com', 'ada.before@example.com']) {
      expect(await refusal(enter({ email }))).toMatchObject(refused('forbidden'));
    }
    expect((await enter({ subject: 'successor' })).id).toBe(after.id);
  });

  it('gives to no successor the account of who is in an organization that can be restored', async () => {
    const before = await enter({ memberships: [{ organization: 'Other', role: 'admin' }] });
    const { deletedOrganizations } = world.store.storage.directory;
    await deletedOrganizations.add(other.id, new Date(world.clock.now().getTime() + 60_000));
    const token = await invite('ada@example.com');
    expect(await refusal(enter({ subject: 'successor' }, token))).toMatchObject(refused('forbidden', 'not connected'));
    await deletedOrganizations.restore(other.id);
    expect(await rolesOf((await enter({ memberships: [{ organization: 'Other', role: 'admin' }] })).id)).toEqual({
      Other: 'admin',
    });
    expect(await rolesOf(before.id)).toEqual({ Other: 'admin' });
  });

  it('makes nobody a member whose account is disabled', async () => {
    const { id } = await enter({ memberships: [{ organization: 'Other', role: 'member' }] });
    await world.people.setEnabled(id, false, admin);
    const token = await invite('ada@example.com');
    expect(await refusal(enter({}, token))).toMatchObject(refused('forbidden', 'disabled'));
    expect(await world.people.invitation(token)).toBeDefined();
  });
});

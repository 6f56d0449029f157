import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/contract/core/index.ts';
import { admin, audited, home, openWorld, password, person, refusal, refused, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const day = 86_400_000;
const other = 'other plain words there';
const ended = refused('not_found', 'ended');
const noLink = refused('not_found', 'does not work any more');
const signIn = (email: string, given = password) =>
  world.people.signInWithPassword({ email, password: given, address: home });
const invite = (email: string, organization = world.organization) =>
  world.people.invite({ organizationId: organization.id, email, role: 'member', actor: admin });

describe("a password's link", () => {
  it('sets a password once, within an hour', async () => {
    const ada = await person(world, 'ada@example.com', { password: null });
    const { token, expiresAt } = await world.people.createPasswordLink(ada.id, admin);
    expect(expiresAt.getTime() - world.clock.now().getTime()).toBeGreaterThan(3_590_000);
    expect(await world.people.passwordLink(token)).toMatchObject({ id: ada.id });
    expect(await refusal(world.people.setPasswordByLink(token, 'short'))).toMatchObject(refused('invalid_argument'));
    expect(await world.people.setPasswordByLink(token, password)).toMatchObject({ id: ada.id });
    await expect(signIn('ada@example.com')).resolves.toBeDefined();
    expect(await world.people.passwordLink(token)).toBeUndefined();
    expect(await refusal(world.people.setPasswordByLink(token, other))).toMatchObject(noLink);

    const late = await world.people.createPasswordLink(ada.id, admin);
    world.clock.advance(3_600_000);
    expect(await refusal(world.people.setPasswordByLink(late.token, other))).toMatchObject(noLink);
  });

  it('is used by one of many at once', async () => {
    const ada = await person(world, 'ada@example.com', { password: null });
    const { token } = await world.people.createPasswordLink(ada.id, admin);
    const uses = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => world.another().setPasswordByLink(token, `plain words number ${index}`)),
    );
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('ends the sessions, is kept as a hash, and is in the audit log when it was used', async () => {
    const ada = await person(world, 'ada@example.com');
    const session = await world.people.openSession(ada.id);
    const { token } = await world.people.createPasswordLink(ada.id, admin);
    expect(await world.store.storage.directory.artifacts.find('PasswordLink', token)).toBeUndefined();
    expect(await world.people.session(session.token)).toBeDefined();
    await world.people.setPasswordByLink(token, other);
    expect(await world.people.session(session.token)).toBeUndefined();
    expect((await audited(world)).at(-1)).toMatchObject({ event: 'password.changed', subject: ada.id });
  });

  it('ends with the next one, with a change of the password, and with the account', async () => {
    const ada = await person(world, 'ada@example.com');
    const first = await world.people.createPasswordLink(ada.id, admin);
    const second = await world.people.createPasswordLink(ada.id, admin);
    expect(await world.people.passwordLink(first.token)).toBeUndefined();
    expect(await world.people.passwordLink(second.token)).toBeDefined();
    await world.people.changePassword(ada.id, password, other);
    expect(await world.people.passwordLink(second.token)).toBeUndefined();
    const third = await world.people.createPasswordLink(ada.id, admin);
    await world.people.setEnabled(ada.id, false, admin);
    expect(await refusal(world.people.setPasswordByLink(third.token, password))).toMatchObject(noLink);
    await world.people.setEnabled(ada.id, true, admin);
    expect(await world.people.passwordLink(third.token)).toBeUndefined();
    const { people } = world.store.storage.directory;
    const fourth = await world.people.createPasswordLink(ada.id, admin);
    await people.setEnabled(ada.id, false);
    expect(await refusal(world.people.setPasswordByLink(fourth.token, password))).toMatchObject(noLink);
    expect(await refusal(world.people.createPasswordLink(ada.id, admin))).toMatchObject(
      refused('conflict', 'disabled'),
    );
  });

  it('is in the audit log of each of their organizations, with who made it and for whom', async () => {
    const other = await world.store.storage.directory.createOrganization({ name: 'Other' });
    const foreign = await world.store.storage.directory.createOrganization({ name: 'Foreign' });
    const ada = await person(world, 'ada@example.com', { password: null });
    await world.people.addMember(other.id, ada.id, 'member', admin);
    const before = await audited(world, foreign);
    const { token } = await world.people.createPasswordLink(ada.id, admin);
    for (const organization of [world.organization, other]) {
      const last = (await audited(world, organization)).at(-1);
      expect(last).toMatchObject({ event: 'password.link_created', subject: admin.id, target: ada.id, outcome: 'ok' });
      expect(JSON.stringify(last)).not.toContain(token);
    }
    expect(await audited(world, foreign)).toEqual(before);
  });

  it('of one person says nothing of another', async () => {
    const [ada, bob] = [await person(world, 'ada@example.com'), await person(world, 'bob@example.com')];
    const [adas, bobs] = [
      await world.people.createPasswordLink(ada.id, admin),
      await world.people.createPasswordLink(bob.id, admin),
    ];
    await world.people.setPasswordByLink(adas.token, other);
    expect(await world.people.passwordLink(bobs.token)).toMatchObject({ id: bob.id });
  });
});

describe('an invitation', () => {
  it('makes an account and a member, once, within seven days, the audit log saying so', async () => {
    const { invitation, token } = await invite('new@example.com');
    expect(invitation).toMatchObject({ email: 'new@example.com', role: 'member', createdBy: admin.id });
    expect(await world.people.invitation(token)).toMatchObject({ organization: { name: 'Acme' } });
    const made = await world.people.acceptInvitation(token, { kind: 'password', name: ' New ', password });
    expect(made).toMatchObject({ email: 'new@example.com', name: 'New' });
    await expect(signIn('new@example.com')).resolves.toMatchObject({ id: made.id });
    expect(await world.people.memberships(made.id)).toMatchObject([{ organization: { name: 'Acme' }, role: 'member' }]);
    expect((await audited(world)).map(({ event, subject, target }) => [event, subject, target]).slice(0, 2)).toEqual([
      ['person.invited', admin.id, invitation.id],
      ['person.joined', made.id, invitation.id],
    ]);
    expect(
      await refusal(world.people.acceptInvitation(token, { kind: 'password', name: 'New', password })),
    ).toMatchObject(ended);

    const late = await invite('late@example.com');
    world.clock.advance(7 * day);
    expect(await world.people.invitation(late.token)).toBeUndefined();
    expect(
      await refusal(world.people.acceptInvitation(late.token, { kind: 'password', name: 'Late', password })),
    ).toMatchObject(ended);
  });

  it('is accepted by one of many at once', async () => {
    const { token } = await invite('new@example.com');
    const accepted = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) =>
        world.another().acceptInvitation(token, { kind: 'password', name: `New ${index}`, password }),
      ),
    );
    expect(accepted.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await world.people.members(world.organization.id)).toHaveLength(1);
  });

  it('is accepted by the account of its address and no other', async () => {
    const { people, store } = world;
    const elsewhere = await store.storage.directory.createOrganization({ name: 'Other' });
    const ada = await person(world, 'ada@example.com', { organization: elsewhere });
    const bob = await person(world, 'bob@example.com', { organization: elsewhere });
    const { token } = await invite('ADA@example.com');
    expect(await refusal(people.acceptInvitation(token, { kind: 'existing', userId: bob.id }))).toMatchObject(
      refused('forbidden', 'ADA@example.com'),
    );
    await people.setEnabled(ada.id, false, admin);
    expect(await refusal(people.acceptInvitation(token, { kind: 'existing', userId: ada.id }))).toMatchObject(
      refused('forbidden'),
    );
    await people.setEnabled(ada.id, true, admin);
    await people.acceptInvitation(token, { kind: 'existing', userId: ada.id });
    expect(await people.memberships(ada.id)).toHaveLength(2);
  });

  it('sets no password of an account that is there, for who invites knows the link', async () => {
    const elsewhere = await world.store.storage.directory.createOrganization({ name: 'Other' });
    const ada = await person(world, 'ada@example.com', { organization: elsewhere });
    const fresh = await person(world, 'fresh@example.com', { organization: elsewhere, password: null });
    for (const { email } of [ada, fresh]) {
      const { token } = await invite(email);
      const accept = world.people.acceptInvitation(token, { kind: 'password', name: 'Mallory', password: other });
      expect(await refusal(accept)).toMatchObject(refused('forbidden', 'Sign in'));
      expect(await refusal(signIn(email, other))).toMatchObject(refused('forbidden'));
    }
  });

  it('ends when it is taken back or another is made, and is of one organization', async () => {
    const { people, organization, store } = world;
    const first = await invite('new@example.com');
    const second = await invite('New@example.com');
    expect(await people.invitation(first.token)).toBeUndefined();
    const elsewhere = await store.storage.directory.createOrganization({ name: 'Other' });
    expect(await refusal(people.revokeInvitation(elsewhere.id, second.invitation.id, admin))).toMatchObject(ended);
    expect(await people.invitations(elsewhere.id)).toEqual([]);
    expect(await people.invitations(organization.id)).toMatchObject([{ id: second.invitation.id }]);
    await people.revokeInvitation(organization.id, second.invitation.id, admin);
    expect(await people.invitation(second.token)).toBeUndefined();
    expect((await audited(world)).at(-1)).toMatchObject({ event: 'invitation.revoked', outcome: 'ok' });
  });

  it.each(['', 'nobody', 'a b@example.com', `${'x'.repeat(250)}@example.com`])(
    'is not made for %.20j',
    async (email) => {
      expect(await refusal(invite(email))).toMatchObject(refused('invalid_argument'));
    },
  );

  it('is not made for a member', async () => {
    await person(world, 'ada@example.com', { password: null });
    expect(await refusal(invite('ADA@example.com'))).toMatchObject(refused('conflict', 'member already'));
  });

  it.each(['', '   ', 'x'.repeat(201), 'a\u0007b'])('is not accepted under the name %.20j', async (name) => {
    const { token } = await invite('new@example.com');
    const accept = world.people.acceptInvitation(token, { kind: 'password', name, password });
    expect(await refusal(accept)).toMatchObject(refused('invalid_argument', 'name'));
    expect(await world.people.invitation(token)).toBeDefined();
  });

  it.each(['', 'invt_', `invt_${'x'.repeat(100_000)}`, newId('invt')])('is not found under %.20j', async (token) => {
    expect(await world.people.invitation(token)).toBeUndefined();
    expect(await world.people.passwordLink(token)).toBeUndefined();
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId, type GrantId } from '../../src/contract/core/index.ts';
import type { User } from '../../src/contract/storage/index.ts';
import { admin, audited, openWorld, person, refusal, refused, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const roles = async () =>
  Object.fromEntries((await world.people.members(world.organization.id)).map(({ user, role }) => [user.email, role]));

async function connect(user: User, organizationId = world.organization.id): Promise<GrantId> {
  const id = newId('gra');
  await world.store.storage.workspace(organizationId).grants.create({
    id,
    userId: user.id,
    clientId: 'https://client.example/metadata',
    clientName: 'Editor',
    redirectOrigin: 'http://127.0.0.1:4711',
    scopes: ['telemetry:read'],
  });
  return id;
}

const alive = async (id: GrantId) => (await world.store.storage.directory.liveGrant(id)) !== undefined;

describe('members', () => {
  it('are added, change their role and are removed, each in the audit log with who did it', async () => {
    const { people, organization } = world;
    await person(world, 'root@example.com', { role: 'admin' });
    const ada = await person(world, 'ada@example.com');
    await people.changeRole(organization.id, ada.id, 'admin', admin);
    expect(await roles()).toEqual({ 'ada@example.com': 'admin', 'root@example.com': 'admin' });
    await people.addMember(organization.id, ada.id, 'member', admin);
    expect(await roles()).toMatchObject({ 'ada@example.com': 'member' });
    await people.removeMember(organization.id, ada.id, admin);
    expect(await roles()).toEqual({ 'root@example.com': 'admin' });
    const about = (await audited(world)).filter(({ target }) => target === ada.id);
    expect(about.map(({ event, subject, outcome }) => [event, subject, outcome])).toEqual([
      ['person.joined', admin.id, 'ok'],
      ['password.link_created', admin.id, 'ok'],
      ['password.changed', ada.id, 'ok'],
      ['member.role_changed', admin.id, 'ok'],
      ['member.role_changed', admin.id, 'ok'],
      ['member.removed', admin.id, 'ok'],
    ]);
  });

  it('are of one organization: another cannot touch them', async () => {
    const ada = await person(world, 'ada@example.com');
    const other = await world.store.storage.directory.createOrganization({ name: 'Other' });
    for (const attempt of [
      () => world.people.changeRole(other.id, ada.id, 'admin', admin),
      () => world.people.removeMember(other.id, ada.id, admin),
    ]) {
      expect(await refusal(attempt())).toMatchObject(refused('not_found'));
    }
    expect(await roles()).toEqual({ 'ada@example.com': 'member' });
  });

  it('never lose the last admin, a disabled one counting for nothing, and the refusal is in the audit log', async () => {
    const { people, organization } = world;
    const root = await person(world, 'root@example.com', { role: 'admin' });
    const gone = await person(world, 'gone@example.com', { role: 'admin' });
    await person(world, 'ada@example.com');
    await people.setEnabled(gone.id, false, admin);
    for (const attempt of [
      () => people.changeRole(organization.id, root.id, 'member', admin),
      () => people.addMember(organization.id, root.id, 'member', admin),
      () => people.removeMember(organization.id, root.id, admin),
    ]) {
      expect(await refusal(attempt())).toMatchObject(refused('conflict', 'only admin'));
      expect((await audited(world)).at(-1)).toMatchObject({ outcome: 'conflict', target: root.id });
    }
    expect(await roles()).toMatchObject({ 'root@example.com': 'admin' });
  });

  it.each([
    ['demote', (id: User, by: World) => by.people.changeRole(by.organization.id, id.id, 'member', admin)],
    ['remove', (id: User, by: World) => by.people.removeMember(by.organization.id, id.id, admin)],
  ])('are left with an admin when two %s each other at once', async (_what, take) => {
    const one = await person(world, 'one@example.com', { role: 'admin', password: null });
    const two = await person(world, 'two@example.com', { role: 'admin', password: null });
    for (let round = 0; round < 5; round += 1) {
      await Promise.allSettled([take(one, world), take(two, world)]);
      expect(Object.values(await roles())).toContain('admin');
      for (const user of [one, two]) await world.people.addMember(world.organization.id, user.id, 'admin', admin);
    }
  });
});

describe('applications', () => {
  it('are listed for everyone and for one person, and revoked, the audit log saying so', async () => {
    const { people, organization } = world;
    const [ada, bob] = [await person(world, 'ada@example.com'), await person(world, 'bob@example.com')];
    const [adas, bobs] = [await connect(ada), await connect(bob)];
    expect((await people.applications(organization.id)).map(({ id }) => id).toSorted()).toEqual(
      [adas, bobs].toSorted(),
    );
    expect(await people.applications(organization.id, ada.id)).toMatchObject([{ id: adas, clientName: 'Editor' }]);

    const asAda = people.revokeApplication(organization.id, bobs, { kind: 'user', id: ada.id, name: 'Ada' }, ada.id);
    expect(await refusal(asAda)).toMatchObject(refused('not_found'));
    expect(await alive(bobs)).toBe(true);
    await people.revokeApplication(organization.id, bobs, admin);
    expect([await alive(adas), await alive(bobs)]).toEqual([true, false]);
    expect((await audited(world)).at(-1)).toMatchObject({ event: 'grant.revoked', target: bobs, subject: admin.id });
    expect(await refusal(people.revokeApplication(organization.id, bobs, admin))).toMatchObject(refused('not_found'));
  });

  it('of another organization are neither seen nor revoked', async () => {
    const ada = await person(world, 'ada@example.com');
    const id = await connect(ada);
    const other = await world.store.storage.directory.createOrganization({ name: 'Other' });
    expect(await world.people.applications(other.id)).toEqual([]);
    expect(await refusal(world.people.revokeApplication(other.id, id, admin))).toMatchObject(refused('not_found'));
    expect(await alive(id)).toBe(true);
  });

  it('end at once with the membership and with the account, those elsewhere only with the account', async () => {
    const { people, organization, store } = world;
    const other = await store.storage.directory.createOrganization({ name: 'Other' });
    await person(world, 'root@example.com', { role: 'admin', password: null });
    const ada = await person(world, 'ada@example.com');
    await people.addMember(other.id, ada.id, 'member', admin);
    const [here, there] = [await connect(ada), await connect(ada, other.id)];
    const { token } = await people.openSession(ada.id);
    await people.chooseOrganization(token, organization.id);

    await people.removeMember(organization.id, ada.id, admin);
    expect([await alive(here), await alive(there)]).toEqual([false, true]);
    expect(await people.session(token)).not.toHaveProperty('membership');
    await people.addMember(organization.id, ada.id, 'member', admin);
    expect(await alive(here)).toBe(false);

    await people.setEnabled(ada.id, false, admin);
    expect(await alive(there)).toBe(false);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hashSecret, newId } from '../../src/contract/core/index.ts';
import { admin, openWorld, person, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const hour = 3_600_000;

describe('a session', () => {
  it('is 256 random bits of which the hash is kept, for twelve hours', async () => {
    const ada = await person(world, 'ada@example.com');
    const { token, expiresAt } = await world.people.openSession(ada.id);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(expiresAt.getTime() - world.clock.now().getTime()).toBeGreaterThan(12 * hour - 5_000);
    expect(await world.store.storage.directory.sessions.find(hashSecret(token))).toBeDefined();
    expect(await world.people.session(token)).toMatchObject({ user: { id: ada.id } });
    world.clock.advance(12 * hour - 10_000);
    expect(await world.people.session(token)).toBeDefined();
    world.clock.advance(10_000);
    expect(await world.people.session(token)).toBeUndefined();
  });

  it('is another one at each sign-in', async () => {
    const ada = await person(world, 'ada@example.com');
    const tokens = await Promise.all([world.people.openSession(ada.id), world.people.openSession(ada.id)]);
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(2);
  });

  it.each(['', 'x', 'x'.repeat(100_000), "' or 1=1 --"])('is not found under %.20j', async (token) => {
    expect(await world.people.session(token)).toBeUndefined();
    expect(await world.people.chooseOrganization(token, world.organization.id)).toBe(false);
    await expect(world.people.signOut(token)).resolves.toBeUndefined();
  });

  it('has the only organization chosen, and none of several until the person chooses one of theirs', async () => {
    const { people, store } = world;
    const ada = await person(world, 'ada@example.com');
    const first = await people.openSession(ada.id);
    expect(await people.session(first.token)).toMatchObject({ membership: { organization: { name: 'Acme' } } });

    const [other, foreign] = [
      await store.storage.directory.createOrganization({ name: 'Other' }),
      await store.storage.directory.createOrganization({ name: 'Foreign' }),
    ];
    await people.addMember(other.id, ada.id, 'admin', admin);
    const { token } = await people.openSession(ada.id);
    expect(await people.session(token)).not.toHaveProperty('membership');
    for (const id of [foreign.id, newId('org')]) expect(await people.chooseOrganization(token, id)).toBe(false);
    expect(await people.session(token)).not.toHaveProperty('membership');
    expect(await people.chooseOrganization(token, other.id)).toBe(true);
    expect(await people.session(token)).toMatchObject({
      membership: { organization: { id: other.id }, role: 'admin' },
    });
  });

  it('ends with the sign-out, the others with the sign-out everywhere', async () => {
    const { people } = world;
    const ada = await person(world, 'ada@example.com');
    const bob = await person(world, 'bob@example.com');
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => people.openSession(ada.id)));
    const bobs = await people.openSession(bob.id);
    const alive = async () =>
      Promise.all([one, two, three, bobs].map(async (each) => !!(await people.session(each?.token ?? ''))));
    await people.signOut(one?.token ?? '');
    expect(await alive()).toEqual([false, true, true, true]);
    await people.signOutEverywhere(ada.id);
    expect(await alive()).toEqual([false, false, false, true]);
  });

  it('is swept away some time after its end', async () => {
    const ada = await person(world, 'ada@example.com');
    await world.people.openSession(ada.id);
    world.clock.advance(24 * hour);
    await world.people.openSession(ada.id);
    expect(await world.store.storage.directory.sessions.removeExpired(world.clock.now())).toBe(0);
  });
});

describe('an account that is disabled', () => {
  it('has no session from then on, on any instance, and none comes back when it is enabled', async () => {
    const ada = await person(world, 'ada@example.com');
    const { token } = await world.people.openSession(ada.id);
    const elsewhere = world.another();
    expect(await elsewhere.session(token)).toBeDefined();
    await world.people.setEnabled(ada.id, false, admin);
    expect(await elsewhere.session(token)).toBeUndefined();
    await world.people.setEnabled(ada.id, true, admin);
    expect(await elsewhere.session(token)).toBeUndefined();
  });
});

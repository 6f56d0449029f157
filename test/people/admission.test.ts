import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createPeople } from '../../src/identity/people/create-people.ts';
import type { People } from '../../src/identity/people/people.ts';
import { silentLogger } from '../contract/host.ts';
import type { Organization, Storage } from '../../src/contract/storage/index.ts';
import { admin, identity, openWorld, person, refusal, refused, type World } from './support.ts';

let world: World;
let other: Organization;
/** On a storage that counts what is asked of people. */
let people: People;
let asked: number;
beforeEach(async () => {
  world = await openWorld();
  other = await world.store.storage.directory.createOrganization({ name: 'Other' });
  asked = 0;
  people = createPeople({ storage: counting(world.store.storage), logger: silentLogger, now: world.clock.now });
});
afterEach(() => world.close());

function counting(storage: Storage): Storage {
  const { directory } = storage;
  const repository = new Proxy(directory.people, {
    get(target, name) {
      asked += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const wrapped = new Proxy(directory, {
    get(target, name) {
      if (name === 'people') return repository;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'directory') return wrapped;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const member = (organization: string) => ({ organization, role: 'member' as const });
const both = identity({ memberships: [member('Acme'), member('Other')] });

describe('the admission of a token', () => {
  it('is to the only organization, the account being made where there is none', async () => {
    const admitted = await people.admit({ identity: identity({ memberships: [member('Acme')] }) });
    expect(admitted).toMatchObject({ organizationId: world.organization.id });
    expect(await people.members(world.organization.id)).toMatchObject([{ user: { id: admitted.userId } }]);
  });

  it('is to the organization that is named, by id or by name', async () => {
    for (const organization of ['other', ' Other ', other.id]) {
      expect(await people.admit({ identity: both, organization })).toMatchObject({ organizationId: other.id });
    }
  });

  it('says what to do where there are several and none is named', async () => {
    expect(await refusal(people.admit({ identity: both }))).toMatchObject(
      refused('forbidden', 'organization into a claim'),
    );
  });

  it('is to no organization of others, which are answered exactly as those that there are not', async () => {
    const mine = identity({ memberships: [member('Acme')] });
    const foreign = await refusal(people.admit({ identity: mine, organization: 'Other' }));
    expect(foreign).toMatchObject(refused('forbidden', 'no member'));
    expect(await refusal(people.admit({ identity: mine, organization: 'Nowhere' }))).toEqual(foreign);
  });

  it('changes nothing by a token that lacks a claim of the rules, and leaves the same person’s other tokens good', async () => {
    const admins = [{ organization: 'Acme', role: 'admin' as const }];
    const whole = { identity: identity({ memberships: [...admins, member('Other')] }), organization: 'Acme' };
    const lacking = {
      identity: identity({ memberships: [member('Other')], absent: ['groups'] }),
      organization: 'Other',
    };
    const { userId } = await people.admit(whole);
    const before = await people.memberships(userId);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await refusal(people.admit(lacking))).toMatchObject(refused('forbidden', 'lacks groups'));
      expect(await people.memberships(userId)).toEqual(before);
      expect(await people.admit(whole)).toMatchObject({ userId });
    }
    // Where nothing would be taken away, it is as good as any: of people whose provider sends no empty list.
    const somebody = { subject: 'bob', email: 'bob@acme.example', memberships: [member('Other')], absent: ['groups'] };
    expect(await people.admit({ identity: identity(somebody) })).toMatchObject({ organizationId: other.id });
  });

  it('takes nothing away by an assertion that says little, and lets in by one that says enough', async () => {
    const admitting = [{ organization: 'Acme', role: 'admin' as const }];
    const { userId } = await people.admit({ identity: identity({ memberships: admitting }) });
    const said = [[], [member('Acme')], [member('Other')]];
    for (const memberships of said) await people.admit({ identity: identity({ memberships, partial: true }) });
    expect(await people.memberships(userId)).toMatchObject([{ organization: { name: 'Acme' }, role: 'admin' }]);
    const grace = { subject: 'subject-2', email: 'grace@example.com', partial: true };
    expect(await refusal(people.admit({ identity: identity(grace) }))).toMatchObject(refused('forbidden'));
    const made = await people.admit({ identity: identity({ ...grace, memberships: [member('Acme')] }) });
    expect(await people.memberships(made.userId)).toMatchObject([{ organization: { name: 'Acme' }, role: 'member' }]);
  });

  it('by an assertion is refused as soon as the account is disabled or its membership has ended', async () => {
    const said = { identity: identity({ partial: true }) };
    const { userId } = await people.admit({ identity: identity({ memberships: [member('Acme')] }) });
    await people.admit(said);
    await people.setEnabled(userId, false, admin);
    expect(await refusal(people.admit(said))).toMatchObject(refused('forbidden', 'disabled'));
    await people.setEnabled(userId, true, admin);
    await people.admit(said);
    await people.removeMember(world.organization.id, userId, admin);
    expect(await refusal(people.admit(said))).toMatchObject(refused('forbidden', 'no organization here'));
  });

  it('is refused to who is in none, and to a disabled account', async () => {
    expect(await refusal(people.admit({ identity: identity() }))).toMatchObject(refused('forbidden'));
    const { userId } = await people.admit({ identity: identity({ memberships: [member('Acme')] }) });
    await people.setEnabled(userId, false, admin);
    world.clock.advance(300_000);
    expect(await refusal(people.admit({ identity: identity({ memberships: [member('Acme')] }) }))).toMatchObject(
      refused('forbidden', 'disabled'),
    );
  });

  it('takes over no account by its address', async () => {
    await person(world, 'ada@example.com', { role: 'admin' });
    expect(await refusal(people.admit({ identity: identity({ memberships: [member('Acme')] }) }))).toMatchObject(
      refused('forbidden', 'not connected'),
    );
  });

  it('asks nothing while nothing changed, and once for many at once', async () => {
    const claims = { identity: both, organization: 'Acme' };
    const first = await Promise.all(Array.from({ length: 20 }, () => people.admit(claims)));
    const once = asked;
    expect(once).toBeLessThan(10);
    expect(new Set(first.map(({ userId }) => userId)).size).toBe(1);
    await people.admit({ identity: { ...both }, organization: 'Acme' });
    expect(asked).toBe(once);
  });

  it('follows what the token says as soon as it says something else', async () => {
    const mine = identity({ memberships: [member('Acme')] });
    const { userId } = await people.admit({ identity: mine });
    await people.admit({ identity: { ...mine, memberships: [{ organization: 'Acme', role: 'admin' }] } });
    expect(await people.memberships(userId)).toMatchObject([{ role: 'admin' }]);
    await people.admit({ identity: both, organization: 'Other' });
    expect(await people.memberships(userId)).toHaveLength(2);
  });

  it('gives back what another token took away, once the person shows the better one again', async () => {
    const good = identity({ memberships: [member('Acme')] });
    const { userId } = await people.admit({ identity: good });
    expect(await refusal(people.admit({ identity: identity() }))).toMatchObject(refused('forbidden'));
    expect(await people.memberships(userId)).toEqual([]);
    await people.admit({ identity: good });
    expect(await people.memberships(userId)).toHaveLength(1);
  });

  it('is as the last of tokens says that come at once, and never as one that the last has overtaken', async () => {
    const good = { identity: identity({ memberships: [member('Acme')] }) };
    const poor = { identity: identity({ memberships: [member('Other')] }) };
    await people.admit(good);
    for (const [first, last, name] of [
      [good, poor, 'Other'],
      [poor, good, 'Acme'],
    ] as const) {
      const [, { userId }] = await Promise.all([people.admit(first), people.admit(last)]);
      expect(await people.memberships(userId)).toMatchObject([{ organization: { name } }]);
      await people.admit(last);
      expect(await people.memberships(userId)).toMatchObject([{ organization: { name } }]);
    }
  });

  it('is looked at again after five minutes', async () => {
    const mine = identity({ memberships: [member('Acme')] });
    await people.admit({ identity: mine });
    const once = asked;
    world.clock.advance(300_000);
    await people.admit({ identity: mine });
    expect(asked).toBeGreaterThan(once);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/contract/core/index.ts';
import { verifyAudit } from '../../src/records/audit/export.ts';
import { createApiKeys } from '../../src/identity/verify/api-keys.ts';
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
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const signIn = (email: string) => world.people.signInWithPassword({ email, password, address: home });

async function keyOf(userId: string, organizationId = world.organization.id) {
  const keys = createApiKeys({ storage: world.store.storage, now: world.clock.now });
  const actor = { kind: 'user', id: userId, name: 'Ada' } as const;
  return keys.create({ organizationId, name: 'CI', scopes: ['telemetry:read'], actor });
}

describe('a person who leaves', () => {
  it('is out at once: signed-in browsers, links, and the keys they made, each of which is recorded', async () => {
    const { people, organization } = world;
    const ada = await person(world, 'ada@example.com');
    const { token } = await people.openSession(ada.id);
    const link = await people.createPasswordLink(ada.id, admin);
    const { key } = await keyOf(ada.id);
    await people.deactivatePerson({ userId: ada.id, actor: admin });
    expect(await people.session(token)).toBeUndefined();
    expect(await people.passwordLink(link.token)).toBeUndefined();
    expect(await refusal(signIn('ada@example.com'))).toMatchObject(refused('forbidden'));
    expect(await world.store.storage.workspace(organization.id).keys.list()).toEqual([]);
    const told = (await audited(world)).slice(-2).map(({ event, subject, target }) => [event, subject, target]);
    expect(told).toEqual([
      ['key.revoked', admin.id, key.id],
      ['person.disabled', admin.id, ada.id],
    ]);
    await people.setEnabled(ada.id, true, admin);
    expect((await signIn('ada@example.com')).id).toBe(ada.id);
  });

  it('leaves one organization alone, though they were its only admin, and another’s audit says nothing', async () => {
    const { people, organization } = world;
    const other = await world.store.storage.directory.createOrganization({ name: 'Other' });
    const ada = await person(world, 'ada@example.com', { role: 'admin' });
    await people.addMember(other.id, ada.id, 'member', admin);
    const before = await audited(world, other);
    await people.deactivatePerson({ userId: ada.id, organizationId: organization.id, actor: admin });
    expect((await people.memberships(ada.id)).map((each) => each.organization.id)).toEqual([other.id]);
    expect(await audited(world, other)).toEqual(before);
    expect((await audited(world)).at(-1)).toMatchObject({ event: 'member.removed', target: ada.id });
  });

  it('is deleted, and the audit holds an id alone, in a chain that verifies', async () => {
    const { people, organization, store } = world;
    await person(world, 'root@example.com', { role: 'admin' });
    const ada = await person(world, 'ada@example.com', { role: 'admin' });
    await signIn('ada@example.com');
    await people.deletePerson({ userId: ada.id, chats: 'delete', actor: { kind: 'user', id: ada.id, name: ada.name } });
    expect(await refusal(signIn('ada@example.com'))).toMatchObject(refused('forbidden', 'is wrong'));
    const records = await audited(world);
    expect(records.at(-1)).toMatchObject({ event: 'person.deleted', subject: ada.id, target: ada.id });
    expect(JSON.stringify(records)).not.toContain('ada@');
    const problems: unknown[] = [];
    const { audit } = store.storage.workspace(organization.id);
    const verified = await verifyAudit({
      audit,
      organization: organization.id,
      vault: store.vault,
      report: (problem) => problems.push(problem),
    });
    expect([problems, verified.records]).toEqual([[], records.length]);
    // The e-mail address can be registered again.
    const again = await person(world, 'ada@example.com');
    expect(again.id).not.toBe(ada.id);
    expect(await refusal(people.deletePerson({ userId: ada.id, chats: 'keep', actor: admin }))).toMatchObject(
      refused('not_found'),
    );
  });

  it('is exported, and the audit log says by whom, though it was broken off', async () => {
    const ada = await person(world, 'ada@example.com');
    const by = { kind: 'operator', id: 'adk_1', name: 'CI' } as const;
    for await (const _ of world.people.exportPerson(ada.id, { audit: true, actor: by })) break;
    const exported = { event: 'person.exported', subject: by.id, target: ada.id, outcome: 'ok' };
    expect((await audited(world)).at(-1)).toMatchObject(exported);
  });

  it('is not deleted as the only admin, and that changes nothing', async () => {
    const { people } = world;
    const root = await person(world, 'root@example.com', { role: 'admin' });
    const { token } = await people.openSession(root.id);
    const attempt = people.deletePerson({ userId: root.id, chats: 'delete', actor: admin });
    expect(await refusal(attempt)).toMatchObject(refused('conflict', 'only admin'));
    expect((await people.session(token))?.user).toEqual(root);
    expect(await refusal(people.deactivatePerson({ userId: newId('usr'), actor: admin }))).toMatchObject(
      refused('not_found'),
    );
  });

  it('who signs in elsewhere is somebody new after it', async () => {
    const { people, organization } = world;
    const membership = { organization: organization.name, role: 'member' } as const;
    const first = await people.signInWithIdentity(identity({ memberships: [membership] }));
    await people.deletePerson({ userId: first.id, chats: 'delete', actor: admin });
    expect((await people.signInWithIdentity(identity({ memberships: [membership] }))).id).not.toBe(first.id);
  });
});

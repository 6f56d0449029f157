import { newId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { NewScimUser, Provisioned, Workspace } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import {
  type MakeStorage,
  newGrant,
  newInvitation,
  newKey,
  newSession,
  present,
  refusal,
  sharedStage,
} from './stage.ts';

const rules = { adminGroups: ['Admins', 'group-object-id'] };

/** What an identity provider provisions, and what becomes of the accounts behind it. */
export function scimPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('people whom an identity provider provisions', () => {
    const stage = sharedStage(runner, make);
    const directory = () => stage().storage.directory;
    const provision = (to: Workspace, user: NewScimUser): Promise<Provisioned> =>
      directory().provisioning.provision(to.organizationId, user, rules);
    const change = ({ organizationId }: Workspace, { user }: Provisioned, to: NewScimUser): Promise<Provisioned> =>
      directory().provisioning.provision(organizationId, { ...to, id: user.id, version: user.version }, rules);
    const rolesOf = async ({
      user: { userId },
    }: Provisioned): Promise<readonly (readonly [OrganizationId, string])[]> =>
      (await directory().people.memberships(userId)).map(({ organization, role }) => [organization.id, role] as const);
    const workspaces = async (): Promise<readonly [Workspace, Workspace]> => [
      await stage().workspace(),
      await stage().workspace(),
    ];

    it('become members with an account, once for an address, and each organization has its own of them', async () => {
      const [acme, globex] = await workspaces();
      const ada = newUser();
      const one = await provision(acme, ada);
      const two = await provision(globex, { ...ada, email: ada.email.toUpperCase(), name: 'Other' });
      expect(one.joined && two.joined).toBe(true);
      expect(two.user.userId).toBe(one.user.userId);
      expect(two.user.id).not.toBe(one.user.id);
      expect((await directory().findUser(one.user.userId))?.name).toBe(ada.name);
      expect(await refusal(provision(acme, ada))).toBe('conflict');
      expect(await refusal(provision(acme, { ...ada, userName: 'another' }))).toBe('conflict');
      expect(await refusal(provision(acme, { ...newUser(), userName: ada.userName.toUpperCase() }))).toBe('conflict');
      expect((await acme.scim.users({ where: {}, offset: 0, limit: 9 })).items).toEqual([one.user]);
    });

    it('lose session, application and key with the membership, and nothing of another organization', async () => {
      const [acme, globex] = await workspaces();
      const ada = newUser();
      const here = await provision(acme, ada);
      await provision(globex, ada);
      const { userId } = here.user;
      const owned = await Promise.all(
        [acme, globex].map(async (workspace) => {
          const grant = newGrant(userId);
          await workspace.grants.create(grant);
          const key = await workspace.keys.create(newKey({ createdBy: userId }));
          const session = newSession(userId, { organizationId: workspace.organizationId });
          await directory().sessions.create(session);
          return { grant, key, session };
        }),
      );
      const alive = () =>
        Promise.all(
          owned.map(async ({ grant, key, session }) => [
            (await directory().liveGrant(grant.id)) !== undefined,
            (await directory().liveKey(key.id, present(key.secrets[0]).id)) !== undefined,
            (await directory().sessions.find(session.hash)) !== undefined,
          ]),
        );
      expect(await alive()).toEqual([
        [true, true, true],
        [true, true, true],
      ]);
      const left = await change(acme, here, { ...ada, active: false });
      expect(left.ended).toEqual({ organizationId: acme.organizationId, member: true, keys: [owned[0]?.key.id] });
      expect(await alive()).toEqual([
        [false, false, false],
        [true, true, true],
      ]);
      expect(await rolesOf(left)).toEqual([[globex.organizationId, 'member']]);
    });

    it('are not let in again by a sign-in until they are active again, even when they were deleted', async () => {
      const [acme, globex] = await workspaces();
      const ada = newUser();
      let last = await provision(acme, ada);
      const { userId } = last.user;
      const signIn = () =>
        directory().people.syncMemberships(userId, [
          { organizationId: acme.organizationId, role: 'admin' },
          { organizationId: globex.organizationId, role: 'member' },
        ]);
      const elsewhere = [globex.organizationId, 'member'];
      last = await change(acme, last, { ...ada, active: false });
      await signIn();
      expect(await rolesOf(last)).toEqual([elsewhere]);
      last = await change(acme, last, ada);
      await signIn();
      expect(new Map(await rolesOf(last))).toEqual(
        new Map([
          [acme.organizationId, 'member'],
          [globex.organizationId, 'member'],
        ]),
      );

      expect((await directory().provisioning.unprovision(acme.organizationId, last.user.id))?.ended?.member).toBe(true);
      await signIn();
      expect(await rolesOf(last)).toEqual([elsewhere]);
      expect(await acme.scim.user(last.user.id)).toBeUndefined();
      expect(await acme.scim.users({ where: {}, offset: 0, limit: 9 })).toEqual({ total: 0, items: [] });
      expect((await provision(acme, ada)).joined).toBe(true);
    });

    it('keep a role that was given by hand, and else have that of their groups', async () => {
      const [acme, globex] = await workspaces();
      const given = newUser();
      const account = await directory().createUser({ email: given.email, name: 'Given' });
      await acme.members.add(account.id, 'admin');
      const added = newUser();
      const invitation = newInvitation({ email: added.email, role: 'admin' });
      await acme.invitations.create(invitation);
      const [one, two] = [await provision(acme, given), await provision(acme, added)];
      expect(await rolesOf(one)).toEqual([[acme.organizationId, 'admin']]);
      expect(await rolesOf(two)).toEqual([[acme.organizationId, 'member']]);

      const { group, roles } = await acme.scim.saveGroup({ displayName: 'ADMINS', add: [two.user.id] }, rules);
      expect(roles).toEqual([{ userId: two.user.userId, role: 'admin' }]);
      expect(await rolesOf(two)).toEqual([[acme.organizationId, 'admin']]);
      expect(await directory().people.invitation(invitation.hash)).not.toBeUndefined();
      await acme.scim.saveGroup({ id: group.id, displayName: 'Others' }, rules);
      expect(await rolesOf(two)).toEqual([[acme.organizationId, 'member']]);
      // Which would make them an admin again.
      expect(await directory().people.invitation(invitation.hash)).toBeUndefined();
      await acme.scim.saveGroup({ id: group.id, externalId: 'group-object-id' }, rules);
      expect(await rolesOf(two)).toEqual([[acme.organizationId, 'admin']]);
      expect(await acme.scim.settleRoles({ adminGroups: [] })).toEqual([{ userId: two.user.userId, role: 'member' }]);
      await acme.scim.settleRoles(rules);
      expect(await acme.scim.removeGroup(group.id, rules)).toEqual([{ userId: two.user.userId, role: 'member' }]);
      expect(await rolesOf(one)).toEqual([[acme.organizationId, 'admin']]);
      expect(await globex.members.list()).toEqual([]);
    });

    it('carry name and address to the account while no other organization has it', async () => {
      const [acme, globex] = await workspaces();
      const ada = newUser();
      const one = await provision(acme, ada);
      const email = `${newId('scu')}@example.org`;
      const two = await change(acme, one, { ...ada, email, name: 'Ada King' });
      expect(await directory().findUser(email)).toMatchObject({ id: one.user.userId, name: 'Ada King' });
      await provision(globex, { ...ada, email });
      await change(acme, two, { ...ada, email: 'mine@example.org', name: 'Mine now' });
      expect(await directory().findUser(email)).toMatchObject({ id: one.user.userId, name: 'Ada King' });
      expect(await directory().findUser('mine@example.org')).toBeUndefined();
    });

    it('are changed from what they are alone, so that no change undoes one that came between', async () => {
      const [acme] = await workspaces();
      const ada = newUser();
      const one = await provision(acme, ada);
      await change(acme, one, { ...ada, active: false });
      expect(await refusal(change(acme, one, { ...ada, name: 'Late' }))).toBe('unavailable');
      expect((await acme.scim.user(one.user.id))?.active).toBe(false);
    });

    it('are in groups together, whatever is added at once', async () => {
      const [acme] = await workspaces();
      const people = await Promise.all(Array.from({ length: 8 }, () => provision(acme, newUser())));
      const { group } = await acme.scim.saveGroup({ displayName: 'Everybody' }, rules);
      const [here, there] = [acme, stage().other.workspace(acme.organizationId)];
      await Promise.all(
        people.map(({ user }, index) =>
          (index % 2 === 0 ? here : there).scim.saveGroup({ id: group.id, add: [user.id] }, rules),
        ),
      );
      const members = await acme.scim.groupMembers([group.id], 100);
      expect(new Set(members.map(({ id }) => id))).toEqual(new Set(people.map(({ user }) => user.id)));
      const [first, ...rest] = people;
      await acme.scim.saveGroup({ id: group.id, replace: [present(first).user.id] }, rules);
      expect((await acme.scim.groupMembers([group.id], 100)).map(({ id }) => id)).toEqual([first?.user.id]);
      expect(await refusal(acme.scim.saveGroup({ id: group.id, add: [newId('scu')] }, rules))).toBe('invalid_argument');
      expect(await refusal(acme.scim.saveGroup({ displayName: 'EVERYBODY' }, rules))).toBe('conflict');
      await directory().provisioning.unprovision(acme.organizationId, present(first).user.id);
      expect(await acme.scim.groupMembers([group.id], 100)).toEqual([]);
      expect(rest).toHaveLength(7);
    });

    describe('and whose account is erased once they have left', () => {
      const issuer = 'https://idp.example';
      const people = () => directory().people;
      /** By the provider, with claims of these organizations; answers where the person is a member then. */
      const signIn = async (email: string, subject: string, claimed: readonly Workspace[]) => {
        const known = await people().identity(issuer, subject);
        const { id } = known ?? (await people().createWithIdentity({ email, name: 'Ada', issuer, subject }));
        const memberships = claimed.map(({ organizationId }) => ({ organizationId, role: 'member' as const }));
        await people().syncMemberships(id, memberships);
        return new Set((await people().memberships(id)).map(({ organization }) => organization.id));
      };
      const leaver = async (how: 'inactive' | 'deleted') => {
        const [acme, own] = await workspaces();
        const ada = newUser();
        const made = await provision(acme, ada);
        const subject = newId('usr');
        await people().linkIdentity(made.user.userId, issuer, subject);
        await signIn(ada.email, subject, [acme, own]);
        if (how === 'inactive') await change(acme, made, { ...ada, active: false });
        else await directory().provisioning.unprovision(acme.organizationId, made.user.id);
        return { acme, own, ada, subject, userId: made.user.userId };
      };
      const eraseAll = async (subject: string) =>
        people().erase(present(await people().identity(issuer, subject)).id, { chats: 'delete' });

      for (const how of ['inactive', 'deleted'] as const) {
        for (const where of ['everywhere', 'elsewhere', 'here'] as const) {
          it(`${where}, are not let in by a sign-in (${how})`, async () => {
            const { acme, own, ada, subject, userId } = await leaver(how);
            const only = { everywhere: undefined, elsewhere: own.organizationId, here: acme.organizationId }[where];
            expect(await people().erase(userId, { organizationId: only, chats: 'delete' })).toMatchObject({
              account: where !== 'here',
            });
            const [elsewhere, left] = [new Set([own.organizationId]), new Set([acme.organizationId])];
            expect(await signIn(ada.email, subject, [acme, own])).toEqual(elsewhere);
            await eraseAll(subject);
            // The identity is known with another address, and the address with another identity.
            const [email, other] = [`${newId('usr')}@example.org`, newId('usr')];
            expect(await people().leftFrom({ issuer, subject, email })).toEqual(left);
            expect(await signIn(email, subject, [acme, own])).toEqual(elsewhere);
            expect(await people().leftFrom({ issuer, subject: other, email: ada.email.toUpperCase() })).toEqual(left);
            expect(await signIn(ada.email, other, [acme, own])).toEqual(elsewhere);
            expect(await people().leftFrom({ issuer, subject: newId('usr'), email: newUser().email })).toEqual(
              new Set(),
            );
          });
        }
      }

      it('are let in once they are active again, and then nothing is kept of it', async () => {
        const { acme, own, ada, subject } = await leaver('inactive');
        await eraseAll(subject);
        expect((await provision(acme, { ...ada, active: false })).joined).toBe(false);
        expect(await people().leftFrom({ issuer, subject, email: ada.email })).toEqual(new Set([acme.organizationId]));
        const gone = present((await acme.scim.users({ where: {}, offset: 0, limit: 1 })).items[0]);
        await people().linkIdentity(gone.userId, issuer, subject);
        const back = await directory().provisioning.provision(
          acme.organizationId,
          { ...ada, id: gone.id, version: gone.version },
          rules,
        );
        expect(back.joined).toBe(true);
        expect(await people().leftFrom({ issuer, subject, email: ada.email })).toEqual(new Set());
        expect(await signIn(ada.email, subject, [acme, own])).toEqual(
          new Set([acme.organizationId, own.organizationId]),
        );
      });

      it('are let in with an identity of before that signs in after SCIM made them active again', async () => {
        const { acme, ada, subject } = await leaver('deleted');
        await eraseAll(subject);
        const { user } = await provision(acme, ada);
        await people().linkIdentity(user.userId, issuer, subject);
        expect(await signIn(ada.email, subject, [acme])).toEqual(new Set([acme.organizationId]));
        // What was said last is kept: that they were active.
        await eraseAll(subject);
        expect(await people().leftFrom({ issuer, subject, email: ada.email })).toEqual(new Set());
      });

      it('leave nothing in an organization that is purged, nor one where they were active', async () => {
        const { acme, own, ada, subject } = await leaver('inactive');
        await provision(own, ada);
        await eraseAll(subject);
        expect(await people().leftFrom({ issuer, subject, email: ada.email })).toEqual(new Set([acme.organizationId]));
        await acme.retention.removeAll();
        expect(await people().leftFrom({ issuer, subject, email: ada.email })).toEqual(new Set());
      });
    });

    it('leave nothing when they are erased', async () => {
      const [acme, globex] = await workspaces();
      const ada = newUser();
      const [one, two] = [await provision(acme, ada), await provision(globex, ada)];
      await directory().people.erase(one.user.userId, { organizationId: acme.organizationId, chats: 'delete' });
      expect(await acme.scim.user(one.user.id)).toBeUndefined();
      expect(await globex.scim.user(two.user.id)).toEqual(two.user);
      await directory().people.erase(one.user.userId, { chats: 'delete' });
      expect(await globex.scim.user(two.user.id)).toBeUndefined();
      expect(await directory().findUser(ada.email)).toBeUndefined();
    });
  });
}

function newUser(): NewScimUser {
  const email = `${newId('usr')}@example.org`;
  return { userName: email, externalId: newId('scu'), email, name: 'Ada', active: true, attributes: '{"title":"Dr"}' };
}

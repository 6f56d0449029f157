import { newId } from '../../../src/contract/core/index.ts';
import type { InvitedAccount } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { awkward, later, type MakeStorage, newInvitation, present, refusal, sharedStage } from './stage.ts';

const password = { kind: 'password', name: 'Ada', hash: '$argon2id$' } as const satisfies InvitedAccount;

/** Invitations: open once for an address, and accepted by exactly one. */
export function invitationPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('invitations', () => {
    const stage = sharedStage(runner, make);

    it('come back field by field, found by the hash of their token alone', async () => {
      const [here, there] = await stage().workspaces();
      const organization = present(await stage().storage.directory.findOrganization(here.organizationId));
      const input = newInvitation({ email: `Zoë.${newId('usr')}@Example.org`, role: 'admin', createdBy: awkward });
      const made = await here.invitations.create(input);
      const { hash, ...rest } = input;
      expect(made).toEqual({ ...rest, organizationId: organization.id, createdAt: made.createdAt });
      expect(await there.invitations.list()).toEqual([made]);
      const { people } = stage().other.directory;
      expect(await people.invitation(hash)).toEqual({ ...made, organization });
      for (const wrong of ['', '%', made.id, hash.slice(1)]) expect(await people.invitation(wrong)).toBeUndefined();
      expect(JSON.stringify([made, await people.invitation(hash)])).not.toContain(hash);
    });

    it('tell whether there is an account of the address', async () => {
      const { invitations } = await stage().workspace();
      const user = await stage().person();
      const input = newInvitation({ email: user.email.toUpperCase() });
      await invitations.create(input);
      expect((await stage().storage.directory.people.invitation(input.hash))?.user).toEqual(user);
    });

    it('are listed newest first', async () => {
      const { invitations } = await stage().workspace();
      const made: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        made.unshift((await invitations.create(newInvitation())).id);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect((await invitations.list()).map(({ id }) => id)).toEqual(made);
    });

    it('are one for an address without case: an older one ends, also of two at once', async () => {
      const [here, there] = await stage().workspaces();
      const elsewhere = await stage().workspace();
      const email = `${newId('usr')}@example.org`;
      const [first, abroad] = [newInvitation({ email }), newInvitation({ email })];
      await here.invitations.create(first);
      await elsewhere.invitations.create(abroad);
      const second = newInvitation({ email: email.toUpperCase() });
      await there.invitations.create(second);
      expect((await here.invitations.list()).map(({ id }) => id)).toEqual([second.id]);
      const { people } = stage().storage.directory;
      expect(await people.acceptInvitation(first.hash, password)).toBeUndefined();
      expect(await people.invitation(abroad.hash)).not.toBeUndefined();

      await Promise.all([here, there, here, there].map((each) => each.invitations.create(newInvitation({ email }))));
      expect(await here.invitations.list()).toHaveLength(1);
      expect(await people.invitation(second.hash)).toBeUndefined();
    });

    it('are refused for a member, for what is no address, and under an id or token that is taken', async () => {
      const [workspace, elsewhere] = [await stage().workspace(), await stage().workspace()];
      const member = await stage().member(workspace);
      const { invitations } = workspace;
      expect(await refusal(invitations.create(newInvitation({ email: member.email.toUpperCase() })))).toBe('conflict');
      expect((await elsewhere.invitations.create(newInvitation({ email: member.email }))).email).toBe(member.email);
      for (const email of ['', 'sam', 'a b@example.org', `${'x'.repeat(320)}@example.org`]) {
        expect(await refusal(invitations.create(newInvitation({ email })))).toBe('invalid_argument');
      }
      const taken = newInvitation();
      await elsewhere.invitations.create(taken);
      expect(await refusal(invitations.create(newInvitation({ id: taken.id })))).toBe('conflict');
      expect(await refusal(invitations.create(newInvitation({ hash: taken.hash })))).toBe('conflict');
      expect(await invitations.list()).toEqual([]);
      expect((await stage().storage.directory.people.invitation(taken.hash))?.id).toBe(taken.id);
    });

    it('end when they are revoked, felt by every process', async () => {
      const [here, there] = await stage().workspaces();
      const input = newInvitation();
      await here.invitations.create(input);
      expect(await there.invitations.revoke(input.id)).toBe(true);
      expect(await here.invitations.revoke(input.id)).toBe(false);
      const { people } = stage().storage.directory;
      expect(await people.invitation(input.hash)).toBeUndefined();
      expect(await people.acceptInvitation(input.hash, password)).toBeUndefined();
      expect(await people.credentials(input.email)).toBeUndefined();
      expect(await here.invitations.list()).toEqual([]);
    });

    it('end with their time', async () => {
      const { organizationId, invitations } = await stage().workspace();
      const input = newInvitation({ expiresAt: new Date(Date.now() + 60_000) });
      await invitations.create(input);
      const afterwards = await stage().open(later(60_001));
      const { people } = afterwards.directory;
      expect(await people.invitation(input.hash)).toBeUndefined();
      expect(await people.acceptInvitation(input.hash, password)).toBeUndefined();
      expect(await people.credentials(input.email)).toBeUndefined();
      expect(await afterwards.workspace(organizationId).invitations.list()).toEqual([]);
      expect(await afterwards.workspace(organizationId).invitations.revoke(input.id)).toBe(false);
      const again = newInvitation({ email: input.email, expiresAt: new Date(Date.now() + 600_000) });
      await afterwards.workspace(organizationId).invitations.create(again);
      expect((await people.invitation(again.hash))?.id).toBe(again.id);
    });
  });

  describe('an invitation that is accepted', () => {
    const stage = sharedStage(runner, make);
    const people = () => stage().storage.directory.people;
    const members = async (workspace: Awaited<ReturnType<typeof invited>>['workspace']) =>
      (await workspace.members.list()).map(({ user, role }) => [user.id, role]);

    async function invited(overrides: Parameters<typeof newInvitation>[0] = {}) {
      const workspace = await stage().workspace();
      const input = newInvitation(overrides);
      await workspace.invitations.create(input);
      return { workspace, ...input };
    }

    it('makes an account with a password and a member of it, once', async () => {
      const { workspace, hash, email } = await invited({ role: 'admin' });
      const user = present(await people().acceptInvitation(hash, { ...password, name: ' Zoë ' }));
      expect(user).toMatchObject({ email, name: 'Zoë', enabled: true });
      expect(await stage().other.directory.people.credentials(email)).toEqual({ user, hash: password.hash });
      expect(await members(workspace)).toEqual([[user.id, 'admin']]);
      expect(await workspace.invitations.list()).toEqual([]);
      expect(await people().invitation(hash)).toBeUndefined();
      expect(await people().acceptInvitation(hash, { kind: 'existing', userId: user.id })).toBeUndefined();
    });

    it('makes an account with an identity and no password', async () => {
      const { workspace, hash, email } = await invited();
      const identity = { issuer: 'https://login.example', subject: newId('usr') };
      const user = present(await people().acceptInvitation(hash, { kind: 'identity', name: 'Ada', ...identity }));
      expect(await people().identity(identity.issuer, identity.subject)).toEqual(user);
      expect(await people().credentials(email)).toEqual({ user });
      expect(await members(workspace)).toEqual([[user.id, 'member']]);
    });

    it('makes the account of its address a member, given here', async () => {
      const account = await stage().person();
      const { workspace, hash } = await invited({ email: account.email.toUpperCase(), role: 'admin' });
      await people().syncMemberships(account.id, [{ organizationId: workspace.organizationId, role: 'member' }]);
      expect(await people().acceptInvitation(hash, { kind: 'existing', userId: account.id })).toEqual(account);
      await people().syncMemberships(account.id, []);
      expect(await members(workspace)).toEqual([[account.id, 'admin']]);
    });

    it('takes nothing from who became an admin meanwhile', async () => {
      const account = await stage().person();
      const { workspace, hash } = await invited({ email: account.email, role: 'member' });
      await workspace.members.add(account.id, 'admin');
      expect(await people().acceptInvitation(hash, { kind: 'existing', userId: account.id })).toEqual(account);
      expect(await members(workspace)).toEqual([[account.id, 'admin']]);
    });

    it('is not for another account, nor for one that is disabled, and stays open for its own', async () => {
      const [account, other] = [await stage().person(), await stage().person()];
      const { workspace, hash } = await invited({ email: account.email });
      const accept = (userId: typeof account.id) => people().acceptInvitation(hash, { kind: 'existing', userId });
      expect(await refusal(accept(other.id))).toBe('forbidden');
      expect(await refusal(accept(newId('usr')))).toBe('forbidden');
      await people().setEnabled(account.id, false);
      expect(await refusal(accept(account.id))).toBe('forbidden');
      expect(await members(workspace)).toEqual([]);
      await people().setEnabled(account.id, true);
      expect(await accept(account.id)).toEqual(account);
    });

    it('takes over no account that is there, and stays open', async () => {
      const account = await stage().person();
      await people().setPassword(account.id, 'own');
      const { workspace, hash } = await invited({ email: account.email });
      const identity = { issuer: 'https://login.example', subject: newId('usr') };
      for (const attempt of [password, { kind: 'identity', name: 'Eve', ...identity }] as const) {
        expect(await refusal(people().acceptInvitation(hash, attempt))).toBe('conflict');
      }
      expect(await people().credentials(account.email)).toEqual({ user: account, hash: 'own' });
      expect(await people().identity(identity.issuer, identity.subject)).toBeUndefined();
      expect(await members(workspace)).toEqual([]);
      expect(await workspace.invitations.list()).toHaveLength(1);
    });

    it('makes no account where the identity is taken or the name is none, and stays open', async () => {
      const { workspace, hash, email } = await invited();
      const owner = await stage().person();
      const identity = { issuer: 'https://login.example', subject: owner.id };
      await people().linkIdentity(owner.id, identity.issuer, identity.subject);
      const attempt = people().acceptInvitation(hash, { kind: 'identity', name: 'Eve', ...identity });
      expect(await refusal(attempt)).toBe('conflict');
      expect(await refusal(people().acceptInvitation(hash, { ...password, name: ' ' }))).toBe('invalid_argument');
      expect(await people().credentials(email)).toBeUndefined();
      expect(await workspace.invitations.list()).toHaveLength(1);
    });

    it('is accepted by exactly one of many callers in two processes', async () => {
      const { workspace, hash } = await invited();
      const accepted = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? stage().storage : stage().other).directory.people.acceptInvitation(hash, {
            ...password,
            hash: `h${index}`,
          }),
        ),
      );
      const winners = accepted.filter((user) => user !== undefined);
      expect(winners).toHaveLength(1);
      expect(await members(workspace)).toEqual([[winners[0]?.id, 'member']]);
      const kept = await people().credentials(present(winners[0]).email);
      expect(kept?.hash).toBe(`h${accepted.findIndex((user) => user !== undefined)}`);
    });

    it('is either accepted or revoked when both happen at once', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { workspace, id, hash } = await invited();
        const [accepted, revoked] = await Promise.all([
          stage().other.directory.people.acceptInvitation(hash, password),
          workspace.invitations.revoke(id),
        ]);
        expect(revoked).toBe(accepted === undefined);
        expect(await members(workspace)).toHaveLength(revoked ? 0 : 1);
      }
    });

    it('makes one account of two invitations to one address that are accepted at once', async () => {
      const email = `${newId('usr')}@example.org`;
      const both = [await invited({ email }), await invited({ email })];
      const [one, two] = both.map(({ hash }) => hash);
      const made = await Promise.allSettled([
        people().acceptInvitation(present(one), password),
        stage().other.directory.people.acceptInvitation(present(two), password),
      ]);
      const [won] = made.flatMap((result) => (result.status === 'fulfilled' ? [present(result.value)] : []));
      const lost = made.findIndex(({ status }) => status === 'rejected');
      expect(made[lost]).toMatchObject({ reason: { code: 'conflict' } });
      // The other organization's is then accepted as the account that is there.
      const { hash, workspace } = present(both[lost]);
      await people().acceptInvitation(hash, { kind: 'existing', userId: present(won).id });
      expect(await members(workspace)).toEqual([[won?.id, 'member']]);
    });
  });
}

import { newId } from '../../../src/contract/core/index.ts';
import type { Role } from '../../../src/contract/issuer/index.ts';
import type { User, Workspace } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { type MakeStorage, newGrant, present, refusal, sharedStage } from './stage.ts';

/** Memberships by what an identity provider says, beside those that were given here. */
export function providedMembershipPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('memberships that an identity provider gives', () => {
    const stage = sharedStage(runner, make);
    const people = () => stage().storage.directory.people;
    const roles = async ({ id }: User) =>
      new Map((await people().memberships(id)).map(({ organization, role }) => [organization.id, role]));
    const of = ({ organizationId }: Workspace, role: Role = 'member') => ({ organizationId, role });

    it('become what it says: new ones, other roles, and those that ended', async () => {
      const user = await stage().person();
      const [one, two, three] = [await stage().workspace(), await stage().workspace(), await stage().workspace()];
      await people().syncMemberships(user.id, [of(one), of(two, 'admin')]);
      expect(await roles(user)).toEqual(
        new Map([
          [one.organizationId, 'member'],
          [two.organizationId, 'admin'],
        ]),
      );
      for (const less of [[], [of(one)], [of(one), of(two)]]) {
        expect(await refusal(people().syncMemberships(user.id, less, 'take-nothing'))).toBe('conflict');
      }
      await people().syncMemberships(user.id, [of(one), of(two, 'admin')], 'take-nothing');
      await stage().other.directory.people.syncMemberships(user.id, [of(two), of(three)]);
      expect(await roles(user)).toEqual(
        new Map([
          [two.organizationId, 'member'],
          [three.organizationId, 'member'],
        ]),
      );
      await people().syncMemberships(user.id, []);
      expect(await roles(user)).toEqual(new Map());
    });

    it('leave those given here alone, and theirs is given once it was added here', async () => {
      const user = await stage().person();
      const [given, provided] = [await stage().workspace(), await stage().workspace()];
      await given.members.add(user.id, 'admin');
      await people().syncMemberships(user.id, [of(given), of(provided)]);
      expect(await roles(user)).toEqual(
        new Map([
          [given.organizationId, 'admin'],
          [provided.organizationId, 'member'],
        ]),
      );
      await provided.members.add(user.id, 'admin');
      await people().syncMemberships(user.id, []);
      expect(await roles(user)).toEqual(
        new Map([
          [given.organizationId, 'admin'],
          [provided.organizationId, 'admin'],
        ]),
      );
    });

    it("end with what was granted there, and with nobody else's", async () => {
      const [user, other] = [await stage().person(), await stage().person()];
      const [kept, ended] = [await stage().workspace(), await stage().workspace()];
      for (const { id } of [user, other]) await people().syncMemberships(id, [of(kept), of(ended)]);
      const grants = [
        [kept, newGrant(user.id)],
        [ended, newGrant(user.id)],
        [ended, newGrant(other.id)],
      ] as const;
      for (const [workspace, grant] of grants) await workspace.grants.create(grant);
      await people().syncMemberships(user.id, [of(kept)]);
      await people().syncMemberships(user.id, [of(kept), of(ended)]);
      const live = await Promise.all(grants.map(([, { id }]) => stage().other.directory.liveGrant(id)));
      expect(live.map((grant) => grant !== undefined)).toEqual([true, false, true]);
    });

    it('change nothing where an organization or the person is not there', async () => {
      const user = await stage().person();
      const workspace = await stage().workspace();
      await people().syncMemberships(user.id, [of(workspace)]);
      const missing = { organizationId: newId('org'), role: 'admin' } as const;
      expect(await refusal(people().syncMemberships(user.id, [missing]))).toBe('not_found');
      expect(await roles(user)).toEqual(new Map([[workspace.organizationId, 'member']]));
      expect(await refusal(people().syncMemberships(newId('usr'), []))).toBe('not_found');
      expect(await refusal(people().syncMemberships(newId('usr'), [of(workspace)]))).toBe('not_found');
    });

    it('are what one of several sign-ins at once said, whole', async () => {
      const user = await stage().person();
      const [one, two] = [await stage().workspace(), await stage().workspace()];
      const said = [
        [of(one, 'admin'), of(two, 'admin')],
        [of(two), of(one)],
      ];
      await Promise.all(
        [stage().storage, stage().other, stage().storage, stage().other].map(({ directory }, index) =>
          directory.people.syncMemberships(user.id, present(said[index % 2])),
        ),
      );
      expect(new Set((await roles(user)).values()).size).toBe(1);
      expect([...(await roles(user)).keys()]).toHaveLength(2);
    });
  });
}

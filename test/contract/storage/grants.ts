import { newId, type GrantId } from '../../../src/contract/core/index.ts';
import type { Artifact } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import {
  awkward,
  eventually,
  inAnHour,
  inTurn,
  type MakeStorage,
  newGrant,
  present,
  refusal,
  sharedStage,
} from './stage.ts';

/** What people granted to applications, and that it ends at once with all that came of it. */
export function grantPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('grants', () => {
    const stage = sharedStage(runner, make);
    const live = (id: GrantId) => stage().other.directory.liveGrant(id);

    /** Something the issuer keeps of the grant. */
    async function issue(grantId: GrantId, model = 'RefreshToken'): Promise<Artifact> {
      const artifact = { model, id: newId('sec'), payload: '{}', grantId, expiresAt: inAnHour() };
      await stage().storage.directory.artifacts.upsert(artifact);
      return artifact;
    }
    async function isKept({ model, id }: Artifact): Promise<boolean> {
      return (await stage().other.directory.artifacts.find(model, id)) !== undefined;
    }

    it('come back field by field', async () => {
      const [here, there] = await stage().workspaces();
      const user = await stage().member(here);
      const input = newGrant(user.id, {
        clientId: `https://client.example/${'x'.repeat(3_000)}`,
        clientName: awkward,
        redirectOrigin: 'cursor:',
        machine: awkward,
        scopes: ['telemetry:read', 'chats:write'],
      });
      await here.grants.create(input);
      const [grant] = await there.grants.list();
      const { createdAt } = present(grant);
      const { userId: _, ...rest } = input;
      expect(grant).toEqual({
        ...rest,
        organizationId: here.organizationId,
        user: { id: user.id, email: user.email, name: user.name },
        createdAt,
      });
      expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    });

    it('are listed newest first, of everyone or of one person', async () => {
      const workspace = await stage().workspace();
      const { grants } = workspace;
      const [ada, bob] = [await stage().member(workspace), await stage().member(workspace)];
      const made = await inTurn([ada, bob, ada, bob], async ({ id }) => {
        const grant = newGrant(id);
        await grants.create(grant);
        await new Promise((resolve) => setTimeout(resolve, 2));
        return grant.id;
      });
      expect((await grants.list()).map(({ id }) => id)).toEqual(made.toReversed());
      expect((await grants.list(ada.id)).map(({ id }) => id)).toEqual([made[2], made[0]]);
      expect(await grants.list(newId('usr'))).toEqual([]);
    });

    it('are live with the person, the role and the scopes they have now', async () => {
      const [here, there] = await stage().workspaces();
      await here.members.add((await stage().person()).id, 'admin');
      const user = await stage().member(here);
      const grant = newGrant(user.id, { scopes: ['telemetry:read', 'incidents:read'] });
      await here.grants.create(grant);
      const expected = {
        userId: user.id,
        organizationId: here.organizationId,
        email: user.email,
        role: 'member',
        scopes: grant.scopes,
      };
      expect(await live(grant.id)).toEqual(expected);
      await there.members.add(user.id, 'admin');
      expect(await live(grant.id)).toEqual({ ...expected, role: 'admin' });
      expect(await live(newId('gra'))).toBeUndefined();
    });

    it('are refused of whoever is no member, and under an id that is taken', async () => {
      const [here, elsewhere] = [await stage().workspace(), await stage().workspace()];
      const user = await stage().member(here);
      const grant = newGrant(user.id);
      await here.grants.create(grant);
      expect(await refusal(elsewhere.grants.create(newGrant(user.id)))).toBe('not_found');
      expect(await refusal(here.grants.create(newGrant(newId('usr'))))).toBe('not_found');
      const other = await stage().member(elsewhere);
      expect(await refusal(elsewhere.grants.create(newGrant(other.id, { id: grant.id })))).toBe('conflict');
      expect((await live(grant.id))?.userId).toBe(user.id);
    });

    it('end at once in every process when revoked, with every artifact of them and no other', async () => {
      const [here, there] = await stage().workspaces();
      const user = await stage().member(here);
      const [doomed, kept] = [newGrant(user.id), newGrant(user.id)];
      for (const grant of [doomed, kept]) await here.grants.create(grant);
      const gone = await inTurn(['AccessToken', 'RefreshToken', 'AuthorizationCode', 'Grant'], (model) =>
        issue(doomed.id, model),
      );
      const other = await issue(kept.id);
      expect(await there.grants.revoke(doomed.id)).toBe(true);
      expect(await stage().storage.directory.liveGrant(doomed.id)).toBeUndefined();
      expect(await live(doomed.id)).toBeUndefined();
      for (const artifact of gone) expect(await isKept(artifact)).toBe(false);
      expect(await live(kept.id)).not.toBeUndefined();
      expect(await isKept(other)).toBe(true);
      expect((await here.grants.list()).map(({ id }) => id)).toEqual([kept.id]);
      expect(await here.grants.revoke(doomed.id)).toBe(false);
    });

    it('are revoked once by several processes at once', async () => {
      const [here, there] = await stage().workspaces();
      const grant = newGrant((await stage().member(here)).id);
      await here.grants.create(grant);
      const revoked = await Promise.all([here, there, here, there].map(({ grants }) => grants.revoke(grant.id)));
      expect(revoked.filter(Boolean)).toHaveLength(1);
    });

    it("are revoked for one person only where they are that person's, and never by another organization", async () => {
      const [workspace, stranger] = [await stage().workspace(), await stage().workspace()];
      const [owner, colleague] = [await stage().member(workspace), await stage().member(workspace)];
      await stranger.members.add(owner.id, 'admin');
      const grant = newGrant(owner.id);
      await workspace.grants.create(grant);
      const artifact = await issue(grant.id);
      expect(await workspace.grants.revoke(grant.id, colleague.id)).toBe(false);
      expect(await stranger.grants.revoke(grant.id)).toBe(false);
      expect(await stranger.grants.revoke(grant.id, owner.id)).toBe(false);
      expect(await stranger.members.remove(owner.id)).toBe(true);
      expect(await live(grant.id)).not.toBeUndefined();
      expect(await isKept(artifact)).toBe(true);
      expect(await workspace.grants.revoke(grant.id, owner.id)).toBe(true);
      expect(await isKept(artifact)).toBe(false);
    });

    it('end where only their id is known', async () => {
      const workspace = await stage().workspace();
      const user = await stage().member(workspace);
      const [doomed, kept] = [newGrant(user.id), newGrant(user.id)];
      for (const grant of [doomed, kept]) await workspace.grants.create(grant);
      const [gone, other] = [await issue(doomed.id), await issue(kept.id)];
      await stage().other.directory.revokeGrant(doomed.id);
      await stage().storage.directory.revokeGrant(doomed.id);
      expect([await live(doomed.id), await isKept(gone)]).toEqual([undefined, false]);
      expect(await isKept(other)).toBe(true);
      expect((await workspace.grants.list()).map(({ id }) => id)).toEqual([kept.id]);
    });

    it('leave no artifact behind where the grant was never kept', async () => {
      const id = newId('gra');
      const artifact = await issue(id);
      await stage().storage.directory.revokeGrant(id);
      expect(await isKept(artifact)).toBe(false);
    });

    it('end with the membership, there alone, and do not come back with it', async () => {
      const [workspace, elsewhere] = [await stage().workspace(), await stage().workspace()];
      const [leaving, staying] = [await stage().member(workspace), await stage().member(workspace)];
      await elsewhere.members.add(leaving.id, 'member');
      const [ended, others, abroad] = [newGrant(leaving.id), newGrant(staying.id), newGrant(leaving.id)];
      for (const grant of [ended, others]) await workspace.grants.create(grant);
      await elsewhere.grants.create(abroad);
      const artifacts = await inTurn([ended, others, abroad], ({ id }) => issue(id));
      expect(await workspace.members.remove(leaving.id)).toBe(true);
      await workspace.members.add(leaving.id, 'member');
      const lives = await inTurn([ended, others, abroad], async ({ id }) => (await live(id)) !== undefined);
      expect(lives).toEqual([false, true, true]);
      expect(await inTurn(artifacts, isKept)).toEqual([false, true, true]);
    });

    it('remember when they were used, to the minute', async () => {
      const [here, there] = await stage().workspaces();
      const grant = newGrant((await stage().member(here)).id);
      await here.grants.create(grant);
      const used = async () => (await there.grants.list()).at(0)?.lastUsedAt?.getTime();
      const start = 1_800_000_000_000;
      await here.grants.markUsed(grant.id, new Date(start));
      await eventually(async () => (await used()) !== undefined);
      expect(await used()).toBe(start);
      await here.grants.markUsed(grant.id, new Date(start + 59_000));
      await there.grants.markUsed(grant.id, new Date(start + 59_999));
      await here.grants.markUsed(grant.id, new Date(start + 60_000));
      await eventually(async () => (await used()) !== start);
      expect(await used()).toBe(start + 60_000);
    });

    it('are not marked by another organization, and may be marked when they are gone', async () => {
      const storage = await stage().open();
      const { id } = await stage().organization();
      const workspace = stage().storage.workspace(id);
      const grant = newGrant((await stage().member(workspace)).id);
      await workspace.grants.create(grant);
      const stranger = await stage().organization();
      await storage.workspace(stranger.id).grants.markUsed(grant.id, new Date());
      await storage.workspace(id).grants.markUsed(newId('gra'), new Date());
      await storage.stop();
      expect((await workspace.grants.list()).at(0)?.lastUsedAt).toBeUndefined();
    });
  });
}

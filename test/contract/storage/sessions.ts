import { newId } from '../../../src/contract/core/index.ts';
import type { Runner } from '../runner.ts';
import { later, type MakeStorage, newSession, ownStage, present, refusal, sharedStage } from './stage.ts';

/** Browsers that are signed in, for as long as account and time allow. */
export function sessionPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('sessions', () => {
    const stage = sharedStage(runner, make);
    const here = () => stage().storage.directory.sessions;
    const there = () => stage().other.directory.sessions;

    it('come back with the person', async () => {
      const user = await stage().person();
      const session = newSession(user.id, { expiresAt: new Date(Date.now() + 43_200_123) });
      await here().create(session);
      const found = present(await there().find(session.hash));
      expect(found).toEqual({ user, createdAt: found.createdAt, expiresAt: session.expiresAt });
      expect(Math.abs(found.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    });

    it('come back with the chosen organization and the role in it now', async () => {
      const [workspace, same] = await stage().workspaces();
      const organization = present(await stage().storage.directory.findOrganization(workspace.organizationId));
      const user = await stage().member(workspace);
      const session = newSession(user.id, { organizationId: organization.id });
      await here().create(session);
      expect((await there().find(session.hash))?.membership).toEqual({ organization, role: 'member' });
      await same.members.add(user.id, 'admin');
      expect((await here().find(session.hash))?.membership).toEqual({ organization, role: 'admin' });
      await same.members.remove(user.id);
      const left = present(await here().find(session.hash));
      expect(left.user).toEqual(user);
      expect(left.membership).toBeUndefined();
    });

    it('are not found by anything but their hash', async () => {
      const user = await stage().person();
      const session = newSession(user.id);
      await here().create(session);
      for (const hash of ['', '%', session.hash.toUpperCase(), session.hash.slice(1), user.id, "' OR 1=1 --"]) {
        expect(await here().find(hash)).toBeUndefined();
      }
    });

    it('choose only an organization the person belongs to', async () => {
      const [own, foreign] = [await stage().workspace(), await stage().workspace()];
      const user = await stage().member(own);
      await stage().member(foreign);
      const session = newSession(user.id);
      await here().create(session);
      const chosen = async () => (await there().find(session.hash))?.membership?.organization.id;
      expect(await here().choose(session.hash, foreign.organizationId)).toBe(false);
      expect(await here().choose(session.hash, newId('org'))).toBe(false);
      expect(await here().choose('nothing', own.organizationId)).toBe(false);
      expect(await chosen()).toBeUndefined();
      expect(await here().choose(session.hash, own.organizationId)).toBe(true);
      expect(await chosen()).toBe(own.organizationId);
      expect(await here().choose(session.hash, foreign.organizationId)).toBe(false);
      expect(await chosen()).toBe(own.organizationId);
    });

    it("are chosen for one browser and not for the person's others", async () => {
      const workspace = await stage().workspace();
      const user = await stage().member(workspace);
      const [one, two] = [newSession(user.id), newSession(user.id)];
      for (const session of [one, two]) await here().create(session);
      await here().choose(one.hash, workspace.organizationId);
      expect((await here().find(two.hash))?.membership).toBeUndefined();
    });

    it('end one by one, or all of a person, felt by every process', async () => {
      const [user, other] = [await stage().person(), await stage().person()];
      const [one, two, three, foreign] = [
        newSession(user.id),
        newSession(user.id),
        newSession(user.id),
        newSession(other.id),
      ];
      for (const session of [one, two, three, foreign]) await here().create(session);
      await here().remove(one.hash);
      await here().remove(one.hash);
      expect(await there().find(one.hash)).toBeUndefined();
      expect(await there().find(two.hash)).not.toBeUndefined();
      await there().removeOf(user.id);
      for (const { hash } of [two, three]) expect(await here().find(hash)).toBeUndefined();
      expect(await here().find(foreign.hash)).not.toBeUndefined();
    });

    it('are nothing while the account is disabled, also one that began at that moment', async () => {
      const { people } = stage().storage.directory;
      const user = await stage().person();
      await people.setEnabled(user.id, false);
      const session = newSession(user.id);
      await there().create(session);
      expect(await here().find(session.hash)).toBeUndefined();
    });

    it('are not made twice, nor for nobody', async () => {
      const user = await stage().person();
      const session = newSession(user.id);
      await here().create(session);
      const other = await stage().person();
      expect(await refusal(there().create({ ...session, userId: other.id }))).toBe('conflict');
      expect((await here().find(session.hash))?.user).toEqual(user);
      expect(await refusal(here().create(newSession(newId('usr'))))).toBe('not_found');
      expect(await refusal(here().create(newSession(user.id, { organizationId: newId('org') })))).toBe('not_found');
    });
  });

  describe('sessions that have expired', () => {
    const stage = ownStage(runner, make);

    it('are not found, choose nothing, and are removed without the others', async () => {
      const workspace = await stage().workspace();
      const user = await stage().member(workspace);
      const [short, long] = [
        newSession(user.id, { expiresAt: new Date(Date.now() + 60_000) }),
        newSession(user.id, { expiresAt: new Date(Date.now() + 3_600_000) }),
      ];
      const { sessions } = stage().storage.directory;
      for (const session of [short, long]) await sessions.create(session);
      expect(await sessions.find(short.hash)).not.toBeUndefined();
      const { sessions: afterwards } = (await stage().open(later(60_001))).directory;
      expect(await afterwards.find(short.hash)).toBeUndefined();
      expect(await afterwards.choose(short.hash, workspace.organizationId)).toBe(false);
      expect(await afterwards.choose(long.hash, workspace.organizationId)).toBe(true);
      expect(await sessions.removeExpired(new Date(short.expiresAt.getTime() - 1))).toBe(0);
      expect(await sessions.removeExpired(short.expiresAt)).toBe(1);
      expect(await sessions.removeExpired(short.expiresAt)).toBe(0);
      expect((await afterwards.find(long.hash))?.membership?.role).toBe('member');
    });
  });
}

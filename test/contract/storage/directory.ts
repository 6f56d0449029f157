import { hashSecret, newId } from '../../../src/contract/core/index.ts';
import { rejection, type Runner } from '../runner.ts';
import {
  awkward,
  eventually,
  type MakeStorage,
  newInvitation,
  ownStage,
  present,
  refusal,
  sharedStage,
  soon,
} from './stage.ts';

/** What is known before an organization is: organizations, people, and the schema itself. */
export function directoryPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('schema', () => {
    it('is brought up to date by exactly one of several processes at once', async () => {
      const store = await make('schema');
      const instances = [store.open(), store.open(), store.open()];
      try {
        const reports = await Promise.all(instances.map((instance) => instance.migrate()));
        const applied = reports.flatMap((report) => report.applied);
        expect(applied.length).toBeGreaterThan(0);
        expect(new Set(applied).size).toBe(applied.length);
        expect(reports.filter((report) => report.applied.length > 0)).toHaveLength(1);
        expect(new Set(reports.map(({ version }) => version)).size).toBe(1);
      } finally {
        for (const instance of instances) await instance.stop();
        await store.cleanup();
      }
    });

    it('is told what would be done to it, and stays as it is', async () => {
      const store = await make('schema');
      const storage = store.open();
      try {
        const plan = await storage.planMigration();
        expect(plan.pending.length).toBeGreaterThan(0);
        expect(await storage.planMigration()).toEqual(plan);
        expect(await storage.migrate()).toEqual({ applied: plan.pending, version: plan.version });
        expect(await storage.planMigration()).toEqual({ pending: [], version: plan.version });
      } finally {
        await storage.stop();
        await store.cleanup();
      }
    });

    it('is left alone by a second migration, and the data with it', async () => {
      const store = await make();
      const storage = store.open();
      try {
        const first = await storage.migrate();
        const { id } = await storage.directory.createOrganization({ name: 'Kept' });
        expect(await storage.migrate()).toEqual({ applied: [], version: first.version });
        expect((await storage.directory.findOrganization('Kept'))?.id).toBe(id);
      } finally {
        await storage.stop();
        await store.cleanup();
      }
    });

    it('is there once the storage is started', async () => {
      const store = await make();
      const storage = store.open();
      try {
        await storage.start(soon());
        expect((await storage.migrate()).applied).toEqual([]);
      } finally {
        await storage.stop();
        await store.cleanup();
      }
    });
  });

  describe('a storage that is not open', () => {
    it('says so instead of hanging or crashing', async () => {
      const store = await make();
      const storage = store.open();
      try {
        const use = async () => storage.directory.organizations();
        expect(await refusal(use())).toBe('unavailable');
        await storage.start(soon());
        const kept = storage.directory;
        await storage.stop();
        expect(await refusal(use())).toBe('unavailable');
        expect(await refusal(kept.organizations())).toBe('unavailable');
        expect(await refusal(kept.liveKey(newId('ak'), newId('sec')))).toBe('unavailable');
      } finally {
        await store.cleanup();
      }
    });

    it('may be started again', async () => {
      const store = await make();
      const storage = store.open();
      try {
        await storage.start(soon());
        await storage.directory.createOrganization({ name: 'Before' });
        await storage.stop();
        await storage.start(soon());
        expect(await storage.directory.organizations()).toHaveLength(1);
      } finally {
        await storage.stop();
        await store.cleanup();
      }
    });
  });

  describe('organizations', () => {
    const stage = ownStage(runner, make);

    it('come back as they were made, found by id and by name without case', async () => {
      const { directory } = stage().storage;
      const made = await directory.createOrganization({ name: 'Ünïted Ångström & Söhne' });
      expect(made.name).toBe('Ünïted Ångström & Söhne');
      for (const wanted of [made.id, made.name, 'ÜNÏTED ÅNGSTRÖM & SÖHNE', ' ünïted ångström & söhne ']) {
        expect(await directory.findOrganization(wanted)).toEqual(made);
      }
      expect(await stage().other.directory.organizations()).toEqual([made]);
    });

    it('are listed oldest first', async () => {
      const { directory } = stage().storage;
      for (const name of ['b', 'a', 'c']) {
        await directory.createOrganization({ name });
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect((await directory.organizations()).map(({ name }) => name)).toEqual(['b', 'a', 'c']);
    });

    it('are not found by a pattern, by an unknown id, or by nothing', async () => {
      const { directory } = stage().storage;
      await directory.createOrganization({ name: 'Acme' });
      for (const wanted of ['%', 'Acm_', '', newId('org'), "Acme' OR '1'='1"]) {
        expect(await directory.findOrganization(wanted)).toBeUndefined();
      }
    });

    it('have names that are unique without case', async () => {
      const { directory } = stage().storage;
      await directory.createOrganization({ name: 'Straße Ä' });
      expect(await refusal(directory.createOrganization({ name: 'STRAßE ä' }))).toBe('conflict');
      expect(await directory.organizations()).toHaveLength(1);
    });

    it('are made once when two processes make the same at once', async () => {
      const made = await Promise.allSettled(
        [stage().storage, stage().other].flatMap(({ directory }) =>
          ['Acme', 'ACME', 'acme'].map((name) => directory.createOrganization({ name })),
        ),
      );
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of made) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
      }
    });

    it('refuse names that are blank, too long, unprintable, or written like an id', async () => {
      const { directory } = stage().storage;
      for (const name of ['', '   ', 'x'.repeat(201), 'a\nb', 'a\u0000b', newId('org')]) {
        expect(await refusal(directory.createOrganization({ name }))).toBe('invalid_argument');
      }
      expect(await directory.organizations()).toEqual([]);
    });

    it('must exist before anything is kept for them', async () => {
      const nobody = stage().storage.workspace(newId('org'));
      const startedAt = new Date();
      const actor = { kind: 'operator', id: 'root', name: 'root' } as const;
      // All at once, so that none is refused before somebody listens.
      const refused = await Promise.all(
        [
          nobody.incidents.create({ title: 't', severity: 'low', source: 's', startedAt }, actor),
          nobody.ingestTokens.create({ id: newId('it'), hash: 'h', sealed: 's', createdBy: 'ada' }),
          nobody.chats.start({ title: 't', message: 'm', author: actor, engine: 'e' }),
        ].map(refusal),
      );
      expect(new Set(refused)).toEqual(new Set(['not_found']));
    });
  });

  describe('people', () => {
    const stage = sharedStage(runner, make);

    it('come back as they were made, found by id and by e-mail without case', async () => {
      const { directory } = stage().storage;
      const user = await directory.createUser({ email: "Zoë.O'Neil+x@Example.org", name: 'Zoë 日本' });
      expect(user).toMatchObject({ email: "Zoë.O'Neil+x@Example.org", name: 'Zoë 日本', enabled: true });
      expect(await directory.findUser(user.id)).toEqual(user);
      expect(await directory.findUser("ZOË.O'NEIL+X@EXAMPLE.ORG")).toEqual(user);
      expect(await directory.users()).toContainEqual(user);
      expect(await directory.findUser('%@example.org')).toBeUndefined();
      expect(await directory.findUser(newId('usr'))).toBeUndefined();
    });

    it('have an e-mail address that is unique without case and is written like one', async () => {
      const { directory } = stage().storage;
      await directory.createUser({ email: 'sam@example.org', name: 'Sam' });
      expect(await refusal(directory.createUser({ email: 'SAM@example.org', name: 'Other' }))).toBe('conflict');
      for (const email of ['', 'sam', 'a b@example.org', '@', `${'x'.repeat(320)}@example.org`]) {
        expect(await refusal(directory.createUser({ email, name: 'Sam' }))).toBe('invalid_argument');
      }
      expect(await refusal(directory.createUser({ email: 'blank@example.org', name: ' ' }))).toBe('invalid_argument');
    });

    it('are live members only of organizations they belong to, felt by every process at once', async () => {
      const [here, there] = await stage().workspaces();
      const elsewhere = await stage().workspace();
      const user = await stage().storage.directory.createUser({ email: 'lee@example.org', name: 'Lee' });
      const live = () => stage().other.directory.liveMember(user.id, here.organizationId);

      expect(await live()).toBeUndefined();
      await here.members.add(user.id, 'member');
      expect(await live()).toEqual({ email: 'lee@example.org', role: 'member' });
      await there.members.add(user.id, 'admin');
      expect(await live()).toEqual({ email: 'lee@example.org', role: 'admin' });
      expect(await here.members.list()).toEqual([{ user, role: 'admin' }]);
      expect(await stage().other.directory.liveMember(user.id, elsewhere.organizationId)).toBeUndefined();
      expect(await stage().other.directory.liveMember("' OR 1=1 --", here.organizationId)).toBeUndefined();

      expect(await here.members.remove(user.id)).toBe(true);
      expect(await live()).toBeUndefined();
      expect(await here.members.remove(user.id)).toBe(false);
    });

    it('leave an admin whose account is enabled, where that is asked for, however many go at once', async () => {
      const [here, there] = await stage().workspaces();
      const { directory } = stage().storage;
      const [one, two, disabled] = await Promise.all(
        ['one@example.org', 'two@example.org', 'disabled@example.org'].map((email) =>
          directory.createUser({ email, name: email }),
        ),
      );
      if (!one || !two || !disabled) throw new Error('three were made');
      for (const { id } of [one, two, disabled]) await here.members.add(id, 'admin');
      await directory.people.setEnabled(disabled.id, false);
      for (let round = 0; round < 5; round += 1) {
        const ended = await Promise.allSettled([
          here.members.add(one.id, 'member', 'keep-an-admin'),
          there.members.remove(two.id, 'keep-an-admin'),
        ]);
        expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
        for (const { id } of [one, two]) await here.members.add(id, 'admin');
      }
      expect(await here.members.remove(one.id, 'keep-an-admin')).toBe(true);
      expect(await refusal(there.members.remove(two.id, 'keep-an-admin'))).toBe('conflict');
      expect(await here.members.remove(disabled.id, 'keep-an-admin')).toBe(true);
    });

    it('take the invitations they made along when they stop being admins', async () => {
      const workspace = await stage().workspace();
      const made = async (email: string, createdBy: string) => {
        const expiresAt = new Date(Date.now() + 60_000);
        const hash = hashSecret(email);
        await workspace.invitations.create({ id: newId('invt'), email, role: 'admin', hash, createdBy, expiresAt });
      };
      const person = async (email: string) => {
        const { id } = await stage().storage.directory.createUser({ email, name: email });
        await workspace.members.add(id, 'admin');
        return id;
      };
      const [left, demoted, stays] = [
        await person('left@example.org'),
        await person('demoted@example.org'),
        await person('stays@example.org'),
      ];
      for (const id of [left, demoted, stays]) await made(`by-${id}@example.org`, id);
      await workspace.members.remove(left);
      await workspace.members.add(demoted, 'member');
      expect((await workspace.invitations.list()).map(({ createdBy }) => createdBy)).toEqual([stays]);
    });

    it('are not let in again, nor made admins again, by an invitation from before they were members', async () => {
      const [workspace, elsewhere] = [await stage().workspace(), await stage().workspace()];
      const { people } = stage().storage.directory;
      const invited = async () => {
        const user = await stage().person();
        const [own, other] = [
          newInvitation({ email: user.email, role: 'admin' }),
          newInvitation({ email: user.email }),
        ];
        await workspace.invitations.create(own);
        await elsewhere.invitations.create(other);
        await workspace.members.add(user.id, 'admin');
        return { user, own, other };
      };
      const [removed, demoted, left, stays] = [await invited(), await invited(), await invited(), await invited()];
      await workspace.members.remove(removed.user.id, 'keep-an-admin');
      await workspace.members.add(demoted.user.id, 'member', 'keep-an-admin');
      await people.endAccess(left.user.id, workspace.organizationId);
      for (const { user, own } of [removed, demoted, left]) {
        expect(await people.acceptInvitation(own.hash, { kind: 'existing', userId: user.id })).toBeUndefined();
      }
      const roles = new Map((await workspace.members.list()).map(({ user, role }) => [user.id, role]));
      expect(roles).toEqual(new Map([[demoted.user.id, 'member'] as const, [stays.user.id, 'admin'] as const]));
      expect((await workspace.invitations.list()).map(({ id }) => id)).toEqual([stays.own.id]);
      for (const { other } of [removed, demoted, left]) expect(await people.invitation(other.hash)).not.toBeUndefined();
    });

    it('become members only if they exist', async () => {
      const workspace = await stage().workspace();
      expect(await refusal(workspace.members.add(newId('usr'), 'admin'))).toBe('not_found');
    });

    it('do not become members again by a change of role that comes after they were removed', async () => {
      const workspace = await stage().workspace();
      const removed = await stage().person();
      await workspace.members.add(removed.id, 'member');
      await workspace.members.remove(removed.id, 'keep-an-admin');
      for (const role of ['admin', 'member'] as const) {
        expect(await refusal(workspace.members.add(removed.id, role, 'keep-an-admin'))).toBe('not_found');
      }
      expect(await workspace.members.list()).toEqual([]);
    });

    it('become a member once when several processes add them at once', async () => {
      const [here, there] = await stage().workspaces();
      const user = await stage().storage.directory.createUser({ email: 'max@example.org', name: 'Max' });
      await Promise.all([here, there, here, there].map(({ members }) => members.add(user.id, 'member')));
      expect(await here.members.list()).toHaveLength(1);
    });
  });

  describe('ingest tokens', () => {
    const stage = sharedStage(runner, make);

    it('come back as they were made; the newest is the one to use, also within a millisecond', async () => {
      const workspace = await stage().workspace();
      expect(await workspace.ingestTokens.current()).toBeUndefined();
      for (let made = 0; made < 5; made += 1) {
        const token = { id: newId('it'), hash: `hash ${newId('it')}`, sealed: awkward, createdBy: 'ada' };
        await workspace.ingestTokens.create(token);
        const current = present(await workspace.ingestTokens.current());
        expect(current).toMatchObject(token);
        expect(current.lastUsedAt).toBeUndefined();
        expect((await workspace.ingestTokens.list()).at(0)).toEqual(current);
        expect(Math.abs(current.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
      }
    });

    it('are found by their hash, whosever they are, until they are revoked', async () => {
      const [here, there] = await stage().workspaces();
      const older = { id: newId('it'), hash: newId('it'), sealed: 'older', createdBy: 'ada' };
      const newer = { id: newId('it'), hash: newId('it'), sealed: 'newer', createdBy: 'ada' };
      await here.ingestTokens.create(older);
      await there.ingestTokens.create(newer);
      const find = (hash: string) => stage().other.directory.ingestTokenByHash(hash);
      expect(await find(newer.hash)).toEqual({ id: newer.id, organizationId: here.organizationId });
      expect(await find('nothing')).toBeUndefined();

      expect(await here.ingestTokens.revoke(newer.id)).toBe(true);
      expect(await find(newer.hash)).toBeUndefined();
      expect(await there.ingestTokens.current()).toMatchObject(older);
      expect(await here.ingestTokens.revoke(newer.id)).toBe(false);
    });

    it('remember that they were looked up, each for itself', async () => {
      const { id } = await stage().organization();
      const { ingestTokens } = stage().storage.workspace(id);
      const [used, unused] = [newId('it'), newId('it')];
      for (const token of [used, unused]) {
        await ingestTokens.create({ id: token, hash: token, sealed: 's', createdBy: 'ada' });
      }
      await stage().storage.directory.ingestTokenByHash(used);
      const marked = async () => (await ingestTokens.list()).filter(({ lastUsedAt }) => lastUsedAt !== undefined);
      await eventually(async () => (await marked()).length > 0);
      expect((await marked()).map((token) => token.id)).toEqual([used]);
    });

    it('cannot share a hash, also over organizations', async () => {
      const [one, two] = [await stage().workspace(), await stage().workspace()];
      const hash = newId('it');
      await one.ingestTokens.create({ id: newId('it'), hash, sealed: 's', createdBy: 'ada' });
      expect(await refusal(two.ingestTokens.create({ id: newId('it'), hash, sealed: 's', createdBy: 'ada' }))).toBe(
        'conflict',
      );
      expect(await two.ingestTokens.current()).toBeUndefined();
    });
  });

  describe('an engine that fails', () => {
    const stage = sharedStage(runner, make);

    it('is never quoted to the caller', async () => {
      const workspace = await stage().workspace();
      const token = { id: newId('it'), hash: newId('it'), sealed: 's', createdBy: 'ada' };
      await workspace.ingestTokens.create(token);
      const error = await rejection(workspace.ingestTokens.create(token));
      expect(error).toBeInstanceOf(Error);
      expect(error instanceof Error ? error.message : '').not.toMatch(/constraint|UNIQUE|insert into|ingest_tokens/i);
    });
  });
}

import { hashSecret, newId } from '../../../src/contract/core/index.ts';
import type { Storage } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { furnish } from './furniture.ts';
import {
  inAnHour,
  later,
  type MakeStorage,
  newInvitation,
  newScimToken,
  newKey,
  newSession,
  ownStage,
  present,
  refusal,
} from './stage.ts';

/** How organizations go: shut at once, restored as they were, or removed but for their audit. */
export function deletedOrganizationPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('a deleted organization', () => {
    const stage = ownStage(runner, make);
    const deleted = () => stage().other.directory.deletedOrganizations;

    /** Two organizations, each with a way in of each kind, to the same person. */
    async function two() {
      const { storage } = stage();
      const { directory } = storage;
      const user = await stage().person();
      const places = [];
      for (const name of ['Acme', 'Globex']) {
        const { id } = await directory.createOrganization({ name });
        const workspace = storage.workspace(id);
        await workspace.members.add(user.id, 'admin');
        const [key, session, invitation] = [newKey(), newSession(user.id, { organizationId: id }), newInvitation()];
        const [source, ingest] = [newId('als'), newId('it')];
        const grant = newId('gra');
        await workspace.keys.create(key);
        await directory.sessions.create(session);
        await workspace.invitations.create(invitation);
        await workspace.grants.create({
          id: grant,
          userId: user.id,
          clientId: 'c',
          clientName: 'C',
          redirectOrigin: 'c:',
          scopes: ['telemetry:read'],
        });
        await workspace.ingestTokens.create({ id: ingest, hash: hashSecret(ingest), sealed: 's', createdBy: 'root' });
        await workspace.alertSources.create({ id: source, name: 'a', plugin: 'p', sealed: 's', createdBy: 'root' });
        const scim = newScimToken();
        await workspace.scimTokens.create(scim);
        places.push({ id, name, user, key, session, invitation, source, ingest, grant, scim });
      }
      return places;
    }

    type Place = Awaited<ReturnType<typeof two>>[number];

    /** Whether each way in leads somewhere. */
    async function ways({ directory }: Storage, place: Place): Promise<readonly boolean[]> {
      const { id, name, user, key, session, invitation, source, ingest, grant, scim } = place;
      const looked = await Promise.all([
        directory.findOrganization(id),
        directory.findOrganization(name),
        directory.liveKey(key.id, key.secret.id),
        directory.keyForExchange(key.id),
        directory.liveGrant(grant),
        directory.liveMember(user.id, id),
        directory.ingestTokenByHash(hashSecret(ingest)),
        directory.scimTokenByHash(scim.hash),
        directory.alertSource(source),
        directory.people.invitation(invitation.hash),
        directory.sessions.find(session.hash).then((found) => found?.membership),
        directory.organizations().then((all) => all.find((each) => each.id === id)),
        directory.people.memberships(user.id).then((all) => all.find(({ organization }) => organization.id === id)),
      ]);
      return looked.map((each) => each !== undefined);
    }

    it('is shut at once to all who could get in, and another is not', async () => {
      const [acme, globex] = await two();
      const [gone, stays] = [present(acme), present(globex)];
      expect(await deleted().add(gone.id, inAnHour())).toBe(true);
      expect(await deleted().add(gone.id, inAnHour())).toBe(false);
      expect(await deleted().add(newId('org'), inAnHour())).toBe(false);
      expect(new Set(await ways(stage().storage, gone))).toEqual(new Set([false]));
      expect(new Set(await ways(stage().storage, stays))).toEqual(new Set([true]));
      const { directory } = stage().storage;
      expect(await directory.sessions.choose(stays.session.hash, gone.id)).toBe(false);
      expect(
        await directory.people.acceptInvitation(gone.invitation.hash, { kind: 'password', name: 'x', hash: 'h' }),
      ).toBeUndefined();
      expect(await refusal(directory.createOrganization({ name: ' ACME' }))).toBe('conflict');
      expect((await deleted().of(gone.user.id)).map(({ id, role }) => [id, role])).toEqual([[gone.id, 'admin']]);
    });

    it('is restored as it was, while there is time', async () => {
      const place = present((await two())[0]);
      expect(await deleted().restore(place.id)).toBe(false);
      await deleted().add(place.id, inAnHour());
      expect(await (await stage().open(later(7_200_000))).directory.deletedOrganizations.restore(place.id)).toBe(false);
      expect(await deleted().restore(place.id)).toBe(true);
      expect(new Set(await ways(stage().storage, place))).toEqual(new Set([true]));
      expect(await deleted().list()).toEqual([]);
    });

    it('has no work done for it, and a provider’s memberships stay for its return', async () => {
      const { storage } = stage();
      const [one] = await furnish(storage);
      const id = present(one);
      const user = await stage().person();
      await storage.directory.people.syncMemberships(user.id, [{ organizationId: id, role: 'member' }]);
      const now = new Date(Date.now() + 86_400_000);
      const lease = { holder: 'here', now, until: new Date(now.getTime() + 60_000) };
      await deleted().add(id, inAnHour());
      const claimed = [];
      for (;;) {
        const next = await storage.directory.claimInvestigation(lease);
        if (next === undefined) break;
        claimed.push(next.organizationId);
      }
      expect(claimed).not.toContain(id);
      for (;;) {
        const next = await storage.directory.claimWebhookMessage(lease);
        if (next === undefined) break;
        expect(next.webhook.organizationId).not.toBe(id);
      }
      await storage.directory.people.syncMemberships(user.id, []);
      await deleted().restore(id);
      expect(await storage.directory.people.memberships(user.id)).toHaveLength(1);
    });

    it('leaves nothing but its audit when it is removed, and another keeps everything', async () => {
      const { storage } = stage();
      const [one, other] = await furnish(storage);
      const [gone, stays] = [present(one), present(other)];
      const before = await rowsOf(storage, stays);
      await deleted().add(gone, inAnHour());
      const { retention, audit } = storage.workspace(gone);
      const records = await audit.list({ limit: 1_000 });
      expect(records.length).toBeGreaterThan(0);
      while ((await retention.removeAll()) > 0);
      await deleted().purged(gone);
      expect(new Set((await rowsOf(storage, gone)).map(({ table }) => table))).toEqual(
        new Set(['audit', 'audit_chains', 'audit_registers']),
      );
      expect(await audit.list({ limit: 1_000 })).toEqual(records);
      expect((await deleted().list()).map(({ id, name, purgeAt }) => [id, name, purgeAt])).toEqual([
        [gone, gone, undefined],
      ]);
      expect(await rowsOf(storage, stays)).toEqual(before);
      expect(await deleted().restore(gone)).toBe(false);
      expect((await storage.directory.createOrganization({ name: 'ACME' })).id).not.toBe(gone);
    });
  });
}

async function rowsOf({ transfer }: Storage, id: string) {
  return transfer.snapshot(['Grant', 'RefreshToken'], async (snapshot) => {
    const rows: { table: string; row: unknown }[] = [];
    for await (const batch of snapshot.batches()) {
      if (batch.organizationId !== id) continue;
      rows.push(...batch.rows.map((row) => ({ table: batch.table, row })));
    }
    return rows;
  });
}

import {
  auditSeals,
  chainRecords,
  chainRoot,
  instanceId,
  type AuditRecord,
} from '../../../src/contract/storage/index.ts';
import { testHost } from '../host.ts';
import type { Runner } from '../runner.ts';
import { awkward, inTurn, type MakeStorage, refusal, sharedStage } from './stage.ts';

/** An event added to the contract does not compile without a place here. */
const every: { readonly [Event in AuditRecord['event']]: Event } = {
  'tool.call': 'tool.call',
  'token.issued': 'token.issued',
  'key.created': 'key.created',
  'key.rotated': 'key.rotated',
  'key.retired': 'key.retired',
  'key.discarded': 'key.discarded',
  'key.paused': 'key.paused',
  'key.resumed': 'key.resumed',
  'key.revoked': 'key.revoked',
  'grant.created': 'grant.created',
  'grant.revoked': 'grant.revoked',
  'person.signed_in': 'person.signed_in',
  'person.invited': 'person.invited',
  'person.joined': 'person.joined',
  'person.disabled': 'person.disabled',
  'person.enabled': 'person.enabled',
  'person.deleted': 'person.deleted',
  'person.exported': 'person.exported',
  'invitation.revoked': 'invitation.revoked',
  'member.role_changed': 'member.role_changed',
  'member.removed': 'member.removed',
  'organization.deleted': 'organization.deleted',
  'organization.restored': 'organization.restored',
  'organization.purged': 'organization.purged',
  'password.changed': 'password.changed',
  'password.link_created': 'password.link_created',
  'ingest_token.created': 'ingest_token.created',
  'ingest_token.revoked': 'ingest_token.revoked',
  'scim_token.created': 'scim_token.created',
  'scim_token.revoked': 'scim_token.revoked',
  'scim.changed': 'scim.changed',
  'alert_source.created': 'alert_source.created',
  'alert_source.rotated': 'alert_source.rotated',
  'alert_source.removed': 'alert_source.removed',
  'webhook.created': 'webhook.created',
  'webhook.removed': 'webhook.removed',
  'admin_key.created': 'admin_key.created',
  'admin_key.revoked': 'admin_key.revoked',
  'admin.call': 'admin.call',
};

/** The audit record: what was appended is there, whole and in order, and nothing can take it away. */
export function auditPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;
  const record = (at: number, overrides: Partial<AuditRecord> = {}): AuditRecord => ({
    at: new Date(at),
    event: 'tool.call',
    subject: 'ak_x',
    requestId: `r${at}`,
    target: 'query_otel',
    outcome: 'ok',
    ...overrides,
  });

  describe('the audit record', () => {
    const stage = sharedStage(runner, make);

    it('comes back field by field', async () => {
      const [here, there] = await stage().workspaces();
      const full = record(2, {
        subject: awkward,
        requestId: awkward,
        target: awkward,
        outcome: 'query_timeout',
        argumentsHash: 'a'.repeat(64),
        durationMs: 12.75,
        rows: 0,
        bytes: 5_000_000_000,
        truncated: false,
      });
      const bare = record(1);
      await here.audit.append([bare, full]);
      expect(await there.audit.list({ limit: 10 })).toEqual([full, bare]);
    });

    it('takes every event', async () => {
      const { audit } = await stage().workspace();
      const records = Object.values(every).map((event) => record(1, { event }));
      await inTurn(records, (one) => audit.append([one]));
      expect(await audit.list({ limit: 100 })).toEqual(records.toReversed());
    });

    it('is listed newest first; within a millisecond the last appended first', async () => {
      const { audit } = await stage().workspace();
      await audit.append([record(5, { requestId: 'a' }), record(9), record(5, { requestId: 'b' })]);
      await audit.append([record(1), record(5, { requestId: 'c' })]);
      expect((await audit.list({ limit: 10 })).map(({ requestId }) => requestId)).toEqual(['r9', 'c', 'b', 'a', 'r1']);
      expect((await audit.list({ limit: 2 })).map(({ requestId }) => requestId)).toEqual(['r9', 'c']);
      expect((await audit.list({ limit: 9, before: new Date(5) })).map(({ requestId }) => requestId)).toEqual(['r1']);
    });

    it('is kept of the instance, too, in which nobody is and which no name finds', async () => {
      const both = [await stage().open(), await stage().open()];
      await Promise.all(both.map((each, at) => each.workspace(instanceId).audit.append([record(at + 1)])));
      const { directory } = stage().other;
      const { audit } = stage().other.workspace(instanceId);
      expect((await audit.list({ limit: 9 })).map(({ at }) => at.getTime())).toEqual([2, 1]);
      const deleted = (await directory.deletedOrganizations.list()).filter(({ id }) => id === instanceId);
      expect(deleted.map(({ name, purgeAt }) => [name, purgeAt])).toEqual([[instanceId, undefined]]);
      expect(await directory.deletedOrganizations.restore(instanceId)).toBe(false);
      expect(await directory.findOrganization(instanceId)).toBeUndefined();
      expect((await directory.organizations()).filter(({ id }) => id === instanceId)).toEqual([]);
    });

    it('takes none, and thousands at once', async () => {
      const { audit } = await stage().workspace();
      await audit.append([]);
      expect(await audit.list({ limit: 10 })).toEqual([]);
      await audit.append(Array.from({ length: 5_000 }, (_, index) => record(index + 1)));
      expect((await audit.list({ limit: 1 })).at(0)?.at.getTime()).toBe(5_000);
      expect(await audit.list({ limit: 1_000, before: new Date(501) })).toHaveLength(500);
    });

    it('loses nothing when two processes append at once', async () => {
      const [here, there] = await stage().workspaces();
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          (index % 2 === 0 ? here : there).audit.append([record(index + 1), record(index + 1)]),
        ),
      );
      expect(await here.audit.list({ limit: 1_000 })).toHaveLength(80);
    });

    it('is chained by each process for itself, sealed and registered', async () => {
      const { vault } = testHost('.');
      const one = await stage().open({ vault });
      const two = await stage().open({ vault });
      const { id } = await stage().organization();
      const full = record(1, {
        subject: awkward,
        target: awkward,
        durationMs: 1 / 3,
        truncated: true,
        statement: 'select 1',
      });
      await one.workspace(id).audit.append([full, record(2)]);
      await two.workspace(id).audit.append([record(3)]);
      await Promise.all([4, 5, 6].map((at) => one.workspace(id).audit.append([record(at)])));
      // As many as a store may not hash in one go.
      await one.workspace(id).audit.append(Array.from({ length: 600 }, (_, index) => record(7 + index)));
      const { audit } = stage().storage.workspace(id);
      const seals = auditSeals(vault, id);
      const { register, unchained, astray } = await audit.census();
      expect([unchained, astray, register?.chains, register?.damaged]).toEqual([0, 0, 2, false]);
      expect(register && seals.register.fits(register.seal, register)).toBe(true);
      const chains = await audit.chains({ after: 0, limit: 10 });
      expect(chains.map(({ number, head }) => [number, head.seq])).toEqual([
        [1, 605],
        [2, 1],
      ]);
      expect(await audit.chains({ after: 1, limit: 10 })).toEqual(chains.slice(1));
      expect(await audit.chain(1)).toEqual(chains[0]);
      for (const chain of chains) {
        expect(seals.head.fits(chain.head.seal, chain.number, chain.head)).toBe(true);
        const kept = await audit.records({ chain: chain.number, after: 0, limit: 1_000 });
        const again = chainRecords(
          id,
          chain.number,
          chainRoot(id, chain),
          kept.map((each) => each.record),
        );
        expect(again).toEqual(kept);
        expect(kept.at(-1)).toMatchObject({ seq: chain.head.seq, hash: chain.head.hash });
        expect(await audit.records({ chain: chain.number, after: 0, limit: 1 })).toEqual(kept.slice(0, 1));
      }
    });

    it('takes what no database keeps in a text, and verifies what it kept of it', async () => {
      const { vault } = testHost('.');
      const { id } = await stage().organization();
      const { audit } = (await stage().open({ vault })).workspace(id);
      const hostile = "select 'a\0b', '\ud83d'";
      await audit.append([record(1, { subject: hostile, target: hostile, statement: hostile }), record(2)]);
      const kept = await audit.records({ chain: 1, after: 0, limit: 10 });
      const text = "select 'a\ufffdb', '\ufffd'";
      const first = record(1, { subject: text, target: text, statement: text });
      expect(kept.map((each) => each.record)).toEqual([first, record(2)]);
      const chain = await audit.chain(1);
      expect(chain && chainRecords(id, 1, chainRoot(id, chain), [first, record(2)])).toEqual(kept);
    });

    it('can only be appended to and read', async () => {
      const { audit } = await stage().workspace();
      const members = new Set([...Object.keys(audit), ...Object.getOwnPropertyNames(Object.getPrototypeOf(audit))]);
      members.delete('constructor');
      expect([...members].toSorted()).toEqual(['append', 'census', 'chain', 'chains', 'list', 'records']);
      expect(await refusal(audit.list({ limit: 0 }))).toBe('invalid_argument');
    });
  });
}

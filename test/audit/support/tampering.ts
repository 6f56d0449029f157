import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testVault } from '../../contract/host.ts';
import { verifyAudit } from '../../../src/records/audit/export.ts';
import { newId, type OrganizationId, type Vault } from '../../../src/contract/core/index.ts';
import {
  auditSeals,
  chainRecords,
  chainRoot,
  type AuditRepository,
  type Storage,
} from '../../../src/contract/storage/index.ts';
import { problemsOf, record, soon, verified, type AuditStore } from './store.ts';

/** Each attack is found, and an audit that nobody touched is right. */
export function tamperingPromises(make: () => Promise<AuditStore>): void {
  describe('the audit, in the hands of somebody with the database alone', () => {
    let store: AuditStore;
    let vault: Vault;
    let storage: Storage;
    let acme: OrganizationId;
    let other: OrganizationId;
    const problems = () => problemsOf(storage, vault, acme);
    const append = (from: number, to: number, through: Storage = storage) =>
      through.workspace(acme).audit.append(Array.from({ length: to - from + 1 }, (_, index) => record(from + index)));
    /** One more gateway, which has opened its chain. */
    const another = async (overrides: { readonly vault?: Vault } = {}): Promise<Storage> => {
      const opened = store.open({ vault, ...overrides });
      await opened.start(soon());
      others.push(opened);
      return opened;
    };
    const others: Storage[] = [];

    beforeAll(async () => {
      store = await make();
      vault = testVault();
      storage = store.open({ vault });
      await storage.start(soon());
    });
    beforeEach(async () => {
      acme = (await storage.directory.createOrganization({ name: `for ${newId('org')}` })).id;
      other = (await storage.directory.createOrganization({ name: `for ${newId('org')}` })).id;
      await append(1, 6);
      await append(7, 10);
      await storage.workspace(other).audit.append([record(1), record(2)]);
    });
    afterEach(async () => {
      for (const each of others.splice(0)) await each.stop();
    });
    afterAll(async () => {
      await storage.stop();
      await store.cleanup();
    });

    const mine = (seq: number) => `organization_id = '${acme}' and chain = 1 and seq = ${seq}`;

    it('is right when nobody touched it', async () => {
      expect(await verified(storage, vault, acme)).toMatchObject({
        records: 10,
        chains: 1,
        unchained: 0,
        problems: [],
      });
    });

    it.each([
      ['subject', "'ak_y'"],
      ['outcome', "'forbidden'"],
      ['at', '99'],
      ['event', "'key.revoked'"],
      ['target', "'list_chats'"],
      ['request_id', "'r'"],
      ['arguments_hash', `'${'b'.repeat(64)}'`],
      ['duration_ms', '1'],
      ['row_count', '1'],
      ['bytes', '1'],
      ['statement', "'select 1'"],
    ])('shows a changed %s', async (column, value) => {
      await store.sql(`update audit set ${column} = ${value} where ${mine(5)}`);
      expect(await problems()).toEqual(['1 5 the record was changed, or put in the place of another']);
    });

    it('shows a value that no gateway writes', async () => {
      await store.sql(`update audit set event = 'nothing' where ${mine(5)}`);
      expect(await problems()).toEqual(['1 5 the record was changed into something that cannot be read']);
    });

    it('shows a changed record whose hash was made to fit', async () => {
      const [, , , , fifth, sixth] = chainRecords(
        acme,
        1,
        { seq: 0, hash: '' },
        Array.from({ length: 6 }, (_, index) => record(index + 1, { subject: 'me' })),
      );
      if (fifth === undefined || sixth === undefined) throw new Error('there are six');
      await store.sql(`update audit set subject = 'me', hash = '${fifth.hash}' where ${mine(5)}`);
      expect((await problems()).length).toBeGreaterThan(0);
    });

    it('shows a record that was taken out of the middle', async () => {
      await store.sql(`delete from audit where ${mine(5)}`);
      expect(await problems()).toEqual(['1 5 1 record is missing: from here to 5']);
    });

    it('shows two that were swapped', async () => {
      await store.sql(`update audit set seq = 99 where ${mine(4)}`);
      await store.sql(`update audit set seq = 4 where ${mine(5)}`);
      await store.sql(`update audit set seq = 5 where ${mine(99)}`);
      expect(await problems()).toEqual(expect.arrayContaining([expect.stringMatching(/^1 4 the record was changed/)]));
    });

    it('shows a removed end', async () => {
      await store.sql(`delete from audit where organization_id = '${acme}' and seq > 8`);
      expect(await problems()).toEqual(['1 9 2 records are missing at the end']);
    });

    it('shows a removed end whose head was moved with it', async () => {
      const [last] = await storage.workspace(acme).audit.records({ chain: 1, after: 7, limit: 1 });
      await store.sql(`delete from audit where organization_id = '${acme}' and seq > 8`);
      await store.sql(
        `update audit_chains set seq = 8, hash = '${last?.hash}' where organization_id = '${acme}' and number = 1`,
      );
      expect(await problems()).toEqual(['1 8 the seal of the end of the chain is wrong']);
    });

    it('shows a whole chain written anew by somebody without the key', async () => {
      const stranger = testVault();
      const audit = storage.workspace(acme).audit;
      const chain = await audit.chain(1);
      const records = await audit.records({ chain: 1, after: 1, limit: 100 });
      const first = (await audit.records({ chain: 1, after: 0, limit: 1 })).at(0);
      if (chain === undefined || first === undefined) throw new Error('there is a chain');
      const forged = chainRecords(
        acme,
        1,
        first,
        records.map(({ seq }) => record(seq, { subject: 'me' })),
      );
      for (const { seq, hash } of forged) {
        await store.sql(`update audit set subject = 'me', hash = '${hash}' where ${mine(seq)}`);
      }
      const head = forged.at(-1) ?? first;
      const seal = auditSeals(stranger, acme).head.make(1, head);
      await store.sql(
        `update audit_chains set hash = '${head.hash}', seal = '${seal}' where organization_id = '${acme}'`,
      );
      expect(await problems()).toEqual(['1 10 the seal of the end of the chain is wrong']);
    });

    it('shows a record that was added at the end, before the chain, and beside all chains', async () => {
      const copy = (chain: number, seq: number) =>
        store.sql(
          `insert into audit (organization_id, chain, seq, hash, at, event, subject, request_id, target, outcome)
         values ('${acme}', ${chain}, ${seq}, '${'a'.repeat(64)}', 1, 'tool.call', 's', 'r', 't', 'ok')`,
        );
      await copy(1, 11);
      await copy(0, 1);
      await copy(7, 1);
      expect(await problems()).toEqual([
        '1 11 the record was changed, or put in the place of another',
        '1 11 there are records behind the sealed end of the chain',
        '1 records stand in no chain',
        '1 records are of chains that are not there',
      ]);
    });

    it('shows a record that was moved to another organization, in both', async () => {
      await store.sql(`update audit set organization_id = '${other}', seq = 3 where ${mine(10)}`);
      expect(await problems()).toEqual(['1 10 1 record is missing at the end']);
      expect(await problemsOf(storage, vault, other)).toEqual([
        '1 3 the record was changed, or put in the place of another',
        '1 3 there are records behind the sealed end of the chain',
      ]);
    });

    it('shows a chain that was taken away whole, the first as the last, also from the register', async () => {
      await append(11, 12, await another());
      await append(13, 14, await another());
      const drop = async (chain: number) => {
        await store.sql(`delete from audit where organization_id = '${acme}' and chain = ${chain}`);
        await store.sql(`delete from audit_chains where organization_id = '${acme}' and number = ${chain}`);
      };
      await drop(3);
      expect(await problems()).toEqual(['3 the chain is missing, with all its records']);
      await drop(1);
      expect(await problems()).toEqual([
        '1 the chain is missing, with all its records',
        '3 the chain is missing, with all its records',
      ]);
      await store.sql(`update audit_registers set chains = 2 where organization_id = '${acme}'`);
      expect(await problems()).toContain('the seal of the register of chains is wrong');
      // A gateway that opens a chain now does not make it right.
      await append(15, 16, await another());
      expect(await problems()).toContain('the register of chains was missing or changed when a chain was opened');
    });

    it('shows a register that was removed', async () => {
      await store.sql(`delete from audit_registers where organization_id = '${acme}'`);
      expect(await problems()).toEqual(['the register of chains is missing']);
      await append(11, 12, await another());
      expect(await problems()).toEqual(['the register of chains was missing or changed when a chain was opened']);
    });

    it('goes on in a new chain where the old one was changed beneath a gateway, and shows the old one', async () => {
      await store.sql(`update audit_chains set seq = 9 where organization_id = '${acme}'`);
      await append(11, 12);
      await append(13, 14);
      const { chains, problems: found } = await verified(storage, vault, acme);
      expect(chains).toBe(2);
      expect(found.map(({ chain }) => chain)).toEqual([1, 1]);
    });

    it('put back to an earlier state shows what was cut off, to who kept the heads', async () => {
      const { heads } = await verified(storage, vault, acme);
      await append(11, 14);
      const later = (await verified(storage, vault, acme)).heads;
      const [head] = heads;
      const seal = auditSeals(vault, acme).head.make(1, head ?? { seq: 0, hash: '' });
      await store.sql(`delete from audit where organization_id = '${acme}' and seq > 10`);
      await store.sql(
        `update audit_chains set seq = 10, hash = '${head?.hash}', seal = '${seal}' where organization_id = '${acme}'`,
      );
      // The seal was one of this gateway's: of itself it is right.
      expect(await problemsOf(storage, vault, acme)).toEqual([]);
      expect(await problemsOf(storage, vault, acme, heads)).toEqual([]);
      expect(await problemsOf(storage, vault, acme, later)).toEqual([
        '1 11 4 records are missing that were there at the earlier verification',
      ]);
    });

    it('stays right when retention removes its beginning; a cut by others does not', async () => {
      const second = await another();
      await append(11, 20, second);
      const { retention } = storage.workspace(acme);
      while ((await retention.removeAudit(new Date(15))) > 0);
      expect(await verified(storage, vault, acme)).toMatchObject({ records: 6, chains: 2, problems: [] });
      await append(21, 22);
      expect(await problems()).toEqual([]);
      const [first] = await storage.workspace(acme).audit.records({ chain: 2, after: 0, limit: 1 });
      await store.sql(`delete from audit where organization_id = '${acme}' and chain = 2 and seq = ${first?.seq}`);
      expect(await problems()).toEqual(['2 5 1 record is missing: from here to 5']);
      await store.sql(
        `update audit_chains set cut_seq = 5, cut_hash = '${first?.hash}' where organization_id = '${acme}' and number = 2`,
      );
      expect(await problems()).toEqual(['2 5 the seal of the place where retention cut the chain is wrong']);
    });

    it('is right where a chain has its first records between two looks at it', async () => {
      await append(11, 14, await another());
      const { audit } = storage.workspace(acme);
      let looks = 0;
      const found: unknown[] = [];
      // As it was seen before they were written: the chain is there, at its root.
      const before: AuditRepository = {
        append: (records) => audit.append(records),
        list: (options) => audit.list(options),
        census: () => audit.census(),
        chain: (number) => audit.chain(number),
        async chains(options) {
          const states = await audit.chains(options);
          return states.map((state) =>
            state.number === 2
              ? Object.assign({}, state, { head: Object.assign(chainRoot(acme, state), { seal: '' }) })
              : state,
          );
        },
        async records(options) {
          if (options.chain === 2 && (looks += 1) === 1) return [];
          return await audit.records(options);
        },
      };
      const report = (problem: unknown) => void found.push(problem);
      const { records } = await verifyAudit({ audit: before, organization: acme, vault, report });
      expect([records, found]).toEqual([14, []]);
    });

    it('of gateways that write at once is right, while it is read too', async () => {
      const gateways = [storage, await another(), await another()];
      const writing = Promise.all(
        gateways.map(async (gateway, index) => {
          for (let turn = 0; turn < 30; turn += 1)
            await append(1_000 * index + turn, 1_000 * index + turn + 3, gateway);
        }),
      );
      let done = false;
      void writing.finally(() => (done = true));
      while (!done) {
        expect(await problems()).toEqual([]);
        // SQLite answers at once: the writers have to come in between.
        await setImmediate();
      }
      await writing;
      expect(await verified(storage, vault, acme)).toMatchObject({ records: 10 + 3 * 30 * 4, chains: 3, problems: [] });
    });
  });
}

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storageKnex from '../../plugins/storage-knex/index.ts';
import { silentLogger, testHost } from '../../test/contract/host.ts';
import { ada, eventually, newChat, newIncident, soon } from '../../test/contract/storage/stage.ts';
import {
  instanceId,
  type AuditRecord,
  type Organization,
  type Storage,
  type Workspace,
} from '../contract/storage/index.ts';
import { createRetention, type Keep, type Retention, type RetentionOptions } from './retention.ts';

const dayMs = 86_400_000;
const now = (): Date => new Date();
const daysAgo = (days: number): Date => new Date(Date.now() - days * dayMs);

const record = (at: Date): AuditRecord => ({
  at,
  event: 'tool.call',
  subject: 'ak_x',
  requestId: 'r',
  target: 'query_otel',
  outcome: 'ok',
});

describe('retention', () => {
  let directory: string;
  let storage: Storage;
  let workspaces: readonly Workspace[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-retention-'));
    storage = storageKnex.create(storageKnex.configSchema.parse({ client: 'sqlite' }), testHost(directory));
    await storage.start(soon());
    const organizations = [
      await storage.directory.createOrganization({ name: 'a' }),
      await storage.directory.createOrganization({ name: 'b' }),
    ];
    workspaces = organizations.map(({ id }) => storage.workspace(id));
    for (const { audit } of workspaces) {
      await audit.append([...Array.from({ length: 1_200 }, () => record(daysAgo(11))), record(daysAgo(9))]);
    }
  });
  afterEach(async () => {
    await storage.stop();
    await rm(directory, { recursive: true });
  });

  const made = ({ auditDays, chatDays, incidentDays, ...options }: Partial<RetentionOptions & Keep>) =>
    createRetention({
      storage,
      keep: () => ({ auditDays, chatDays, incidentDays }),
      forget: async () => undefined,
      newest: async () => undefined,
      now,
      logger: silentLogger,
      ...options,
    });
  const records = async () =>
    Promise.all(workspaces.map(async ({ audit }) => (await audit.list({ limit: 1_000 })).length));

  it('removes what is older, of every organization, in batches, and keeps the rest', async () => {
    const retention = made({ auditDays: 10 });
    retention.start();
    await eventually(async () => (await records()).every((count) => count === 1));
    await retention.stop();
    expect(await records()).toEqual([1, 1]);
  });

  it('removes what is older also while statements of deleted people cannot be erased, and says so', async () => {
    const { people } = storage.directory;
    const erasing = jest.spyOn(people, 'finishErasures').mockRejectedValue(new Error('too slow'));
    const said: string[] = [];
    const logger = { ...silentLogger, error: (_fields: object, message: string) => void said.push(message) };
    const retention = made({ auditDays: 10, logger });
    retention.start();
    await eventually(async () => (await records()).every((count) => count === 1));
    await retention.stop();
    erasing.mockRestore();
    expect([await records(), said]).toEqual([[1, 1], [expect.stringContaining('statements of deleted people')]]);
  });

  it('removes what is older of the instance, of which nothing is elsewhere', async () => {
    const { audit } = storage.workspace(instanceId);
    await audit.append([record(daysAgo(11)), record(daysAgo(9))]);
    const forgotten: string[] = [];
    const retention = made({ auditDays: 10, forget: async (id) => void forgotten.push(id) });
    retention.start();
    await eventually(async () => (await audit.list({ limit: 9 })).length === 1);
    await retention.stop();
    expect(forgotten).toEqual([]);
  });

  it('keeps for ever what has no end', async () => {
    const [workspace] = workspaces;
    if (workspace === undefined) throw new Error('no workspace');
    const { chats } = workspace;
    const { chat } = await chats.start(newChat());
    await chats.cancel(chat.id, ada);
    const later = () => new Date(Date.now() + 40_000 * dayMs);
    const retention = made({ auditDays: 60_000, now: later });
    retention.start();
    await retention.stop();
    expect(await chats.get(chat.id)).toBeDefined();
    expect(await storage.directory.takeTurn('retention', later(), 3_600_000)).toBe(false);
    made({}).start();
    expect((await records())[0]).toBe(1_000);
  });

  it('removes finished chats that did not change since', async () => {
    const [workspace] = workspaces;
    if (workspace === undefined) throw new Error('no workspace');
    const [old, running] = [await workspace.chats.start(newChat()), await workspace.chats.start(newChat())];
    await workspace.chats.cancel(old.chat.id, ada);
    const retention = made({ chatDays: 30, now: () => new Date(Date.now() + 31 * dayMs) });
    retention.start();
    await eventually(async () => (await workspace.chats.get(old.chat.id)) === undefined);
    await retention.stop();
    expect(await workspace.chats.get(running.chat.id)).toBeDefined();
    expect((await records())[0]).toBe(1_000);
  });

  it('removes incidents that are over and did not change since', async () => {
    const [workspace] = workspaces;
    if (workspace === undefined) throw new Error('no workspace');
    const { incidents } = workspace;
    const over = await incidents.create(newIncident({ status: 'resolved' }), ada);
    const open = await incidents.create(newIncident(), ada);
    const retention = made({ incidentDays: 30, now: () => new Date(Date.now() + 31 * dayMs) });
    retention.start();
    await eventually(async () => (await incidents.get(over.key)) === undefined);
    await retention.stop();
    expect(await incidents.get(over.key)).toBeUndefined();
    expect(await incidents.get(open.key)).toBeDefined();
  });

  describe('by a clock that is 400 days ahead', () => {
    const wrong = (): Date => new Date(Date.now() + 400 * dayMs);
    const said: string[] = [];
    const forgotten: string[] = [];
    /** Of how many runs the last organization has nothing left to remove. */
    let ended = 0;
    let deleted: Organization;
    beforeEach(async () => {
      said.length = 0;
      forgotten.length = 0;
      ended = 0;
      for (const { retention } of workspaces) while ((await retention.removeAudit(daysAgo(10))) > 0);
      deleted = await storage.directory.createOrganization({ name: 'deleted' });
      const { deletedOrganizations } = storage.directory;
      expect(await deletedOrganizations.add(deleted.id, new Date(Date.now() + 30 * dayMs))).toBe(true);
    });

    const observed: RetentionOptions['storage'] = {
      get directory() {
        return storage.directory;
      },
      workspace(id) {
        const workspace = storage.workspace(id);
        const { retention } = workspace;
        return {
          ...workspace,
          audit: workspace.audit,
          members: workspace.members,
          retention: {
            async removeAudit(before) {
              const removed = await retention.removeAudit(before);
              if (removed === 0 && id === workspaces[1]?.organizationId) ended += 1;
              return removed;
            },
            removeChats: (before) => retention.removeChats(before),
            removeIncidents: (before) => retention.removeIncidents(before),
            removeAll: () => retention.removeAll(),
          },
        };
      },
    };
    const gateway = (clock: () => Date, newest?: Date) =>
      made({
        auditDays: 10,
        storage: observed,
        now: clock,
        newest: async () => newest,
        forget: async (id) => void forgotten.push(id),
        logger: { ...silentLogger, warn: (_fields, message) => void said.push(message) },
      });
    /** Until it has removed what it wanted, or said that it does not believe its clock. */
    const run = async (retention: Retention) => {
      const before = ended + said.length;
      retention.start();
      await eventually(async () => ended + said.length > before);
      await retention.stop();
      expect(ended + said.length).toBeGreaterThan(before);
    };
    const anHourAgo = () => storage.directory.takeTurn('retention', new Date(Date.now() - 3_600_000), 1);
    const left = async () => {
      const listed = await storage.directory.deletedOrganizations.list();
      const kept = listed.some(({ id, purgeAt }) => id === deleted.id && purgeAt !== undefined);
      return [...(await records()), kept ? 'deleted' : 'purged'];
    };

    it('removes, purges and forgets nothing, however often it is started, and says so', async () => {
      await anHourAgo();
      for (let start = 0; start < 3; start += 1) await run(gateway(wrong, start === 1 ? now() : undefined));
      expect([await left(), forgotten]).toEqual([[1, 1, 'deleted'], []]);
      expect(said).toEqual(Array(3).fill(expect.stringContaining('check the clock')));
      const turn = await storage.directory.lastTurn('retention');
      expect(Math.abs(Number(turn) - Date.now())).toBeLessThan(dayMs);
    });

    it('removes by what is measured since the last run, as long as nothing confirms the clock', async () => {
      const start = performance.now();
      const measured = jest.spyOn(performance, 'now').mockReturnValue(start);
      try {
        await anHourAgo();
        const retention = gateway(wrong);
        await run(retention);
        for (const days of [0.9, 1.1, 29.9]) {
          measured.mockReturnValue(start + days * dayMs);
          const before = ended;
          retention.start();
          await eventually(async () => ended > before);
          await retention.stop();
          expect([days, await left()]).toEqual([days, days < 1 ? [1, 1, 'deleted'] : [0, 0, 'deleted']]);
        }
        measured.mockReturnValue(start + 30.1 * dayMs);
        retention.start();
        await eventually(async () => (await left())[2] === 'purged');
        await retention.stop();
      } finally {
        measured.mockRestore();
      }
    });

    it('agrees with gateways whose clocks are right', async () => {
      for (let turn = 0; turn < 2; turn += 1) {
        await anHourAgo();
        await run(gateway(wrong));
        await run(gateway(now));
        await run(gateway(wrong));
      }
      expect([await left(), said.length, ended]).toEqual([[1, 1, 'deleted'], 4, 2]);
    });
  });

  it('believes a clock far ahead of the last run once telemetry of an organization confirms it', async () => {
    await storage.directory.takeTurn('retention', daysAgo(60), 1);
    const retention = made({
      auditDays: 10,
      newest: async (id) => {
        if (id === workspaces[0]?.organizationId) throw new Error('no warehouse');
        return daysAgo(0.5);
      },
    });
    retention.start();
    await eventually(async () => (await records()).every((count) => count === 1));
    await retention.stop();
    expect(Number(await storage.directory.lastTurn('retention'))).toBeGreaterThan(Number(daysAgo(1)));
  });

  it('is done by one of several gateways', async () => {
    let worked = 0;
    const counting: RetentionOptions['storage'] = {
      directory: storage.directory,
      workspace: (id) => {
        worked += 1;
        return storage.workspace(id);
      },
    };
    const gateways = Array.from({ length: 5 }, () => made({ auditDays: 10, storage: counting }));
    for (const gateway of gateways) gateway.start();
    await eventually(async () => (await records()).every((count) => count === 1));
    for (const gateway of gateways) await gateway.stop();
    expect(worked).toBe(2);
  });

  it('stops in the middle, and says nothing of a storage that fails but to the log', async () => {
    const retention = made({ auditDays: 10 });
    retention.start();
    await retention.stop();
    expect((await records())[1]).toBe(1_000);
    const failed: string[] = [];
    const broken = made({
      auditDays: 10,
      storage: { ...storage, directory: { ...storage.directory, takeTurn: () => Promise.reject(new Error('down')) } },
      logger: { ...silentLogger, warn: (_fields, message) => void failed.push(message) },
    });
    broken.start();
    await broken.stop();
    expect(failed).toHaveLength(1);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storageKnex from '../../plugins/storage-knex/index.ts';
import { silentLogger, testHost } from '../../test/contract/host.ts';
import { ada, eventually, newChat, newIncident, soon } from '../../test/contract/storage/stage.ts';
import { instanceId, type AuditRecord, type Storage, type Workspace } from '../contract/storage/index.ts';
import { createRetention, type Keep, type RetentionOptions } from './retention.ts';

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

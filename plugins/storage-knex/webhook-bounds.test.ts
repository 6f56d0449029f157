import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { newId } from '../../src/contract/core/index.ts';
import { webhookEvents, type Lease } from '../../src/contract/storage/index.ts';
import { testHost } from '../../test/contract/host.ts';
import { ada, newIncident } from '../../test/contract/storage/stage.ts';
import { sqlite } from './sqlite/dialect.ts';
import type { PooledConnection } from './dialect.ts';
import { KnexStorage } from './storage.ts';

let directory: string;
let storage: KnexStorage;
let connection: PooledConnection;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-webhooks-'));
  const opened = sqlite(join(directory, 'sightline.sqlite'));
  connection = opened;
  storage = new KnexStorage({ connect: () => opened }, testHost(directory));
  await storage.start(AbortSignal.timeout(20_000));
});
afterEach(async () => {
  await storage.stop();
  await rm(directory, { recursive: true });
});

async function newWorkspace(name: string) {
  return storage.workspace((await storage.directory.createOrganization({ name })).id);
}

function newWebhook() {
  return { id: newId('whk'), url: 'https://hooks.example.com/', events: webhookEvents, sealedSecret: 's' };
}

it('a webhook that takes nothing has 10,000 events waiting at most, and says that it missed some', async () => {
  const { webhooks, incidents } = await newWorkspace('acme');
  const dead = await webhooks.create(newWebhook());
  await incidents.create(newIncident(), ada);
  await connection.writer.raw(
    `with recursive n(i) as (select 2 union all select i + 1 from n where i < 9999)
     insert into webhook_messages select 'whm_' || i, organization_id, webhook_id, event, subject, data, created_at,
       attempts, next_at, lease_holder, lease_until from webhook_messages, n`,
  );
  const alive = await webhooks.create(newWebhook());
  for (let count = 0; count < 3; count += 1) await incidents.create(newIncident(), ada);
  expect(await webhooks.get(dead.id)).toMatchObject({ waiting: 10_000, failure: expect.stringContaining('10,000') });
  const other = await webhooks.get(alive.id);
  expect(other).toMatchObject({ waiting: 3 });
  expect(other).not.toHaveProperty('failure');
});

it('an organization to which nothing is being sent comes before the many webhooks of another', async () => {
  const [busy, quiet] = [await newWorkspace('busy'), await newWorkspace('quiet')];
  for (let count = 0; count < 4; count += 1) await busy.webhooks.create(newWebhook());
  await busy.incidents.create(newIncident(), ada);
  await quiet.webhooks.create(newWebhook());
  await quiet.incidents.create(newIncident(), ada);
  const now = new Date(Date.now() + 1_000);
  const lease: Lease = { holder: 'here', now, until: new Date(now.getTime() + 30_000) };
  const owners: (string | undefined)[] = [];
  for (let count = 0; count < 6; count += 1) {
    owners.push((await storage.directory.claimWebhookMessage(lease))?.webhook.organizationId);
  }
  const [first, second] = [busy.organizationId, quiet.organizationId];
  expect(owners).toEqual([first, second, first, first, first, undefined]);
});

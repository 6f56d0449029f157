import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { silentLogger } from '../../../test/contract/host.ts';
import type { StorageUnderTest } from '../../../test/contract/storage.ts';
import { newId, SightlineError } from '../../contract/core/index.ts';
import type { AlertNotice } from '../../contract/alerts/index.ts';
import type { AlertDelivery, AlertRepository, AlertSource, Storage, Workspace } from '../../contract/storage/index.ts';
import { emptyStore } from '../../../test/support/stores.ts';
import { createAlertRecorder, noticesTogether } from './recorder.ts';

let store: StorageUnderTest;
let storage: Storage;
let workspace: Workspace;
let source: AlertSource;
/** How many notices each transaction took. */
let taken: number[];
let failing = (_delivered: readonly AlertDelivery[]): boolean => false;

beforeEach(async () => {
  store = await emptyStore();
  storage = store.open();
  await storage.start(AbortSignal.timeout(20_000));
  workspace = storage.workspace((await storage.directory.createOrganization({ name: 'acme' })).id);
  const id = newId('als');
  source = await workspace.alertSources.create({ id, name: 'One', plugin: 'generic', sealed: 's', createdBy: 'ada' });
  taken = [];
  failing = () => false;
});

afterEach(async () => {
  await storage.stop();
  await store.cleanup();
});

function recorder() {
  const { alerts } = workspace;
  const watched: Pick<AlertRepository, 'record'> = {
    record(deliveries, engine) {
      taken.push(deliveries.reduce((sum, { notices }) => sum + notices.length, 0));
      if (failing(deliveries)) throw new SightlineError('unavailable', 'The storage is away.');
      return alerts.record(deliveries, engine);
    },
  };
  return createAlertRecorder({
    storage: { workspace: () => ({ alerts: watched }) },
    engine: 'playbook',
    wake: () => {},
    logger: silentLogger,
  });
}

const notice = (index: number): AlertNotice => ({
  fingerprint: `f${index}`,
  status: 'firing',
  title: `Alert ${index}`,
  severity: 'high',
  startsAt: new Date(Date.now() - 60_000),
  labels: {},
  services: [`service-${index % 3}`],
});
const many = (count: number) => Array.from({ length: count }, (_, index) => notice(index));

async function keptAlerts(): Promise<number> {
  const { items } = await workspace.incidents.list({ limit: 100 });
  const counts = await Promise.all(items.map(({ id }) => workspace.alerts.ofIncident(id)));
  return counts.reduce((sum, { total }) => sum + total, 0);
}

it('writes a long delivery in short transactions, all of it', async () => {
  await recorder().record(source, many(1_000));
  expect(Math.max(...taken)).toBeLessThanOrEqual(noticesTogether);
  expect(await keptAlerts()).toBe(1_000);
});

it('writes short deliveries that come at once together', async () => {
  const { record } = recorder();
  await Promise.all(many(200).map((each) => record(source, [each])));
  expect(taken.length).toBeLessThan(20);
  expect(Math.max(...taken)).toBeLessThanOrEqual(noticesTogether);
  expect(await keptAlerts()).toBe(200);
});

it('acknowledges nothing of a delivery of which a part is not kept, and takes its repetition', async () => {
  const { record } = recorder();
  failing = ([first]) => first?.notices[0]?.fingerprint === 'f50';
  await expect(record(source, many(120))).rejects.toMatchObject({ code: 'unavailable' });
  failing = () => false;
  await record(source, many(120));
  expect(await keptAlerts()).toBe(120);
});

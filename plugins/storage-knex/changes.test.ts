import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { Actor, Chat, Storage, Workspace } from '../../src/contract/storage/index.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { postgresStore, type ServerStore } from './support/store.ts';

/*
 * How soon a reader at one gateway hears of what is written at another. The poll that is there for lost notifications is
 * so slow that it cannot be what answers here.
 */
const [server, ...others] = await postgresServers();
for (const other of others) await other.stop();
const author: Actor = { kind: 'key', id: 'ak_test', name: 'test' };

(server === undefined ? describe.skip : describe)('a chat on PostgreSQL', () => {
  let store: ServerStore;
  let [here, there]: Storage[] = [];
  let chat: Chat;
  let [writer, reader]: Workspace[] = [];

  beforeAll(async () => {
    if (server === undefined) return;
    store = await postgresStore(server);
    [here, there] = [store.open(), store.open()];
    await here.start(AbortSignal.timeout(20_000));
    await there.start(AbortSignal.timeout(20_000));
    const { id } = await here.directory.createOrganization({ name: 'acme' });
    [writer, reader] = [here.workspace(id), there.workspace(id)];
    ({ chat } = await writer.chats.start({ title: 'x', message: 'x', author, engine: 'none' }));
  });
  afterAll(async () => {
    await here?.stop();
    await there?.stop();
    await store?.cleanup();
    await server?.stop();
  });

  const listeners = async (): Promise<readonly number[]> => {
    const rows = await store.admin(
      `SELECT pid FROM pg_stat_activity WHERE datname = '${store.database}' AND usename = '${store.login}'
       AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_notify%')`,
    );
    return rows.map(([pid]) => Number(pid));
  };

  /** Waits as a reader does, writes when it listens, and answers after how many milliseconds it knew. */
  async function heardAfter(): Promise<number> {
    const seen = (await reader?.chats.get(chat.id))?.updatedAt ?? chat.updatedAt;
    const heard = reader?.chats.changed(chat.id, seen, AbortSignal.timeout(20_000));
    // Its own look, which finds nothing yet.
    await delay(300);
    const begun = performance.now();
    await writer?.chats.reply(chat.id, { message: 'more', author, engine: 'none' });
    await heard;
    return performance.now() - begun;
  }

  it('is heard of at once at another gateway', async () => {
    // Until the connection stands, each looks by itself.
    await heardAfter();
    while ((await listeners()).length < 2) await delay(50);
    expect(await heardAfter()).toBeLessThan(1_000);
    expect(await heardAfter()).toBeLessThan(1_000);
  });

  it('is heard of again after a listening connection was cut, and what was said meanwhile is not missed', async () => {
    const before = await listeners();
    expect(before.length).toBe(2);
    // One of them is the reader's, which then hears nothing of the ringing.
    for (const pid of before) {
      const seen = (await reader?.chats.get(chat.id))?.updatedAt ?? chat.updatedAt;
      const heard = reader?.chats.changed(chat.id, seen, AbortSignal.timeout(20_000));
      await delay(300);
      const begun = performance.now();
      await store.admin(`SELECT pg_terminate_backend(${pid})`);
      await writer?.chats.reply(chat.id, { message: 'meanwhile', author, engine: 'none' });
      await heard;
      expect(performance.now() - begun).toBeLessThan(2_500);
      while ((await listeners()).includes(pid) || (await listeners()).length < 2) await delay(50);
    }
    expect(await heardAfter()).toBeLessThan(1_000);
  });

  it('is heard of nowhere once the storage has stopped, and its connection is given back', async () => {
    await there?.stop();
    const left = async (): Promise<number> => (await listeners()).length;
    for (let attempt = 0; attempt < 100 && (await left()) > 1; attempt += 1) await delay(50);
    expect(await left()).toBe(1);
  });
});

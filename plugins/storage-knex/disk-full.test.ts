import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { Storage } from '../../src/contract/storage/index.ts';
import { ada, newChat, newKey } from '../../test/contract/storage/stage.ts';
import { embeddedServer } from '../../test/support/postgres.ts';
import { smallDisk } from '../../test/support/small-disk.ts';
import { postgresStore, type ServerStore } from './support/store.ts';

/* PostgreSQL, whose tables lie on a file system of 32 MiB. Its log has room: without that the server ends, as in a crash. */

const disk = await smallDisk(32, 'postgres');
const server = disk && (await embeddedServer());

(server === undefined ? describe.skip : describe)('the disk under PostgreSQL', () => {
  let store: ServerStore;
  let storage: Storage;

  beforeAll(async () => {
    if (server === undefined) return;
    await server.admin(`CREATE TABLESPACE small LOCATION '${disk?.directory}'`);
    store = await postgresStore(server);
    await store.admin('GRANT CREATE ON TABLESPACE small TO public');
    await store.admin(`ALTER DATABASE ${store.database} SET default_tablespace = small`);
    await store.admin(`CREATE TABLE ballast AS SELECT repeat('x', 2000) AS text FROM generate_series(1, 2000)`);
    storage = store.open();
    await storage.start(AbortSignal.timeout(30_000));
  });
  afterAll(async () => {
    await storage?.stop();
    await server?.stop();
    await disk?.release();
    if (store !== undefined) await rm(store.process.dataDirectory, { recursive: true, force: true });
  });

  it('is told when it is full, loses nothing acknowledged, and takes changes again once there is room', async () => {
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const { chats, keys } = storage.workspace(id);
    const key = newKey();
    await keys.create(key);
    const acknowledged: string[] = [];
    const refusals: SightlineError[] = [];
    let sent = 0;
    // Of random letters, which the server cannot press together.
    const write = async (): Promise<void> => {
      const title = `chat ${(sent += 1)}`;
      try {
        await chats.start({ ...newChat(), title, message: randomBytes(9_000).toString('base64'), author: ada });
        acknowledged.push(title);
      } catch (error) {
        if (!(error instanceof SightlineError)) throw error;
        refusals.push(error);
      }
    };
    while (refusals.length < 20 && sent < 10_000) await write();

    expect(refusals).toHaveLength(20);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'unavailable' });
      expect(refusal.operatorMessage).toContain('the disk of the server is full');
    }
    expect(await storage.directory.liveKey(key.id, key.secret.id)).toBeDefined();
    expect((await chats.list({ limit: 10 })).items).toHaveLength(10);
    expect(await storage.health(AbortSignal.timeout(5_000))).toEqual({ ok: true });

    await store.admin('DROP TABLE ballast');
    const [before, refused] = [acknowledged.length, refusals.length];
    for (let turn = 0; turn < 20; turn += 1) await write();
    expect(acknowledged).toHaveLength(before + 20);
    expect(refusals).toHaveLength(refused);
    const rows = await store.admin('SELECT title FROM chats');
    expect(rows.map(([title]) => String(title)).toSorted()).toEqual(acknowledged.toSorted());
  });
});

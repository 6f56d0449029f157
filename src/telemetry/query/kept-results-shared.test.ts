import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storagePlugin from '../../../plugins/storage-knex/index.ts';
import { silentLogger, testHost } from '../../../test/contract/host.ts';
import { newId } from '../../contract/core/index.ts';
import type { KeptResultRepository, Storage } from '../../contract/storage/index.ts';
import { createVault } from '../../gateway/process/vault.ts';
import { createKeptResults, type Holder, type KeptPages } from './kept-results.ts';
import type { KeptResult } from './kept-page.ts';
import { shareKeptResults } from './kept-results-shared.ts';
import { rowSetOf } from './result.ts';

const expired = { code: 'result_expired', message: 'There is no kept result with this result_id.' };
const vault = createVault([randomBytes(32).toString('base64url')]);

describe('kept results of several gateways', () => {
  let directory = '';
  let storage: Storage;
  let holder: Holder;
  let clock = Date.parse('2026-03-01T12:00:00Z');
  const now = () => new Date(clock);
  const warned: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-kept-'));
    storage = storagePlugin.create({ client: 'sqlite' }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
    const { id } = await storage.directory.createOrganization({ name: 'acme' });
    holder = { organizationId: id, subject: newId('usr'), role: 'member' };
  });
  afterAll(async () => {
    await storage.stop();
    await rm(directory, { recursive: true });
  });

  interface Others {
    readonly several?: boolean;
    readonly results?: KeptResultRepository;
    readonly vault?: typeof vault;
  }

  const gateway = (others: Others = {}): KeptPages =>
    shareKeptResults(createKeptResults({ now }), {
      results: (organizationId) => others.results ?? storage.workspace(organizationId).keptResults,
      vault: others.vault ?? vault,
      several: async () => others.several ?? true,
      now,
      logger,
    });
  const result: KeptResult = {
    dialect: 'postgres',
    columns: [
      { name: 'n', type: 'bigint', untrusted: false },
      { name: 'text', type: 'text', untrusted: true },
    ],
    rows: rowSetOf(Array.from({ length: 100 }, (_, index) => [index, `é"\n${index}`])),
    cutBy: 'rows',
    window: { start: new Date(0), source: 'predicates' },
  };
  const request = { offset: 90, maxRows: 500, maxBytes: 100_000 };
  const kept = async (at: KeptPages): Promise<string> => (await at.keep(holder, result)) ?? '';

  it('are paged and filtered at one as at the one that read them, to the byte', async () => {
    const [here, there] = [gateway(), gateway()];
    const id = await kept(here);
    expect(id).toMatch(/^res_.{26}$/);
    for (const asked of [request, { ...request, offset: 0, contains: '"\n42' }, { ...request, maxRows: 2 }]) {
      const page = await there.page(holder, id, asked);
      expect(page).toEqual(await here.page(holder, id, asked));
      expect(page.window).toEqual(result.window);
      expect(page.rows.ends.length).toBeGreaterThan(0);
    }
  });

  it('are nothing to another principal, role or organization, nor after ten minutes', async () => {
    const id = await kept(gateway());
    const other = await storage.directory.createOrganization({ name: 'globex' });
    const strangers: readonly Holder[] = [
      { ...holder, subject: newId('usr') },
      { ...holder, role: 'admin' },
      { ...holder, organizationId: other.id },
    ];
    for (const stranger of strangers)
      await expect(gateway().page(stranger, id, request)).rejects.toMatchObject(expired);
    for (const never of [newId('res'), 'res_\u0000', "' OR 1=1 --", id.toUpperCase()]) {
      await expect(gateway().page(holder, never, request)).rejects.toMatchObject(expired);
    }
    clock += 599_000;
    expect((await gateway().page(holder, id, request)).rows.ends).toHaveLength(10);
    clock += 1_000;
    await expect(gateway().page(holder, id, request)).rejects.toMatchObject(expired);
  });

  it('are not read from a row that was written for another, and are unreadable in the storage', async () => {
    const id = await kept(gateway());
    const rows = storage.workspace(holder.organizationId).keptResults;
    let stored: { readonly sealed: string; readonly holder: string } = { sealed: '', holder: '' };
    const spied: KeptResultRepository = {
      find: (...asked) => rows.find(...asked),
      keep: async (record, ...rest) => {
        stored = record;
        await rows.keep(record, ...rest);
      },
    };
    const other = await kept(gateway({ results: spied }));
    expect(stored.sealed).not.toContain('bigint');
    expect(stored.holder).not.toContain(holder.subject);
    // As who could write the table, but has no master key: another's sealed rows under an id that is one's own.
    const swapped: KeptResultRepository = { ...spied, find: async () => stored.sealed };
    await expect(gateway({ results: swapped }).page(holder, id, request)).rejects.toMatchObject(expired);
    const keyless = gateway({ vault: createVault([randomBytes(32).toString('base64url')]) });
    await expect(keyless.page(holder, other, request)).rejects.toMatchObject(expired);
    expect((await gateway().page(holder, other, request)).rows.ends).toHaveLength(10);
  });

  it('are not written while one serves alone', async () => {
    const alone = gateway({ several: false });
    const id = await kept(alone);
    expect((await alone.page(holder, id, request)).rows.ends).toHaveLength(10);
    await expect(gateway().page(holder, id, request)).rejects.toMatchObject(expired);
  });

  it('stay with the one that read them, and say so in the log, when the storage does not take them', async () => {
    const rows = storage.workspace(holder.organizationId).keptResults;
    const full: KeptResultRepository = {
      find: (...asked) => rows.find(...asked),
      keep: async () => {
        throw new Error('disk full');
      },
    };
    const here = gateway({ results: full });
    const id = await kept(here);
    expect((await here.page(holder, id, request)).rows.ends).toHaveLength(10);
    expect(warned).toContain('a cut result could not be kept for the other gateways');
  });

  it('are no more of a principal than in memory', async () => {
    const ids: string[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      ids.push(await kept(gateway()));
      // Which is older is told by milliseconds.
      await sleep(2);
    }
    const [oldest = '', ...others] = ids;
    await expect(gateway().page(holder, oldest, request)).rejects.toMatchObject(expired);
    for (const id of others) expect((await gateway().page(holder, id, request)).rows.ends).toHaveLength(10);
  });
});

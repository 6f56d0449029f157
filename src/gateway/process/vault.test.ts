import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault, loadMasterKeys } from './vault.ts';

const key = (): string => randomBytes(32).toString('base64url');
const plain = Buffer.from('it_secret ✓');

describe('the vault', () => {
  it('opens what it sealed, and never seals alike twice', () => {
    const vault = createVault([key()]);
    const [first, second] = [vault.seal(plain, 'a'), vault.seal(plain, 'a')];
    expect(first).not.toBe(second);
    expect(Buffer.from(vault.open(first, 'a')).toString()).toBe('it_secret ✓');
  });

  it('signs text for a context, and knows the signatures of all its keys and of no others', () => {
    const [mine, other] = [key(), key()];
    const signature = createVault([mine]).sign('text', 'a');
    expect(createVault([other, mine]).verifies(signature, 'text', 'a')).toBe(true);
    expect(createVault([other]).verifies(signature, 'text', 'a')).toBe(false);
    for (const [text, context] of [
      ['texts', 'a'],
      ['text', 'b'],
    ] as const) {
      expect(createVault([mine]).verifies(signature, text, context)).toBe(false);
    }
    for (const wrong of ['', 'v1', signature.slice(0, -1), `v2${signature.slice(2)}`]) {
      expect(createVault([mine]).verifies(wrong, 'text', 'a')).toBe(false);
    }
  });

  it('derives the same of the same key and context, and of nothing else', () => {
    const [mine, other] = [key(), key()];
    const derived = createVault([mine]).derive('a');
    expect(derived).toMatch(/^[0-9a-f]{32}$/);
    expect(createVault([mine, other]).derive('a')).toBe(derived);
    expect(createVault([mine]).derive('b')).not.toBe(derived);
    expect(createVault([other, mine]).derive('a')).not.toBe(derived);
  });

  it('refuses a value put in the place of another', () => {
    const vault = createVault([key()]);
    expect(() => vault.open(vault.seal(plain, 'ingest-token:1'), 'ingest-token:2')).toThrow('damaged or stands');
  });

  it('refuses any changed byte', () => {
    const vault = createVault([key()]);
    const parts = vault.seal(plain, 'a').split('.');
    const body = Buffer.from(parts[3] ?? '', 'base64url');
    for (let index = 0; index < body.length; index += 1) {
      const changed = Buffer.from(body);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => vault.open([...parts.slice(0, 3), changed.toString('base64url')].join('.'), 'a')).toThrow('damaged');
    }
    for (const bad of ['', 'v1', 'v2.a.b.c', 'v1.deadbeef.AAAA.AAAA']) expect(() => vault.open(bad, 'a')).toThrow();
  });

  it('refuses a value whose tag was cut short, which could be guessed', () => {
    const vault = createVault([key()]);
    const parts = vault.seal(Buffer.alloc(0), 'a').split('.');
    const tag = Buffer.from(parts[3] ?? '', 'base64url');
    expect(tag.length).toBe(16);
    for (const length of [4, 8, 12, 15]) {
      const short = [...parts.slice(0, 3), tag.subarray(0, length).toString('base64url')].join('.');
      expect(() => vault.open(short, 'a')).toThrow('damaged');
    }
  });

  it('opens what an older master key sealed as long as that key is in the ring', () => {
    const [old, fresh] = [key(), key()];
    const sealed = createVault([old]).seal(plain, 'a');
    expect(Buffer.from(createVault([fresh, old]).open(sealed, 'a'))).toEqual(plain);
    expect(() => createVault([fresh]).open(sealed, 'a')).toThrow('another master key');
  });

  it('refuses a key of another length', () => {
    expect(() => createVault(['c2hvcnQ'])).toThrow('not 32 bytes');
    expect(() => createVault([])).toThrow('no master key');
  });
});

describe('the master key', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sightline-key-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is made once, for its owner alone, whoever comes first', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => loadMasterKeys(directory, undefined)));
    expect(new Set(all.flat()).size).toBe(1);
    expect((await stat(join(directory, 'master.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['master.key']);
  });

  it('is closed to others again when somebody opened it', async () => {
    await loadMasterKeys(directory, undefined);
    await chmod(join(directory, 'master.key'), 0o644);
    await loadMasterKeys(directory, undefined);
    expect((await stat(join(directory, 'master.key'))).mode & 0o777).toBe(0o600);
  });

  it('is refused with the reason and what to do where it cannot be read', async () => {
    const file = join(directory, 'master.key');
    await mkdir(file);
    await expect(loadMasterKeys(directory, undefined)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The master key in ${file} cannot be read: it is a directory.`,
      hint: expect.stringContaining('owner and mode'),
    });
  });

  it('comes from the environment first, and then no file is written', async () => {
    expect(await loadMasterKeys(directory, ' one  two ')).toEqual(['one', 'two']);
    expect(await readdir(directory)).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rejection } from '../contract/runner.ts';
import { newId, SightlineError, type Vault } from '../../src/contract/core/index.ts';
import type { Workspace } from '../../src/contract/storage/index.ts';
import { exportWorkspace } from '../../src/records/transfer/export.ts';
import {
  createVault,
  exported,
  furnished,
  imported,
  newMasterKey,
  newPlace,
  rowsOf,
  signed,
  vault,
  type Place,
} from './support.ts';

/* An export is a file that people keep, copy and lose parts of. What is not whole and ours is never taken, not even in part. */

let source: Awaited<ReturnType<typeof furnished>>;
let target: Place;
let text: string;
let lines: readonly string[];

beforeAll(async () => {
  source = await furnished();
  target = await newPlace();
  text = await readFile(await exported(source), 'utf8');
  lines = text.split('\n');
});
afterAll(async () => {
  await source.remove();
  await target.remove();
});

const header = () => lines[0] ?? '';
const rows = () => lines.slice(1, -2);

let written = 0;
async function refused(content: string | Uint8Array, keys: Vault = vault): Promise<string> {
  const file = join(target.directory, `hostile-${(written += 1)}`);
  await writeFile(file, content);
  const error = await rejection(imported(target, file, keys));
  if (!(error instanceof SightlineError)) throw error;
  const kept = await target.storage.transfer.snapshot([], async ({ counts }) => Object.values(counts));
  expect(kept.filter((count) => count > 0)).toEqual([]);
  return `${error.code}: ${error.message}`;
}

describe('an export', () => {
  it('is taken into another storage, which then exports the same', async () => {
    const place = await newPlace();
    try {
      for (const end of ['', '.gz']) {
        const file = await exported(source, end);
        const fresh = await newPlace();
        await imported(fresh, file);
        expect(await rowsOf(await exported(fresh))).toEqual(rows());
        await fresh.remove();
      }
    } finally {
      await place.remove();
    }
  });

  it("is its owner's alone to read, packed where its name says so, and says how much it holds", async () => {
    const file = await exported(source, '.gz');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(file)).size).toBeLessThan(text.length / 3);
    const { counts } = JSON.parse(header());
    expect(Object.values<number>(counts).reduce((sum, count) => sum + count, 0)).toBe(rows().length);
  });

  it('holds no secret in the clear', async () => {
    expect(text).not.toContain('"secret"');
    expect(text).toContain('scrypt$hash');
    expect(rows().some((row) => row.startsWith('["sessions"'))).toBe(false);
    expect(rows().filter((row) => row.startsWith('["artifacts"'))).toHaveLength(2);
  });

  it('overwrites nothing, and leaves nothing half done behind', async () => {
    const file = await exported(source);
    const before = await readFile(file, 'utf8');
    const again = { storage: source.storage, vault, now: () => new Date(), file };
    expect(await rejection(exportWorkspace(again))).toMatchObject({ code: 'invalid_argument' });
    expect(await readFile(file, 'utf8')).toBe(before);
    const nowhere = join(source.directory, 'missing', 'file');
    expect(await rejection(exportWorkspace({ ...again, file: nowhere }))).toMatchObject({ code: 'unavailable' });
    const shut = {
      ...vault,
      seal: () => {
        throw new SightlineError('internal', 'no');
      },
    };
    const broken = join(source.directory, 'broken');
    expect(await rejection(exportWorkspace({ ...again, vault: shut, file: broken }))).toMatchObject({
      code: 'internal',
    });
    expect(existsSync(broken)).toBe(false);
    expect((await readdir(source.directory)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

describe('a file that is no export of ours', () => {
  it.each([
    ['empty', ''],
    ['a line end', '\n'],
    ['JSON of another kind', '{"format":"something"}\n'],
    ['no JSON', 'PK\u0003\u0004\n\n\n'],
    ['binary', '\0\0\0\0'],
  ])('is refused: %s', async (_name, content) => {
    expect(await refused(content)).toMatch(/^invalid_argument: (?:The file is no export|The export cannot be used)/);
  });

  it('is refused where it is missing, a folder, or not to be read', async () => {
    expect(await rejection(imported(target, join(target.directory, 'missing')))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('does not exist'),
    });
    expect(await rejection(imported(target, target.directory))).toMatchObject({ code: 'invalid_argument' });
  });

  it('is refused where a line is too long to be held', async () => {
    const giant = Buffer.concat([Buffer.from(`${header()}\n["users",null,"`), Buffer.alloc(70 * 1024 * 1024, 'a')]);
    expect(await refused(giant)).toContain('too long');
    expect(await refused(gzipSync(giant))).toContain('too long');
  });

  it('is refused where a line nests so deep that the parser would be busy with it for minutes', async () => {
    expect(await refused(`${header()}\n${'['.repeat(1_000_000)}\n`)).toContain('too deep');
  });
});

describe('an export that is not whole', () => {
  it('is refused wherever it was cut', async () => {
    const bytes = Buffer.from(text);
    const ends = Array.from({ length: 25 }, (_, index) => Math.floor((bytes.length * index) / 25));
    for (const end of [...ends, bytes.length - 1, bytes.length - 2]) {
      expect(await refused(bytes.subarray(0, end))).toMatch(/^invalid_argument: /);
    }
  });

  it('is refused wherever it was cut, packed', async () => {
    const bytes = gzipSync(text);
    for (let end = 2; end < bytes.length; end += Math.ceil(bytes.length / 20)) {
      expect(await refused(bytes.subarray(0, end))).toMatch(/^invalid_argument: /);
    }
    const spoilt = Buffer.from(bytes);
    spoilt.fill(0xff, 10_000, 10_040);
    expect(await refused(spoilt)).toMatch(/^invalid_argument: /);
  });

  it('is refused wherever a byte of it is another', async () => {
    const bytes = Buffer.from(text);
    for (let place = 3; place < bytes.length; place += Math.ceil(bytes.length / 30)) {
      const spoilt = Buffer.from(bytes);
      spoilt[place] = (spoilt[place] ?? 0) ^ 1;
      expect(await refused(spoilt)).toMatch(/^(?:invalid_argument|config_invalid): /);
    }
  });

  it('is refused where lines are missing, repeated, in another order, or follow its end', async () => {
    const all = rows();
    const audit = all.findIndex((row) => row.startsWith('["audit"'));
    const changes: readonly (readonly string[])[] = [
      all.toSpliced(audit, 1),
      all.toSpliced(audit, 0, all[audit] ?? ''),
      all.toSpliced(audit, 2, all[audit + 1] ?? '', all[audit] ?? ''),
    ];
    for (const changed of changes) {
      expect(await refused([header(), ...changed, ...lines.slice(-2)].join('\n'))).toMatch(
        // A record of the audit that comes twice is known by its place.
        /digest|something twice/,
      );
    }
    expect(await refused(`${text}\n`)).toMatch(/^invalid_argument: /);
    expect(await refused(`${text}${all[0]}\n`)).toContain('follows its end');
  });
});

describe('an export of somebody else', () => {
  it('is refused for another version, and for another schema, with what to do', async () => {
    expect(await refused(text.replace('"version":1', '"version":2'))).toContain('version 2');
    const schema = /"schema":"([^"]+)"/.exec(header())?.[1] ?? '';
    expect(await refused(text.replace(`"schema":"${schema}"`, '"schema":"9999-other"'))).toContain('9999-other');
  });

  it('is refused under another master key, before a row of it is read', async () => {
    const other = createVault([newMasterKey()]);
    expect(await refused(text, other)).toBe('config_invalid: The export was made under another master key.');
    expect(await refused(`${header()}\n`, other)).toContain('another master key');
  });

  type Sealing = (seal: (context: string) => string, workspace: Workspace) => Promise<unknown>;
  it.each<[string, Sealing]>([
    [
      'an ingest token',
      (seal, { ingestTokens }) => {
        const id = newId('it');
        return ingestTokens.create({ id, hash: 'a'.repeat(64), sealed: seal(`ingest-token:${id}`), createdBy: 'ada' });
      },
    ],
    [
      'a webhook',
      (seal, { webhooks }) => {
        const id = newId('whk');
        const url = 'https://hooks.example.com/';
        return webhooks.create({ id, url, events: ['chat.created'], sealedSecret: seal(`webhook:${id}`) });
      },
    ],
  ])('is refused where the secret of %s is under a key that was not brought along', async (_, create) => {
    const [old, fresh] = [newMasterKey(), newMasterKey()];
    const file = join(source.directory, newId('it'));
    const place = await newPlace();
    const both = createVault([fresh, old]);
    const before = createVault([old]);
    const { id } = await place.storage.directory.createOrganization({ name: 'old' });
    await create((context) => before.seal(Buffer.from('s'), context), place.storage.workspace(id));
    await exportWorkspace({ storage: place.storage, vault: both, now: () => new Date(), file });
    expect(await refused(await readFile(file), createVault([fresh]))).toContain('a master key that is not here');
    await imported(target, file, both);
    // Once the old key is gone, no export has what it sealed, and a backup without it is worth as much as the workspace.
    const later = `${file}-later`;
    const options = { storage: place.storage, vault: createVault([fresh]), now: () => new Date(), file: later };
    expect(await exportWorkspace(options)).toMatchObject({ unopened: 1 });
    await target.remove();
    target = await newPlace();
    const forged = (await readFile(later, 'utf8')).replace('"unopened":1', '"unopened":2');
    expect(await refused(forged, createVault([fresh]))).toContain('digest');
    await imported(target, later, createVault([fresh]));
    await place.remove();
    await target.remove();
    target = await newPlace();
  });

  it('is refused where it was written without the master key, however right it looks', async () => {
    const admin = rows().map((row) => row.replace('"role":"member"', '"role":"admin"'));
    expect(admin).not.toEqual(rows());
    expect(await refused([header(), ...admin, ...lines.slice(-2)].join('\n'))).toContain('digest');
  });

  it("is refused with the master key too, where it gives one organization what is another's", async () => {
    const [one = '', two = ''] = source.organizations;
    // Not the grants: the members are the same in both, so that a grant may be there.
    for (const table of ['incident_documents', 'chat_messages', 'investigation_steps', 'api_key_secrets']) {
      const given = rows().map((row) => (row.startsWith(`["${table}"`) ? row.replace(one, two) : row));
      expect(given).not.toEqual(rows());
      expect(await refused(signed(header(), given))).toContain('another organization');
    }
  });

  it('is refused where it speaks of what it does not have, twice of the same, or of tables of ours', async () => {
    const all = rows();
    expect(await refused(signed(header(), all.slice(1)))).toContain('does not have');
    expect(await refused(signed(header(), [all[0] ?? '', ...all]))).toContain('twice');
    expect(await refused(signed(header(), [...all, '["schema_migrations",null,{"id":1}]']))).toContain('no table');
    expect(await refused(signed(header(), [...all, '["sessions",null,{"hash":"a"}]']))).toContain('no table');
    expect(await refused(signed(header(), [...all, '["audit","org_1",{"at":1}]']))).toContain('an organization');
    expect(await refused(signed(header(), [...all, '["users",null,{"__proto__":{"a":1}}]']))).toMatch(
      /^invalid_argument/,
    );
  });
});

describe('a storage that is not empty', () => {
  it('takes nothing, and keeps what it has', async () => {
    const place = await newPlace();
    await place.storage.directory.createOrganization({ name: 'ours' });
    const file = await exported(source);
    await chmod(file, 0o400);
    expect(await rejection(imported(place, file))).toMatchObject({ code: 'conflict' });
    expect(await place.storage.directory.organizations()).toHaveLength(1);
    await place.remove();
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Lookups } from './lookups.ts';
import { openDatabase } from './open.ts';

let directory: string;
let file: string;
let writer: DatabaseSync;
let lookups: Lookups;
let find: ReturnType<Lookups['prepare']>;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sl-lookups-'));
  file = join(directory, 'file.sqlite');
  writer = openDatabase(file, { blockingMs: 1_000, readOnly: false });
  writer.exec("create table t (id text primary key, owner text, word text); insert into t values ('a', 'o', 'one')");
  writer.exec('create table other (n integer)');
  lookups = new Lookups(file);
  find = lookups.prepare('select word, owner from t where id = ? and owner = ?');
});
afterEach(() => {
  lookups.close();
  writer.close();
  rmSync(directory, { recursive: true });
});

const commit = () => writer.exec('insert into other values (1)');

describe('a look-up', () => {
  it('is answered with the very same row as long as the row is the same', async () => {
    const row = await find('a', 'o');
    expect(row).toEqual({ word: 'one', owner: 'o' });
    expect(await find('a', 'o')).toBe(row);
    commit();
    expect(await find('a', 'o')).toBe(row);
    expect(await find('a', 'o')).toBe(row);
  });

  it('sees a change by the next call, and what is gone, and what came back', async () => {
    const row = await find('a', 'o');
    writer.exec("update t set word = 'two'");
    expect(await find('a', 'o')).toEqual({ word: 'two', owner: 'o' });
    writer.exec('delete from t');
    expect(await find('a', 'o')).toBeUndefined();
    writer.exec("insert into t values ('a', 'o', 'one')");
    expect(await find('a', 'o')).toEqual(row);
  });

  it('sees what another process committed', async () => {
    const elsewhere = (sql: string) =>
      execFileSync(process.execPath, [
        '--no-warnings',
        '--eval',
        `new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)}).exec(${JSON.stringify(sql)})`,
      ]);
    await find('a', 'o');
    expect(await find('a', 'o')).toBeDefined();
    elsewhere("update t set word = 'elsewhere'");
    expect(await find('a', 'o')).toMatchObject({ word: 'elsewhere' });
    elsewhere('delete from t');
    expect(await find('a', 'o')).toBeUndefined();
  });

  it('does not see what was not committed, nor takes it for a change', async () => {
    const row = await find('a', 'o');
    writer.exec("begin immediate; update t set word = 'half'");
    expect(await find('a', 'o')).toBe(row);
    writer.exec('rollback');
    expect(await find('a', 'o')).toBe(row);
  });

  it('sees what was committed after it was asked for, before the turn was over', async () => {
    expect(await find('a', 'o')).toBeDefined();
    const asked = [find('a', 'o'), find('a', 'o')];
    writer.exec('delete from t');
    asked.push(find('a', 'o'));
    expect(await Promise.all(asked)).toEqual([undefined, undefined, undefined]);
  });

  it('fails each where the storage was stopped meanwhile', async () => {
    const asked = [find('a', 'o'), find('a', 'o')];
    lookups.close();
    const settled = await Promise.allSettled([...asked, find('a', 'o')]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('is about all of its values', async () => {
    expect(await find('a', 'o')).toBeDefined();
    expect(await find('a', 'p')).toBeUndefined();
    expect(await find('a', 'o')).toBeDefined();
  });

  it('keeps apart what several statements found', async () => {
    const owner = lookups.prepare('select owner from t where id = ?');
    expect(await Promise.all([find('a', 'o'), owner('a'), find('a', 'o')])).toEqual([
      { word: 'one', owner: 'o' },
      { owner: 'o' },
      { word: 'one', owner: 'o' },
    ]);
  });

  it('has the newest also where something is committed before each of many', async () => {
    for (let turn = 0; turn < 2_000; turn += 1) {
      writer.exec(`update t set word = '${turn % 7}'`);
      expect(await find('a', 'o')).toMatchObject({ word: String(turn % 7) });
    }
  });

  it('remembers so many rows and not more', async () => {
    writer.exec(
      'insert into t with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)' +
        " select 'id ' || i, 'o', 'w' from n",
    );
    const first = await find('a', 'o');
    for (let each = 1; each < 10_000; each += 1) await find(`id ${each}`, 'o');
    expect(await find('a', 'o')).toBe(first);
    await find('id 10000', 'o');
    expect(await find('a', 'o')).not.toBe(first);
    expect(await find('a', 'o')).toEqual(first);
  });
});

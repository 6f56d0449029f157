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
  it('is answered with the very same row as long as the row is the same', () => {
    const row = find('a', 'o');
    expect(row).toEqual({ word: 'one', owner: 'o' });
    expect(find('a', 'o')).toBe(row);
    commit();
    expect(find('a', 'o')).toBe(row);
    expect(find('a', 'o')).toBe(row);
  });

  it('sees a change by the next call, and what is gone, and what came back', () => {
    const row = find('a', 'o');
    writer.exec("update t set word = 'two'");
    expect(find('a', 'o')).toEqual({ word: 'two', owner: 'o' });
    writer.exec('delete from t');
    expect(find('a', 'o')).toBeUndefined();
    writer.exec("insert into t values ('a', 'o', 'one')");
    expect(find('a', 'o')).toEqual(row);
  });

  it('sees what another process committed', () => {
    const elsewhere = (sql: string) =>
      execFileSync(process.execPath, [
        '--no-warnings',
        '--eval',
        `new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)}).exec(${JSON.stringify(sql)})`,
      ]);
    find('a', 'o');
    expect(find('a', 'o')).toBeDefined();
    elsewhere("update t set word = 'elsewhere'");
    expect(find('a', 'o')).toMatchObject({ word: 'elsewhere' });
    elsewhere('delete from t');
    expect(find('a', 'o')).toBeUndefined();
  });

  it('does not see what was not committed, nor takes it for a change', () => {
    const row = find('a', 'o');
    writer.exec("begin immediate; update t set word = 'half'");
    expect(find('a', 'o')).toBe(row);
    writer.exec('rollback');
    expect(find('a', 'o')).toBe(row);
  });

  it('is about all of its values', () => {
    expect(find('a', 'o')).toBeDefined();
    expect(find('a', 'p')).toBeUndefined();
    expect(find('a', 'o')).toBeDefined();
  });

  it('keeps apart what several statements found', () => {
    const owner = lookups.prepare('select owner from t where id = ?');
    expect([find('a', 'o'), owner('a'), find('a', 'o')]).toEqual([
      { word: 'one', owner: 'o' },
      { owner: 'o' },
      { word: 'one', owner: 'o' },
    ]);
  });

  it('has the newest also where something is committed before each of many', () => {
    for (let turn = 0; turn < 2_000; turn += 1) {
      writer.exec(`update t set word = '${turn % 7}'`);
      expect(find('a', 'o')).toMatchObject({ word: String(turn % 7) });
    }
  });

  it('remembers so many rows and not more', () => {
    writer.exec(
      'insert into t with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)' +
        " select 'id ' || i, 'o', 'w' from n",
    );
    const first = find('a', 'o');
    for (let each = 1; each < 10_000; each += 1) find(`id ${each}`, 'o');
    expect(find('a', 'o')).toBe(first);
    find('id 10000', 'o');
    expect(find('a', 'o')).not.toBe(first);
    expect(find('a', 'o')).toEqual(first);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rejection } from '../../test/contract/runner.ts';
import { sqlite } from './sqlite/dialect.ts';
import type { PooledConnection } from './dialect.ts';
import { type Statements, transact } from './transact.ts';

let directory: string;
let connection: PooledConnection;

interface Row {
  readonly id: number;
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sl-transact-'));
  connection = sqlite(join(directory, 'file.sqlite'));
  await connection.writer.raw('CREATE TABLE parents (id INTEGER PRIMARY KEY)');
  await connection.writer.raw('CREATE TABLE children (id INTEGER PRIMARY KEY REFERENCES parents (id))');
});

afterEach(async () => {
  await connection.close();
  rmSync(directory, { recursive: true });
});

const write = <Result>(work: (transaction: Statements) => Promise<Result>) =>
  transact(connection.writer, 'BEGIN;', work);
const kept = () => connection.reader<Row>('parents').orderBy('id').pluck('id');

describe('a transaction', () => {
  it('keeps all that was said in it, in whatever form', async () => {
    const found = await write(async (transaction) => {
      await transaction.into('parents').insert({ id: 1 });
      await transaction.raw('INSERT INTO parents VALUES (?)', [2]);
      await transaction('parents').insert({ id: 3 });
      expect(await kept()).toEqual([]);
      return transaction<Row>('parents').where('id', '<=', transaction.ref('id')).orderBy('id').pluck('id');
    });
    expect(found).toEqual([1, 2, 3]);
    expect(await kept()).toEqual([1, 2, 3]);
  });

  it('that throws leaves nothing behind, and the next one begins', async () => {
    const error = await rejection(
      write(async (transaction) => {
        await transaction('parents').insert({ id: 1 });
        throw new Error('changed my mind');
      }),
    );
    expect(error).toMatchObject({ message: 'changed my mind' });
    await write((transaction) => transaction('parents').insert({ id: 2 }));
    expect(await kept()).toEqual([2]);
  });

  it('of which the COMMIT is refused leaves nothing behind, and the next one begins', async () => {
    const error = await rejection(
      write(async (transaction) => {
        await transaction.raw('PRAGMA defer_foreign_keys = ON');
        await transaction('parents').insert({ id: 1 });
        await transaction('children').insert({ id: 7 });
      }),
    );
    expect(String(error)).toContain('FOREIGN KEY');
    await write((transaction) => transaction('parents').insert({ id: 2 }));
    expect(await kept()).toEqual([2]);
  });

  it('takes no statement after its end, also not into the next one on its connection', async () => {
    const escaped: Statements[] = [];
    await write(async (transaction) => void escaped.push(transaction));
    await rejection(
      write(async (transaction) => {
        escaped.push(transaction);
        throw new Error('changed my mind');
      }),
    );
    await write(async () => {
      for (const late of escaped) {
        for (const statement of [late('parents').insert({ id: 1 }), late.raw('INSERT INTO parents VALUES (1)')]) {
          const error = await rejection(Promise.resolve(statement));
          expect(String(error)).toContain('a statement came after the end of its transaction');
        }
      }
    });
    expect(await kept()).toEqual([]);
  });

  it('that cannot be taken back ends its connection, and the next one begins on another', async () => {
    const used: object[] = [];
    const { client } = connection.writer;
    const query = client.query.bind(client);
    client.query = async (on: object, statement: unknown): Promise<unknown> => {
      used.push(on);
      if (statement === 'ROLLBACK') throw new Error('the disk is gone');
      return await query(on, statement);
    };
    const error = await rejection(
      write(async (transaction) => {
        await transaction('parents').insert({ id: 1 });
        throw new Error('changed my mind');
      }),
    );
    expect(error).toMatchObject({ message: 'changed my mind' });
    const before = new Set(used.splice(0));
    await write((transaction) => transaction('parents').insert({ id: 2 }));
    expect(before.size).toBe(1);
    expect(used.filter((each) => before.has(each))).toEqual([]);
    expect(await kept()).toEqual([2]);
  });
});

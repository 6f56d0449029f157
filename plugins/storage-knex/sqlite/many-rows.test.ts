import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { insertRows } from './execute.ts';

const sql = 'insert into t (a, b, c) values';
let connection: DatabaseSync;

beforeEach(() => {
  connection = new DatabaseSync(':memory:');
  connection.exec('create table t (a integer primary key, b text, c boolean)');
});
afterEach(() => connection.close());

const rows = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => [first + index, `row ${first + index}`, index % 3 === 0 ? null : true]);
const kept = () => connection.prepare('select a, b, c from t order by a').all();

describe('many rows', () => {
  it.each([1, 7, 8, 9, 100])('are all there, as they were given: %d', (count) => {
    connection.exec('begin');
    insertRows(connection, sql, rows(1, count));
    insertRows(connection, sql, rows(1_000, count));
    connection.exec('commit');
    expect(kept()).toEqual(
      [...rows(1, count), ...rows(1_000, count)].map(([a, b, c]) => ({ a, b, c: c === true ? 1 : c })),
    );
  });

  it('go with their transaction when one of them cannot be', () => {
    connection.exec('begin');
    expect(() => insertRows(connection, sql, [...rows(1, 20), [3, 'again', null]])).toThrow(/UNIQUE/);
    connection.exec('rollback');
    expect(kept()).toEqual([]);
    // What failed is as good as new.
    connection.exec('begin');
    insertRows(connection, sql, rows(1, 20));
    connection.exec('commit');
    expect(kept()).toHaveLength(20);
  });

  it('are not begun outside a transaction, of which half could stay', () => {
    expect(() => insertRows(connection, sql, rows(1, 2))).toThrow('transaction');
    expect(kept()).toEqual([]);
  });

  it('follow the table when it was changed meanwhile', () => {
    connection.exec('begin');
    insertRows(connection, sql, rows(1, 9));
    connection.exec('commit');
    connection.exec("alter table t add column d text default 'more'");
    connection.exec('begin');
    insertRows(connection, sql, rows(10, 9));
    connection.exec('commit');
    expect(connection.prepare("select count(*) as all_rows from t where d = 'more'").get()).toEqual({ all_rows: 18 });
  });
});

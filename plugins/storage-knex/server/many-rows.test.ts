import { afterAll, describe, expect, it } from '@jest/globals';
import { everyPostgresServer } from '../../../test/support/postgres.ts';
import { rowsStatements as postgresRows } from '../postgres/client.ts';
import { rowsStatements } from './lookups.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => [index, `row ${index}`, null]);

describe('the statements that insert many rows', () => {
  it('hold a hundred rows each, the last one what is left, with as many places as values', () => {
    const rows = numbered(250);
    const statements = [...rowsStatements('insert into t (a, b, c) values', rows)];
    expect(statements.map(({ bindings }) => bindings.length)).toEqual([300, 300, 150]);
    expect(statements.flatMap(({ bindings }) => bindings)).toEqual(rows.flat());
    for (const { sql, bindings } of statements) {
      expect(sql.match(/\?/g)).toHaveLength(bindings.length);
    }
  });

  it('hold fewer where the texts are long, which no server takes without bound', () => {
    const rows = Array.from({ length: 60 }, (_, index) => [index, '日'.repeat(64_000)]);
    const statements = [...rowsStatements('insert into t (a, b) values', rows)];
    expect(statements.flatMap(({ bindings }) => bindings)).toEqual(rows.flat());
    for (const { bindings } of statements) {
      expect(Buffer.byteLength(bindings.join(''))).toBeLessThan(4 * 1024 * 1024);
    }
  });

  it('are written out', () => {
    const [statement, ...others] = rowsStatements('insert into t (a, b, c) values', numbered(2));
    expect(statement).toEqual({
      sql: 'insert into t (a, b, c) values (?, ?, ?), (?, ?, ?)',
      bindings: [0, 'row 0', null, 1, 'row 1', null],
    });
    expect(others).toEqual([]);
  });

  it('are none where there are no rows', () => {
    expect([...rowsStatements('insert into t (a) values', [])]).toEqual([]);
  });
});

const servers = await everyPostgresServer();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

describe.each(servers.map((server) => [server.name, server] as const))(
  'the rows that %s reads from JSON',
  (_, server) => {
    it('are as they were sent, each value in the type of its column', async () => {
      const database = await server.createDatabase();
      const rows = [
        [1, 'quotes \' " and \\ and ☕ and 🦀', true, null],
        [Number.MAX_SAFE_INTEGER, '', false, 0.1],
        [3, 'half a pair \ud83e', null, -2],
      ] as const;
      const columns = ['number', 'text', 'flag', 'real'];
      await server.admin('create table "t" (real float8, flag boolean, text text, number bigint)', database);
      const [statement, ...others] = postgresRows(`insert into "t" ("${columns.join('", "')}") values`, rows);
      expect(others).toEqual([]);
      const { sql = '', bindings: [json = ''] = [] } = statement ?? {};
      await server.admin(
        sql.replace('$1', () => `'${json.replaceAll("'", "''")}'`),
        database,
      );
      const kept = await server.admin('select number::text, text, flag, real from t order by number', database);
      expect(kept).toEqual([
        ['1', 'quotes \' " and \\ and ☕ and 🦀', true, null],
        ['3', 'half a pair \ufffd', null, -2],
        [String(Number.MAX_SAFE_INTEGER), '', false, 0.1],
      ]);
      await server.drop(database);
    });
  },
);

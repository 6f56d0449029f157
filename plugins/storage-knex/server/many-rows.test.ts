import { describe, expect, it } from '@jest/globals';
import { rowsStatements } from './lookups.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => [index, `row ${index}`, null]);

describe('the statements that insert many rows', () => {
  it('hold a hundred rows each, the last one what is left, with as many places as values', () => {
    const rows = numbered(250);
    const statements = [...rowsStatements('insert into t (a, b, c) values', rows, (position) => `$${position}`)];
    expect(statements.map(({ bindings }) => bindings.length)).toEqual([300, 300, 150]);
    expect(statements.flatMap(({ bindings }) => bindings)).toEqual(rows.flat());
    for (const { sql, bindings } of statements) {
      expect(sql.match(/\$\d+/g)).toEqual(bindings.map((_, index) => `$${index + 1}`));
    }
  });

  it('are written out', () => {
    const [statement, ...others] = rowsStatements('insert into t (a, b, c) values', numbered(2), () => '?');
    expect(statement).toEqual({
      sql: 'insert into t (a, b, c) values (?, ?, ?), (?, ?, ?)',
      bindings: [0, 'row 0', null, 1, 'row 1', null],
    });
    expect(others).toEqual([]);
  });

  it('are none where there are no rows', () => {
    expect([...rowsStatements('insert into t (a) values', [], () => '?')]).toEqual([]);
  });
});

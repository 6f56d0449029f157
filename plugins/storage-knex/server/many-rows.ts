import type { ColumnValue } from '../tables/table.ts';

/** What a statement holds stays far below the databases' limits of parameters. */
const rowsAStatement = 100;

export interface RowsStatement {
  readonly sql: string;
  readonly bindings: readonly ColumnValue[];
}

/**
 * The statements that insert many rows, for servers, where each costs a round trip.
 * @param place of a value, counted from 1.
 */
export function* rowsStatements(
  sql: string,
  rows: readonly (readonly ColumnValue[])[],
  place: (position: number) => string,
): Generator<RowsStatement> {
  const width = rows[0]?.length ?? 0;
  let known: { readonly rows: number; readonly sql: string } | undefined;
  for (let start = 0; start < rows.length; start += rowsAStatement) {
    const some = rows.slice(start, start + rowsAStatement);
    if (known?.rows !== some.length) known = { rows: some.length, sql: `${sql} ${places(some.length, width, place)}` };
    yield { sql: known.sql, bindings: some.flat() };
  }
}

function places(rows: number, width: number, place: (position: number) => string): string {
  const all: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const own = Array.from({ length: width }, (_, column) => place(row * width + column + 1));
    all.push(`(${own.join(', ')})`);
  }
  return all.join(', ');
}

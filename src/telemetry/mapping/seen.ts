import type { Holds, ValueReader } from '../../contract/telemetry/index.ts';

export type Sql = ValueReader['sql'];

/** A physical column, or a mapped expression, with what was seen of it. */
export interface Seen {
  readonly sql: string;
  /** By which its unit may be known. */
  readonly name: string;
  readonly holds: Holds;
  readonly nullable: boolean;
  readonly cells: readonly (string | null)[];
}

/** Of the same table, by logical column. */
export type SeenColumns = Readonly<Record<string, Seen | undefined>>;

/** How a column differs from what callers expect, and the expression that reads it so; without one it is mapped by hand. */
export interface Fit {
  /** Absent where nothing is wrong yet: a NULL that the type allows. */
  readonly found?: string;
  readonly mend?: string;
}

export function givenOf(cells: Seen['cells']): readonly string[] {
  return cells.flatMap((cell) => (cell === null || cell === '' ? [] : [cell]));
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers
    .filter((number) => Number.isFinite(number) && number !== 0)
    .toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

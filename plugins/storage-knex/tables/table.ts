/*
 * Values as the database gives them. Big integers come as strings from some drivers and booleans as numbers from others; only
 * columns.ts reads them.
 */

export type DbInteger = number | string;
export type DbBoolean = boolean | number;

/** What is written into a column. */
export type ColumnValue = string | number | boolean | null;

/** What each kind of column holds in a row; with `?` it may be null. `small` is a number with every driver. */
interface Held {
  text: string;
  'text?': string | null;
  small: number;
  integer: DbInteger;
  'integer?': DbInteger | null;
  'real?': number | null;
  boolean: DbBoolean;
  'boolean?': DbBoolean | null;
}

export type Kind = keyof Held;

/** A table as it is moved by an export, and by its columns the type of its rows. An organization's have its id, too. */
export interface Table<Other extends string = string> {
  /** The order in which rows are read, page by page: no two rows have the same values here. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Kind>>;
  /** Columns with the id of a row that must be of the same organization, and that row's table. */
  readonly within?: Readonly<Record<string, Other>>;
}

export type RowOf<Described extends Table> = {
  -readonly [Column in keyof Described['columns']]: Held[Described['columns'][Column]];
};

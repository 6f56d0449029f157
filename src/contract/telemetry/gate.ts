import type { SqlHelpers, TimeReach } from './statement.ts';
import type { TableName } from './schema.ts';

/** Gates for dialects whose parser is not available as a library: one shared parser and writer, a policy for each dialect. */
export interface SqlGates {
  open(policy: GatePolicy, helpers: SqlHelpers): Promise<SqlGate>;
}

/** What a dialect lets through. Everything that is not named is refused. */
export interface GatePolicy {
  /** Whose grammar it is. */
  readonly dialect: 'clickhouse' | 'bigquery';
  /** For messages. */
  readonly title: string;
  /** Lower case unless the dialect's functions are case-sensitive. */
  readonly functions: ReadonlySet<string>;
  readonly functionNamesAreCaseSensitive: boolean;
  /** What to write instead of a function that is not there. */
  readonly functionHints?: Readonly<Record<string, string>>;
  /** Of casts, lower case, without arguments. */
  readonly types: ReadonlySet<string>;
  /** Also allowed in FROM: functions of literal arguments and columns (`numbers`, `UNNEST`). */
  readonly tableFunctions: ReadonlySet<string>;
}

export interface SqlGate {
  /** Throws sql_syntax, sql_multiple_statements, sql_not_read_only, sql_refused, unknown_table, unknown_function. */
  admit(sql: string, signal: AbortSignal): Promise<GatedStatement>;
}

/** A statement regenerated from its checked tree, with placeholders for telemetry tables. */
export interface GatedStatement {
  readonly tables: readonly TableName[];
  readonly reaches: readonly TimeReach[];
  /** `relation` writes what a table stands for; the statement's own alias, or the table's name, follows it. */
  write(relation: (table: TableName) => string): string;
}

/** The names of a list that is written as text, parted by white space. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/**
 * By name, where many names have the same value: each value with its names, parted by white space. Without a prototype: names
 * that callers write are looked up in it.
 */
export function byNames<Value>(
  rows: Iterable<readonly [value: Value, names: string]>,
): Readonly<Record<string, Value>> {
  const values: Record<string, Value> = Object.create(null);
  for (const [value, names] of rows) for (const name of words(names)) values[name] = value;
  return values;
}

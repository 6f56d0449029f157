import type { Component, Host } from '../core/component.ts';
import type { OrganizationId } from '../core/ids.ts';
import type { SqlGates } from './gate.ts';
import type { MappingHelpers, TenancyHelpers } from './mapping.ts';
import type { ColumnType, LogicalTable, TableName } from './schema.ts';
import type { CheckedStatement, ParsedStatement, SqlHelpers, StatementBinding, StatementContext } from './statement.ts';
import type { ValueHelpers } from './values.ts';
import type { WarehouseOperations } from './warehouse.ts';

/**
 * A warehouse behind `query_otel`. The core owns the pipeline (size → parse → check → render → open → capped rows → error
 * → audit, in src/telemetry/query); a plugin supplies the four steps in the middle for its dialect. It fails closed: what `check`
 * does not know it refuses, and only what `render` wrote is ever sent to the engine.
 */
export interface Telemetry extends Component {
  /** Complete once started: which tables there are and how attributes are read may depend on the warehouse. */
  readonly dialect: Dialect;
  /** Parses one statement with the engine's own grammar. Throws sql_syntax, sql_multiple_statements or sql_refused. */
  parse(sql: string, context: StatementContext): Promise<ParsedStatement>;
  /** Walks the tree against the plugin's allow-lists. Throws sql_refused, sql_not_read_only, unknown_table, unknown_function, each with a hint. */
  check(parsed: ParsedStatement): CheckedStatement;
  /** Writes the SQL that is sent, from the checked tree alone, with the window bound beneath every telemetry table. */
  render(checked: CheckedStatement, binding: StatementBinding, context: StatementContext): Promise<string>;
  /** Runs rendered SQL inside the organization's boundary, read-only. Throws a SightlineError; the engine's own message stays in `cause`. */
  open(rendered: string, limits: QueryLimits, context: StatementContext): Promise<Cursor>;
  /** What running rendered SQL would read, asked of the engine without running it. Absent where the engine cannot tell. */
  estimate?(rendered: string, context: StatementContext): Promise<ScanEstimate>;
  /** How many statements it runs at once, where more would only wait in it: no more come, and those take turns by organization. */
  readonly atOnce?: { readonly all?: number; readonly organization?: number };
  /** How many engines of its own run; absent where there are none to count. */
  readonly enginesOpen?: number;
  /** Whether telemetry lies in the data directory, where no gateway on another one sees it. */
  readonly inDataDirectory?: boolean;
  /** Absent where telemetry reaches the warehouse by another way than our receiver. */
  readonly sink?: TelemetrySink;
  /**
   * Fills an organization that has nothing yet from Parquet files whose columns are named as the logical ones; what a file
   * lacks is absent. Answers the stretches of time there are. Absent where the engine cannot.
   */
  importParquet?(
    organizationId: OrganizationId,
    files: Readonly<Partial<Record<TableName, string>>>,
  ): Promise<readonly ImportedStretch[]>;
  /**
   * Writes an organization's file again, smaller and in the newest format; nothing may use it meanwhile. Answers its bytes
   * before and after, undefined where there is none. Absent where there are no such files.
   */
  compact?(organizationId: OrganizationId): Promise<{ readonly before: number; readonly after: number } | undefined>;
  /**
   * Removes all that is kept of an organization that nobody uses any more. Absent where that is the sink's to do, or where
   * another way than ours feeds the warehouse: then its telemetry is its owner's to remove.
   */
  forget?(organizationId: OrganizationId): Promise<void>;
  /** What an operator does with a warehouse that is not ours: `sightline telemetry …` and `sightline doctor`. */
  readonly operations?: WarehouseOperations;
}

export interface ScanEstimate {
  /** Of storage that would be read; compressed or not as the engine counts. */
  readonly bytes: number;
  readonly rows?: number;
}

export interface QueryLimits {
  readonly maxRows: number;
  /** Of serialized rows, UTF-8. */
  readonly maxBytes: number;
  /** Of one serialized cell; a longer one is cut and marked. */
  readonly maxCellBytes: number;
  readonly timeoutMs: number;
}

export interface ResultColumn {
  readonly name: string;
  /** The engine's own name for the type. */
  readonly type: string;
}

/**
 * Rows already serialized: each a JSON array, in the cell rules of TOOLS.md (64-bit integers and decimals as strings, NaN
 * and infinities as strings, binary as hex, timestamps RFC 3339 UTC, maps as objects). The engine stops reading when a
 * limit is met; what is cut is said in `end`.
 */
export interface Cursor {
  readonly columns: readonly ResultColumn[];
  /** The next rows, or undefined at the end; at once where they are there. */
  read(): Promise<RowChunk | undefined> | RowChunk | undefined;
  /** Known once `read` has answered undefined. */
  readonly end: CursorEnd | undefined;
  /** Stops the engine's work if it is not done. Safe twice. Undefined where there is nothing to wait for. */
  close(): Promise<void> | undefined;
}

export interface RowChunk {
  readonly rows: number;
  /** `[…],[…]`: row arrays joined by commas, no outer brackets. */
  readonly json: Uint8Array;
}

export interface CursorEnd {
  /** Which limit ended the result early. */
  readonly truncated?: 'rows' | 'bytes';
  readonly cutCells: number;
  readonly bytesScanned?: number;
}

/** How this warehouse is written to and asked. Shown to models, and used by the agent to write its SQL. */
export interface Dialect {
  /** `duckdb`, `postgres`, `clickhouse`, `bigquery`. */
  readonly name: string;
  readonly version: string;
  readonly tables: readonly LogicalTable[];
  /** The engine's name for a logical type, as DESCRIBE answers it. */
  typeName(type: ColumnType): string;
  /** One line: how to read an attribute, e.g. `attributes['http.route']`. */
  readonly attributeHint: string;
  /** Working queries over otel.*, each with what it answers. */
  readonly examples: readonly { readonly question: string; readonly sql: string }[];
  readonly functions: readonly string[];
  readonly write: DialectWriter;
}

/** From the SQL by what it answers. */
export function examplesOf(sqlByQuestion: Readonly<Record<string, string>>): Dialect['examples'] {
  return Object.entries(sqlByQuestion).map(([question, sql]) => ({ question, sql }));
}

/**
 * What the investigator's SQL and the repair of a statement need that dialects spell differently. `literal`'s value, a `key`, a `pattern`, a
 * `replacement` and an `alias` are plain text, which the writer quotes; all other arguments are SQL.
 */
export interface DialectWriter {
  literal(value: string | number | boolean | Date): string;
  attribute(map: string, key: string): string;
  /** Start of the bucket of `seconds` that `time` falls into. */
  bucket(time: string, seconds: number): string;
  quantile(expression: string, fraction: number): string;
  countIf(condition: string): string;
  /** `a / b` as a float, NULL when b is 0. */
  ratio(numerator: string, denominator: string): string;
  replaceRegexp(text: string, pattern: string, replacement: string): string;
  /** Whether the pattern occurs in the text; it may begin with `(?i)`. */
  matches(text: string, pattern: string): string;
  /** A text's number, NULL where it is none. */
  number(text: string): string;
  /** So long before now. */
  ago(count: number, unit: 'second' | 'minute' | 'hour' | 'day' | 'week'): string;
  /** A FROM item giving `key` and `value` for each entry of the map: `unnestMap('s.attributes', 'a')` → `… AS a(key, value)`. */
  unnestMap(map: string, alias: string): string;
  /** `time` as text by a pattern of %Y, %y, %m, %b, %d, %j, %a, %H, %I, %M, %S and %p, with other text between. */
  timeText(time: string, pattern: string): string;
  /** Seconds since 1970 of a time. */
  epochSeconds(time: string): string;
  /** The value of the row in which `by` is the most, or the least. */
  valueAt(value: string, by: string, which: 'max' | 'min'): string;
  /** Any one of the values. */
  anyValue(expression: string): string;
  /** The values as one text, and the distinct ones as an array. */
  joined(expression: string, separator: string): string;
  distinctArray(expression: string): string;
  /** Of a list of span events, the first `exception` as `type: message`, by what it has of them; '' or NULL where it has none. */
  exception(events: string): string;
}

/** Rows of one table without a gap of more than ten minutes. */
export interface ImportedStretch {
  readonly table: TableName;
  /** Of the column `phase`; '' where the file has none. */
  readonly phase: string;
  readonly start: Date;
  /** Exclusive. */
  readonly end: Date;
  readonly rows: number;
}

/** Where the OTLP receiver's rows go. */
export interface TelemetrySink {
  /** The last committed position of this log; undefined before its first load. */
  committed(organizationId: OrganizationId, log: string): Promise<LogPosition | undefined>;
  /** Loads the batches and the position in one transaction: after a crash both are there or neither. */
  load(load: TelemetryLoad, signal: AbortSignal): Promise<void>;
  /** How long rows of this organization gather before a load; a second where absent. */
  gatherMs?(organizationId: OrganizationId): number;
  /** Of how many organizations it loads rows at once; those of more take turns, and their rows gather for longer. */
  readonly atOnce?: number;
  /** Waits until a load can begin at once, where that may take a while; answers how to say that it was, or will not be; safe twice. */
  hold?(organizationId: OrganizationId): Promise<() => void>;
  /** Time of the newest row; undefined where there is none. Without it, retention trusts the clock at its first run. */
  newest?(organizationId: OrganizationId, signal: AbortSignal): Promise<Date | undefined>;
  /** Deletes rows older than the date and lets the space be used again. Answers how many, where it knows. */
  retain(organizationId: OrganizationId, olderThan: Date, signal: AbortSignal): Promise<number | void>;
}

export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
}

export interface TelemetryLoad {
  readonly organizationId: OrganizationId;
  /** Names the log, since each worker of a machine keeps its own. */
  readonly log: string;
  /** Encoded TelemetryBatches (batch-codec.ts), in order. */
  readonly batches: readonly Uint8Array[];
  /** The position after the last batch. */
  readonly upTo: LogPosition;
}

export interface TelemetryHost extends Host {
  readonly sql: SqlHelpers;
  readonly mapping: MappingHelpers;
  /** What the warehouse's values say of a mapping. */
  readonly values: ValueHelpers;
  readonly tenancy: TenancyHelpers;
  /** For dialects without a parser of their engine. */
  readonly gates: SqlGates;
}

import type { MappingConfig, ResolvedMapping } from './mapping.ts';
import type { TableName } from './schema.ts';

/** What an engine's type holds, as far as mapping it needs to know. `local`: a time without a zone. */
export type Holds =
  | 'text'
  | 'enum'
  | 'uuid'
  | 'integer'
  | 'float'
  | 'boolean'
  | 'time'
  | 'local'
  | 'interval'
  /** string → string, as attributes are served. */
  | 'map'
  /** string → another type. */
  | 'typed map'
  | 'json'
  | 'other';

export type Unit = 'ns' | 'us' | 'ms' | 's';
export type MomentForm = Unit | 'local' | 'text';

/** A column of a physical table. `sql` reads it, and is more than its name where several make one map. */
export interface FoundColumn {
  readonly name: string;
  readonly sql: string;
  readonly holds: Holds;
  readonly nullable: boolean;
}

export interface SightedTable {
  /** Quoted, as it goes into `from`. */
  readonly from: string;
  readonly columns: readonly FoundColumn[];
}

/** Of one expression: what it holds, and a cell for each row looked at. */
export interface Sample {
  readonly holds: Holds;
  /** Texts; `\x…` for bytes, nanoseconds since 1970 for times, JSON for maps. Cut at 4,000 characters. */
  readonly cells: readonly (string | null)[];
}

/** How an engine gives values, and writes the expressions that mend them. */
export interface ValueReader {
  /** At most 1,000 rows; rejects where the login may not read. */
  sample(from: string, where: string | undefined, expressions: readonly string[]): Promise<readonly Sample[]>;
  readonly sql: {
    text(expression: string): string;
    /** Hexadecimal of bytes, of base64, of an integer of 64 bits. */
    hex(expression: string, of: 'bytes' | 'base64' | 'integer'): string;
    moment(expression: string, form: MomentForm): string;
    /** The window said of the raw column, so that its index or sort key serves. */
    bounds(expression: string, form: MomentForm): readonly string[];
    nanos(expression: string, unit: Unit | 'interval'): string;
    /** Nanoseconds from one moment to another. */
    between(start: string, end: string): string;
    after(start: string, nanos: string): string;
    /** As the map that attributes are: of JSON in text, of a map with other values, of OTLP's [{key, value}]. */
    map(expression: string, of: 'text' | 'typed map' | 'json' | 'pairs'): string;
    merged(maps: readonly string[]): string;
    attribute(map: string, key: string): string;
  };
}

/** What the values of a column say of it. */
export interface ValueNote {
  /** otel.spans.kind */
  readonly what: string;
  /** Facts that can be counted, never a value of a sender's own. */
  readonly found: string;
  /** The expression that reads it as callers expect; without one it is mapped by hand. */
  readonly mend?: string;
  /** Nothing in any row that was looked at, which need not be a fault. */
  readonly empty?: true;
}

export interface ValueHelpers {
  /** What the mapped columns hold, table by table: what does not fit, and what is empty in every row looked at. */
  look(mapping: ResolvedMapping, reader: ValueReader, only?: readonly TableName[]): Promise<readonly ValueNote[]>;
  /** A mapping told from names and values: over a preset's, or of tables that none knows. Undefined where nothing is like telemetry. */
  propose(
    known: { readonly config: MappingConfig; readonly mapping: ResolvedMapping } | undefined,
    tables: readonly SightedTable[],
    reader: ValueReader,
  ): Promise<Proposal | undefined>;
}

export interface Proposal {
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly notes: readonly ValueNote[];
}

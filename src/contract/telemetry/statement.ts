import { SightlineError, type ErrorCode, type ErrorDetails } from '../core/errors.ts';
import type { OrganizationId } from '../core/ids.ts';
import type { LogicalTable, TableName } from './schema.ts';
import type { Json, TreeGrammar } from './tree.ts';

export interface StatementContext {
  readonly organizationId: OrganizationId;
  /** Aborted when the caller left or the deadline passed; the engine's work must stop. */
  readonly signal: AbortSignal;
  /** Sent by `open` and `estimate` (SQL comment, log_comment, job label), so that the warehouse's owner sees who asked. */
  readonly label?: StatementLabel;
}

/** Plain text; the plugin escapes it for the place in its statement. */
export interface StatementLabel {
  /** The key's `ak_…`, the person's `usr_…`, or `agent`. */
  readonly principal: string;
  readonly tool: string;
  /** W3C trace id of the request where it came with one, else the request's own id. */
  readonly traceId: string;
}

/** Refuses what must not even reach a parser. */
export function admitText(sql: string, maxBytes: number, { refuse }: Pick<SqlHelpers, 'refuse'>): void {
  if (Buffer.byteLength(sql) > maxBytes) {
    throw refuse('sql_too_large', `The statement is longer than ${maxBytes / 1024} kB.`);
  }
  const nul = sql.indexOf('\0');
  if (nul >= 0) throw refuse('sql_syntax', 'The statement contains a NUL character.', { position: nul + 1 });
  if (!sql.isWellFormed()) throw refuse('sql_syntax', 'The statement is not well-formed Unicode.');
}

export function statementTooLarge(): SightlineError {
  return new SightlineError('sql_refused', 'The statement is too large or nested too deeply.', {
    hint: 'Ask in several smaller statements.',
  });
}

/** Where the text has come to after so many code points, in UTF-16 units. */
export function unitAt(text: string, points: number): number {
  let unit = 0;
  for (let passed = 0; passed < points && unit < text.length; passed += 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

/** Who asks, as a comment before the statement in the form of sqlcommenter. */
export function labelComment(label: StatementLabel | undefined): string {
  if (label === undefined) return '';
  const { principal, tool, traceId } = label;
  return `/*principal='${labelText(principal)}',tool='${labelText(tool)}',trace_id='${labelText(traceId)}'*/ `;
}

/** URL-encoded, the start of what is long. Letters, digits and `-_.~%` are left, so that nothing ends the comment or the value. */
export function labelText(value: string): string {
  if (/^[\w.~-]{0,200}$/.test(value)) return value;
  const escape = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(value.slice(0, 200).toWellFormed()).replaceAll(/[!'()*]/g, escape);
}

/** The plugin's own tree; the core only carries it and may keep it in a cache. */
export interface ParsedStatement {
  readonly tree: unknown;
}

export interface CheckedStatement extends ParsedStatement {
  /** Telemetry tables the statement reads. */
  readonly tables: readonly TableName[];
  /**
   * One for each place in the statement that reads a telemetry table: what its own predicates on `time` leave of it. An
   * end is left out where nothing certain is known, so a plugin may know little, but never claim too narrow a reach. Kept
   * for later runs of the statement: what counts from now is never made absolute.
   */
  readonly reaches: readonly TimeReach[];
}

/** `start` inclusive, `end` exclusive. */
export interface TimeReach {
  readonly start?: TimePoint;
  readonly end?: TimePoint;
}

/** A moment written in SQL: absolute, or so many milliseconds from the moment it runs (negative: before). */
export type TimePoint = { readonly at: Date } | { readonly fromNowMs: number };

export interface StatementBinding {
  /** Rows outside are invisible to the statement. Both ends optional: from inclusive, to exclusive. */
  readonly window?: { readonly start?: Date; readonly end?: Date };
  /** What this caller may not read as it is. Bound beneath the statement like the window. */
  readonly rules?: ReadRules;
  /** Columns that the statement may name: of the others it shows nothing, and they are left out. Without it, all. */
  readonly columns?: ReadonlySet<string>;
}

/**
 * `deny`: the column or key is not there. `mask`: text becomes `***`, anything else its empty value (NULL where the column
 * may be NULL). `hash`: text becomes 16 hex digits of SHA-256 over salt and text, so that equal values stay equal; '' stays ''.
 */
export type RuleAction = 'deny' | 'mask' | 'hash';

export interface ReadRules {
  /** Equal keys, equal rules: part of a cache's key. */
  readonly key: string;
  /** 32 hex digits, the organization's own; only for `hash`. */
  readonly salt: string;
  readonly tables: Readonly<Record<TableName, TableRules>>;
}

export interface TableRules {
  /** By logical column; `hash` only of text columns. */
  readonly columns: ReadonlyMap<string, RuleAction>;
  /** Of `attributes`, `resource_attributes`, and the attributes inside `events` and `links`. The first that fits applies. */
  readonly attributes: readonly AttributeRule[];
}

/** Fits a key that leads to it as well, of which the value is an object or a list: `user` where `user.email` is ruled. */
export interface AttributeRule {
  /** A key, or with `prefix` how keys begin. */
  readonly key: string;
  readonly prefix: boolean;
  readonly action: RuleAction;
}

/** What all dialects share, given to plugins so that they say the same things in the same words. */
export interface SqlHelpers {
  readonly tables: Readonly<Record<TableName, LogicalTable>>;
  /** The candidates nearest to a misspelt name, best first, at most three. */
  nearest(name: string, candidates: Iterable<string>): readonly string[];
  refuse(
    code: Extract<ErrorCode, `sql_${string}` | `unknown_${string}`>,
    message: string,
    details?: ErrorDetails,
  ): SightlineError;
  unknownTable(name: string, details?: ErrorDetails): SightlineError;
  /** Nearest functions of the dialect go into the hint, unless `details` bring their own. */
  unknownFunction(name: string, functions: Iterable<string>, details?: ErrorDetails): SightlineError;
  /** Nearest columns and the table's whole list go into the hint. */
  unknownColumn(name: string, tables: readonly TableName[], details?: ErrorDetails): SightlineError;
  /** Lets a parser's tree through if all of it is known to the grammar; throws otherwise. */
  treeWalk<State>(tree: Json | undefined, grammar: TreeGrammar<State>, state: State): void;
}

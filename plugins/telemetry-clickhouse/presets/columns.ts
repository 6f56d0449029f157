import type { PhysicalColumns } from '../../../src/contract/telemetry/index.ts';
import { jsonAttribute, jsonToMap } from '../json-attributes.ts';
import { identifier, literal, tablePath } from '../quote.ts';
import { event, exemplar, link } from '../types.ts';

export type Columns = ReadonlyMap<string, string>;

export function pick(columns: Columns, ...names: readonly string[]): string | undefined {
  const there = names.find((name) => columns.has(name));
  return there === undefined ? undefined : /^[A-Za-z_]\w*$/.test(there) ? there : identifier(there);
}

export interface Table {
  /** Quoted. */
  readonly from: string;
  readonly columns: Columns;
}

/** The first table of these names that the database has. */
export async function tableOf(
  physical: PhysicalColumns,
  database: string | undefined,
  names: readonly string[],
): Promise<Table | undefined> {
  for (const name of names) {
    const path = `${database}.${name}`;
    const columns = await physical(path);
    if (columns !== undefined) return { from: tablePath(path), columns };
  }
  return undefined;
}

/** The first existing column as an Int64. */
export function integer(columns: Columns, ...names: readonly string[]): string | undefined {
  const column = pick(columns, ...names);
  return column && `toInt64(${column})`;
}

/** Leaves out what is undefined: the mapping gives typed empties for it. */
export function present(expressions: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(expressions).flatMap(([name, sql]) => (sql === undefined ? [] : [[name, sql]])),
  );
}

export function isJson(columns: Columns, column: string): boolean {
  return /^(Array\()?JSON\b/.test(columns.get(column) ?? '');
}

/** One attribute as text, '' where it is absent. */
export function attribute(columns: Columns, column: string, key: string): string | undefined {
  if (!columns.has(column)) return undefined;
  return isJson(columns, column) ? jsonAttribute(column, key) : `${column}[${literal(key)}]`;
}

/** The environment's attribute was renamed; senders of both kinds are in one table. */
export function environment(columns: Columns, column: string): string | undefined {
  const now = attribute(columns, column, 'deployment.environment.name');
  const before = attribute(columns, column, 'deployment.environment');
  return now === undefined || before === undefined ? undefined : `if(${now} != '', ${now}, ${before})`;
}

const kinds = ['SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER', 'INTERNAL'];

/** `Server`, `SPAN_KIND_SERVER` or `server` as SERVER. */
export function kindOfText(column: string): string {
  const given = kinds.map((kind) => literal(kind)).join(', ');
  return `transform(replaceOne(upper(${column}), 'SPAN_KIND_', ''), [${given}], [${given}], 'UNSPECIFIED')`;
}

/** OTLP's number of a kind. */
export function kindOfNumber(column: string): string {
  return `transform(${column}, [1, 2, 3, 4, 5], ['INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'], 'UNSPECIFIED')`;
}

/** `Error`, `STATUS_CODE_ERROR` or `error` as ERROR. */
export function statusOfText(column: string): string {
  return `transform(replaceOne(upper(${column}), 'STATUS_CODE_', ''), ['OK', 'ERROR'], ['OK', 'ERROR'], 'UNSET')`;
}

export function statusOfNumber(column: string): string {
  return `transform(${column}, [1, 2], ['OK', 'ERROR'], 'UNSET')`;
}

/** A Nested column as the array of tuples that `events` is; undefined where a part is missing. */
export function eventsOf(columns: Columns, nested: string): string | undefined {
  return tuples(columns, nested, ['Timestamp', 'Name'], event);
}

export function linksOf(columns: Columns, nested: string): string | undefined {
  return tuples(columns, nested, ['TraceId', 'SpanId', 'TraceState'], link);
}

export function exemplarsOf(columns: Columns, nested: string): string | undefined {
  return tuples(columns, nested, ['TimeUnix', 'Value', 'TraceId', 'SpanId'], exemplar, 'FilteredAttributes');
}

function tuples(
  columns: Columns,
  nested: string,
  plain: readonly string[],
  type: string,
  attributesName = 'Attributes',
): string | undefined {
  const attributes = `${nested}.${attributesName}`;
  if (![...plain.map((part) => `${nested}.${part}`), attributes].every((name) => columns.has(name))) return undefined;
  const names = plain.map((_, index) => `_${index}`);
  const map = isJson(columns, attributes) ? jsonToMap('_attributes') : '_attributes';
  const parts = [...plain.map((part) => `${nested}.${part}`), attributes].join(', ');
  const one = `CAST((${[...names, map].join(', ')}), ${literal(type)})`;
  return `arrayMap((${[...names, '_attributes'].join(', ')}) -> ${one}, ${parts})`;
}

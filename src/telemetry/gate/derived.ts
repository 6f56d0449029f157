import { durationOf, roundingOf, unitOf } from './moment.ts';
import type { Expression, Name, Query, Select, Source } from './tree.ts';

/** Columns that hold the time of a row, and by how many milliseconds at most each lies before it. */
export type TimeColumns = ReadonlyMap<string, number>;

const none: TimeColumns = new Map();
const timeOnly: TimeColumns = new Map([['time', 0]]);
/** Of a span `start_time` is the same moment (src/contract/telemetry/schema.ts). */
const timesOfSpans: TimeColumns = new Map([
  ['time', 0],
  ['start_time', 0],
]);

export function timeColumnsOf(table: string): TimeColumns {
  return table === 'spans' ? timesOfSpans : timeOnly;
}

/** A column, and how far before it an expression lies at most. */
export interface Rounded {
  readonly parts: readonly Name[];
  readonly width: number;
}

const dayMs = 86_400_000;

/** Undefined for whatever is not surely a column, or one rounded down. */
export function roundedColumn(expression: Expression): Rounded | undefined {
  if (expression.kind === 'name') return { parts: expression.parts, width: 0 };
  if (expression.kind === 'cast') {
    const { type, operand } = expression;
    return /^date$/i.test(type.name) && type.arguments.length === 0 ? wider(operand, dayMs) : undefined;
  }
  if (expression.kind !== 'call' || isSpecial(expression)) return undefined;
  const name = expression.name.toLowerCase();
  const [first, second, ...more] = expression.arguments;
  if (first === undefined || more.length > 0) return undefined;
  if (second === undefined) return wider(first, roundingOf(name));
  if (name === 'tostartofinterval') return wider(first, durationOf(second));
  if (name === 'date_trunc' && first.kind === 'string') return wider(second, unitOf(first.value));
  const isTruncation = name === 'timestamp_trunc' || name === 'date_trunc';
  return isTruncation && second.kind === 'name' ? wider(first, unitOf(second.parts[0]?.text ?? '')) : undefined;
}

function wider(expression: Expression, by: number | undefined): Rounded | undefined {
  const inner = by === undefined ? undefined : roundedColumn(expression);
  return inner && by !== undefined ? { ...inner, width: inner.width + by } : undefined;
}

function isSpecial({
  filter,
  over,
  parameters,
  order,
  distinct,
}: Extract<Expression, { readonly kind: 'call' }>): boolean {
  return filter !== undefined || over !== undefined || parameters !== undefined || order.length > 0 || distinct;
}

/**
 * Queries of FROM and of WITH that one other query reads, and reads alone: its conditions on their times hold for what they
 * read as well. Nothing is claimed of one that is named twice, or whose rows depend on each other.
 */
export class DerivedQueries {
  readonly #root: Query;
  readonly #fold: (name: string) => string;
  readonly #readers = new Map<Select, Select>();
  readonly #inner = new Map<Select, Select>();
  readonly #queries = new Map<Select, Query>();
  readonly #names = new Map<string, number>();
  #isSurveyed = false;

  constructor(root: Query, fold: (name: string) => string) {
    this.#root = root;
    this.#fold = fold;
  }

  /** The query that reads this one alone. The statement is surveyed for the first inner query. */
  readerOf(select: Select): Select | undefined {
    if (select === this.#root.body) return undefined;
    if (!this.#isSurveyed) this.#survey();
    return this.#readers.get(select);
  }

  /** The times among what a query gives to its reader, where a condition on them may be asked before it. */
  outputsOf(select: Select, depth = 0): TimeColumns {
    const [from, another] = select.from;
    const query = this.#queries.get(select);
    if (depth > 20 || from === undefined || another !== undefined || query === undefined || !commutes(query, select)) {
      return none;
    }
    const inner = this.#inner.get(select);
    const columns = inner ? this.outputsOf(inner, depth + 1) : columnsOf(from.source, this.#fold);
    const outputs = new Map<string, number>();
    const seen = new Set<string>();
    // A name that the statement gives to something else as well may mean that.
    const add = (name: string, width: number | undefined, given: 0 | 1) => {
      const isSure = (this.#names.get(name) ?? 0) === given;
      if (width !== undefined && isSure && !seen.has(name)) outputs.set(name, width);
      else outputs.delete(name);
      seen.add(name);
    };
    for (const [index, item] of select.items.entries()) {
      if (item.kind === 'star') {
        if (item.of.length > 0 || item.except.length > 0 || item.replace.length > 0) return none;
        for (const [name, width] of columns) add(name, width, 0);
        continue;
      }
      const value = item.kind === 'alias' ? item.operand : item;
      const rounded = roundedColumn(value);
      const column = rounded && this.#own(rounded.parts, from.source);
      const own = column === undefined ? undefined : columns.get(column);
      const name = item.kind === 'alias' ? item.name : value.kind === 'name' ? value.parts.at(-1) : undefined;
      if (name === undefined) continue;
      const isKept = own !== undefined && isGrouped(select, value, name, index, this.#fold);
      add(this.#fold(name.text), isKept ? own + (rounded?.width ?? 0) : undefined, item.kind === 'alias' ? 1 : 0);
    }
    return outputs;
  }

  #own(parts: readonly Name[], source: Source): string | undefined {
    const [first, second, third] = parts.map(({ text }) => this.#fold(text));
    if (first === undefined || third !== undefined) return undefined;
    if (second === undefined) return first;
    return first === aliasOf(source, this.#fold) ? second : undefined;
  }

  #survey(): void {
    this.#isSurveyed = true;
    const given = new Map<string, Query | undefined>();
    const used = new Map<string, number>();
    const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
    const open: unknown[] = [this.#root];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      if (typeof value !== 'object' || value === null) continue;
      if (isName(value)) count(used, this.#fold(value.text));
      if (isNamed(value)) count(this.#names, this.#fold(value.name.text));
      if (isCommon(value)) {
        const name = this.#fold(value.name.text);
        given.set(name, given.has(name) ? undefined : value.query);
      }
      if (isQuery(value) && value.body.kind === 'select') this.#queries.set(value.body, value);
      // Undefined members would end the walk.
      for (const child of Object.values(value)) if (child !== undefined) open.push(child);
    }
    for (const select of this.#queries.keys()) {
      const [from, another] = select.from;
      if (from === undefined || another !== undefined) continue;
      const { source } = from;
      const [name, more] = source.kind === 'table' ? source.parts.map(({ text }) => this.#fold(text)) : [];
      const isOnce = name !== undefined && more === undefined && used.get(name) === 2;
      const query = source.kind === 'query' ? source.query : isOnce ? given.get(name) : undefined;
      if (query?.body.kind !== 'select') continue;
      this.#readers.set(query.body, select);
      this.#inner.set(select, query.body);
    }
  }
}

/** What a FROM item is called by the columns of its query. */
export function aliasOf(source: Source, fold: (name: string) => string): string | undefined {
  if (source.kind === 'arrays') return undefined;
  const name = source.alias ?? (source.kind === 'table' ? source.parts.at(-1) : undefined);
  return name && fold(name.text);
}

function columnsOf(source: Source, fold: (name: string) => string): TimeColumns {
  const [schema, table] = source.kind === 'table' ? source.parts.map(({ text }) => fold(text)) : [];
  return schema === 'otel' && table !== undefined ? timeColumnsOf(table) : none;
}

/** Functions of ClickHouse whose value depends on the rows before. */
const ofNeighbours = /^(running|neighbor|rownumber|blocknumber|lag|lead)/i;

/** Whether rows may be left out before the query as well as after it. */
function commutes({ order, limit, limitBy, interpolate }: Query, select: Select): boolean {
  const isCut =
    limit !== undefined || limitBy !== undefined || interpolate !== undefined || select.distinctOn.length > 0;
  if (isCut || select.qualify !== undefined || select.asStruct || order.some(({ fill }) => fill !== undefined))
    return false;
  if (select.group !== undefined && (select.group.totals || select.group.form !== undefined)) return false;
  return !select.items.some(dependsOnOthers);
}

function dependsOnOthers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isCall = 'kind' in value && value.kind === 'call';
  if (isCall && 'over' in value && value.over !== undefined) return true;
  if (isCall && 'name' in value && typeof value.name === 'string' && ofNeighbours.test(value.name)) return true;
  return Object.values(value).some(dependsOnOthers);
}

/** Of a query that groups, only what it groups by is the same for all rows of a group. */
function isGrouped(
  { group }: Select,
  value: Expression,
  name: Name,
  index: number,
  fold: (name: string) => string,
): boolean {
  if (group === undefined || group.all) return true;
  return group.items.some((item) => {
    if (item.kind === 'number') return Number(item.text) === index + 1;
    if (item.kind === 'name' && item.parts.length === 1 && fold(item.parts[0]?.text ?? '') === fold(name.text))
      return true;
    return shapeOf(item) === shapeOf(value);
  });
}

function shapeOf(expression: Expression): string {
  return JSON.stringify(expression, (key, value: unknown) => (key === 'start' ? undefined : value));
}

function isName(value: object): value is Name {
  return 'text' in value && typeof value.text === 'string' && 'quoted' in value;
}

function isNamed(value: object): value is { readonly name: Name } {
  const isGiven = 'kind' in value && (value.kind === 'alias' || value.kind === 'value');
  return isGiven && 'name' in value && typeof value.name === 'object' && value.name !== null && isName(value.name);
}

function isCommon(value: object): value is { readonly name: Name; readonly query: Query } {
  const isTable = 'kind' in value && value.kind === 'table' && 'query' in value;
  return isTable && 'name' in value && typeof value.name === 'object' && value.name !== null && isName(value.name);
}

function isQuery(value: object): value is Query {
  return 'with' in value && 'body' in value && typeof value.body === 'object';
}

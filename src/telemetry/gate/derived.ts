import {
  DerivedQueries,
  readOnce,
  timeColumnsOf,
  type OutputColumn,
  type Projection,
  type TimeColumns,
} from '../../contract/telemetry/index.ts';
import { columnOf } from './moment.ts';
import type { Expression, Name, Query, Select, Source } from './tree.ts';

export type Queries = DerivedQueries<Select, Expression>;
type Fold = (name: string) => string;

/** The statement is surveyed for the first query inside another. */
export function queriesOf(root: Query, fold: Fold): Queries {
  const queries = new Map<Select, Query>();
  /** How often the statement gives a name to something. */
  const givenTimes = new Map<string, number>();
  const links = () => {
    const given: [string, Query][] = [];
    const names: string[] = [];
    const open: unknown[] = [root];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      if (!isObject(value)) continue;
      if (isName(value)) names.push(fold(value.text));
      if (isQuery(value) && value.body.kind === 'select') queries.set(value.body, value);
      if ('kind' in value && 'name' in value && isName(value.name)) {
        const name = fold(value.name.text);
        const isGiven = value.kind === 'alias' || value.kind === 'value';
        if (isGiven) givenTimes.set(name, (givenTimes.get(name) ?? 0) + 1);
        if (value.kind === 'table' && 'query' in value && isQuery(value.query)) given.push([name, value.query]);
      }
      // Undefined members would end the walk.
      for (const child of Object.values(value)) if (child !== undefined) open.push(child);
    }
    // Once where it is given, and once where it is read.
    const common = readOnce(given, names, 2);
    return [...queries.keys()].flatMap((reader): [Select, Select][] => {
      const [from, another] = reader.from;
      if (from === undefined || another !== undefined) return [];
      const { source } = from;
      const name = source.kind === 'table' ? only(source.parts, fold) : undefined;
      const inner = source.kind === 'query' ? source.query : common.get(name ?? '');
      return inner?.body.kind === 'select' ? [[reader, inner.body]] : [];
    });
  };
  return new DerivedQueries(
    {
      projectionOf(select) {
        const query = queries.get(select);
        return query && commutes(query, select) ? projectionOf(select, fold, givenTimes) : undefined;
      },
      columnOf: (expression) => columnOf(expression, fold),
      positionOf: (expression) => (expression.kind === 'number' ? Number(expression.text) : undefined),
      nameOf: (expression) => (expression.kind === 'name' ? only(expression.parts, fold) : undefined),
      incidental: new Set(['start']),
      isHidden: (name) => givenTimes.has(name),
    },
    root.body.kind === 'select' ? root.body : undefined,
    links,
  );
}

/** A name of one part. */
function only([first, another]: readonly Name[], fold: Fold): string | undefined {
  return first && another === undefined ? fold(first.text) : undefined;
}

/** What a FROM item is called by the columns of its query. */
export function aliasOf(source: Source, fold: Fold): string | undefined {
  if (source.kind === 'arrays') return undefined;
  const name = source.alias ?? (source.kind === 'table' ? source.parts.at(-1) : undefined);
  return name && fold(name.text);
}

function projectionOf(
  { from: [item], items, group }: Select,
  fold: Fold,
  givenTimes: ReadonlyMap<string, number>,
): Projection<Expression> | undefined {
  if (item === undefined) return undefined;
  const columns: ('*' | OutputColumn<Expression>)[] = [];
  for (const each of items) {
    if (each.kind === 'star') {
      if (each.of.length > 0 || each.except.length > 0 || each.replace.length > 0) return undefined;
      columns.push('*');
      continue;
    }
    const value = each.kind === 'alias' ? each.operand : each;
    const written = each.kind === 'alias' ? each.name : value.kind === 'name' ? value.parts.at(-1) : undefined;
    const name = written && fold(written.text);
    // A name that the statement gives to something else as well may mean that.
    const isSure = (givenTimes.get(name ?? '') ?? 0) === (each.kind === 'alias' ? 1 : 0);
    columns.push({ name, alias: name, value: isSure ? value : undefined });
  }
  return {
    from: aliasOf(item.source, fold),
    columns: columnsOf(item.source, fold),
    items: columns,
    groups: group === undefined || group.all ? undefined : group.items,
  };
}

function columnsOf(source: Source, fold: Fold): TimeColumns | undefined {
  const [schema, table] = source.kind === 'table' ? source.parts.map(({ text }) => fold(text)) : [];
  return schema === 'otel' && table !== undefined ? timeColumnsOf(table) : undefined;
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
  if (!isObject(value)) return false;
  const isCall = 'kind' in value && value.kind === 'call';
  if (isCall && 'over' in value && value.over !== undefined) return true;
  if (isCall && 'name' in value && typeof value.name === 'string' && ofNeighbours.test(value.name)) return true;
  return Object.values(value).some(dependsOnOthers);
}

function isName(value: unknown): value is Name {
  return isObject(value) && 'text' in value && typeof value.text === 'string' && 'quoted' in value;
}

function isQuery(value: unknown): value is Query {
  return isObject(value) && 'with' in value && 'body' in value && typeof value.body === 'object';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

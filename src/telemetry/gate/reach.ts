import {
  isDate,
  isInside,
  TimeBounds,
  timeColumnsOf,
  type Comparison,
  type TableName,
  type TimeColumns,
  type TimeDialect,
  type TimeReach,
} from '../../contract/telemetry/index.ts';
import { aliasOf, type Queries } from './derived.ts';
import { columnOf, countedMoment, countedOf, momentOf } from './moment.ts';
import { foldName } from './scope.ts';
import type { Expression, FromItem, Select, Source } from './tree.ts';

/** What can be told about one read of a telemetry table before the statement is written. */
export interface Read {
  readonly select: Select;
  readonly source: Source;
  readonly table: TableName;
  readonly queries: Queries;
  /** Names that expressions of the statement are given: they may hide a column. */
  readonly aliases: ReadonlySet<string>;
}

const times: TimeDialect<Expression> = {
  comparisonsIn,
  columnOf: (expression) => columnOf(expression, foldName),
  countedOf,
  momentOf,
  countedMoment,
  isText: ({ kind }) => kind === 'string',
  endOf: (latest, width, isWithin) => (isWithin ? Math.floor(latest + width) + 1 : Math.ceil(latest + width)),
  // Of both kinds the first stands, and so does the first where no Date can hold one of them.
  isTighter: (bound, than, side) =>
    bound.base === than.base &&
    (bound.base === 'now' || (isDate(bound.at) && isDate(than.at))) &&
    isInside(bound.at, than.at, side),
};

/**
 * What the predicates on `time` beside a table leave of it. Never too narrow: only what must hold for every row of the table
 * that the SELECT can use, and only constants that we can compute.
 */
export function reachOf({ select, source, table, queries, aliases }: Read): TimeReach {
  const bounds = new TimeBounds(times);
  const subject = { select, source, aliases, columns: timeColumnsOf(table) };
  for (const condition of conditions(select, source)) bounds.narrow(condition, (names) => widthOf(names, subject));
  if (select.from.length !== 1) return bounds.reach;
  for (const { reader, columns } of queries.readersOf(select)) {
    const [item] = reader.from;
    if (item === undefined) break;
    // What an output is called is its name here, and the only one of that name.
    const others = new Set([...aliases].filter((name) => !columns.has(foldName(name))));
    const outer = { select: reader, source: item.source, aliases: others, columns };
    for (const condition of [reader.prewhere, reader.where]) {
      if (condition !== undefined) bounds.narrow(condition, (names) => widthOf(names, outer));
    }
  }
  return bounds.reach;
}

function conditions(select: Select, source: Source): readonly Expression[] {
  const at = select.from.findIndex((item) => item.source === source);
  const given: (Expression | undefined)[] = [];
  if (!mayBeAbsent(select.from, at, select.from.length)) given.push(select.prewhere, select.where);
  for (const [index, item] of select.from.entries()) {
    if (item.on === undefined || item.join.includes('ASOF')) continue;
    const side = sideOf(item);
    if (index === at && side !== 'RIGHT' && side !== 'FULL') given.push(item.on);
    if (index > at && (side === 'INNER' || side === 'RIGHT') && !mayBeAbsent(select.from, at, index))
      given.push(item.on);
  }
  return given.filter((condition) => condition !== undefined);
}

/** Whether a join before `until` puts empty values where the item has no row: a predicate may hold for those. */
function mayBeAbsent(from: readonly FromItem[], at: number, until: number): boolean {
  return from.slice(0, until).some((item, index) => {
    const side = sideOf(item);
    return side === 'FULL' ? index >= at : index === at ? side === 'LEFT' : index > at && side === 'RIGHT';
  });
}

function sideOf({ join }: FromItem): 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' {
  if (join.endsWith('ARRAY JOIN')) return 'INNER';
  const side = (['LEFT', 'RIGHT', 'FULL'] as const).find((word) => join.includes(word));
  return side ?? (/SEMI|ANTI|ASOF/.test(join) ? 'LEFT' : 'INNER');
}

function* comparisonsIn(condition: Expression): Iterable<Comparison<Expression>> {
  let rest = condition;
  while (rest.kind === 'binary' && rest.operator === 'AND') {
    yield* comparisonsIn(rest.right);
    rest = rest.left;
  }
  if (rest.kind === 'between' && !rest.not) {
    yield { left: rest.operand, operator: '>=', right: rest.low, isOneWay: true };
    yield { left: rest.operand, operator: '<=', right: rest.high, isOneWay: true };
  }
  if (rest.kind === 'binary') yield rest;
}

/** A FROM item whose times are asked about. */
interface Subject extends Pick<Read, 'select' | 'source' | 'aliases'> {
  readonly columns: TimeColumns;
}

/** Of a name that surely means a column of the subject. */
function widthOf(names: readonly string[], { select, source, aliases, columns }: Subject): number | undefined {
  const width = columns.get(names.at(-1) ?? '');
  const [first = '', second] = names;
  if (names.length === 1) {
    const others = select.from.filter((item) => item.source.kind !== 'arrays');
    return others.length === 1 && !aliases.has(first) ? width : undefined;
  }
  const qualifier = names.length === 2 ? first : names.length === 3 && first === 'otel' ? second : undefined;
  if (qualifier === undefined || qualifier !== aliasOf(source, foldName) || aliases.has(qualifier)) return undefined;
  return select.from.filter((item) => aliasOf(item.source, foldName) === qualifier).length === 1 ? width : undefined;
}

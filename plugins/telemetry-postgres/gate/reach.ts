import {
  DerivedQueries,
  isDate,
  isInside,
  isNode,
  list,
  readOnce,
  someNode,
  text,
  TimeBounds,
  timeColumnsOf,
  type Comparison,
  type Json,
  type Node,
  type QueryDialect,
  type TimeColumns,
  type TimeDialect,
  type TimeReach,
} from '../../../src/contract/telemetry/index.ts';
import { columnOf, countedMoment, countedOf, momentOf } from './moment.ts';
import { exactNumber } from './names.ts';
import { aliasOf, isRenamed, namesOf, only } from './tree.ts';

type Tree = Json | undefined;
type Queries = DerivedQueries<Node, Tree>;

const times: TimeDialect<Tree> = {
  comparisonsIn,
  columnOf,
  countedOf,
  momentOf,
  countedMoment,
  isText: (value) => only('A_Const', value) !== undefined,
  endOf: (latest, width, isWithin) => Math.ceil(latest + width) + (isWithin || width !== 0 ? 1 : 0),
  // Of both kinds the absolute stays.
  isTighter: (bound, than, side) =>
    bound.base === than.base ? isInside(bound.at, than.at, side) : bound.base === 'epoch',
  isBound: ({ base, at }) => (base === 'now' ? Number.isSafeInteger(Math.floor(at)) : isDate(Math.floor(at))),
};

interface Source {
  /** What its columns are qualified by; undefined where nothing outside can name it. */
  readonly name: string | undefined;
  /** Undefined for what is no telemetry table and no query over one. */
  readonly columns: TimeColumns | undefined;
  /** `otel.spans.time` means it too. */
  readonly unaliased: boolean;
  mayHave(column: string): boolean;
  /** Columns that were given other names are not followed. */
  readonly renamed: boolean;
  readonly bounds: TimeBounds<Tree>;
}

/**
 * What the statement's own predicates on `time` leave of each place that reads a telemetry table, in no order: one for
 * each. Only conjuncts of WHERE and of ON that compare the column with a constant count. Comparisons are never true of
 * NULL, so those in WHERE hold beneath outer joins as well; those in ON only for the side that a row without a partner
 * is dropped from.
 */
export function reachesOf(selects: readonly Node[]): readonly TimeReach[] {
  const queries: Queries = new DerivedQueries(dialect, selects[0], () => linksIn(selects));
  return selects.flatMap((select) => ofSelect(select, queries));
}

function ofSelect(select: Node, queries: Queries): readonly TimeReach[] {
  const sources = list(select['fromClause']).flatMap((item) => sourcesOf(item));
  narrow(select['whereClause'], sources, sources);
  const [source, another] = sources;
  if (source?.columns !== undefined && another === undefined) {
    for (const { reader, columns } of queries.readersOf(select)) {
      const name = aliasOf(list(reader['fromClause'])[0]);
      const outer = { ...source, name, columns, unaliased: false, mayHave: () => true, renamed: false };
      narrow(reader['whereClause'], [outer], [outer]);
    }
  }
  return sources.filter(({ columns }) => columns !== undefined).map(({ bounds }) => bounds.reach);
}

function sourcesOf(item: Json): readonly Source[] {
  const table = only('RangeVar', item);
  if (table !== undefined) return [ofTable(table)];
  const join = only('JoinExpr', item);
  if (join !== undefined) return ofJoin(join);
  const call = only('RangeFunction', item);
  const alias = (call ?? only('RangeSubselect', item))?.['alias'];
  const name = isNode(alias) ? text(alias['aliasname']) : undefined;
  const renamed = isNode(alias) ? namesOf(alias['colnames']) : [];
  const isOpen = call === undefined || name === undefined || definesColumns(call);
  const mayHave = (column: string) => isOpen || name === column || renamed.includes(column);
  return [{ name, columns: undefined, unaliased: false, mayHave, renamed: false, bounds: new TimeBounds(times) }];
}

function definesColumns(call: Node): boolean {
  const items = list(call['functions']).flatMap((item) => list(only('List', item)?.['items']).slice(1));
  return call['coldeflist'] !== undefined || items.some((item) => isNode(item) && Object.keys(item).length > 0);
}

function ofTable(table: Node): Source {
  const alias = table['alias'];
  return {
    name: isNode(alias) ? text(alias['aliasname']) : text(table['relname']),
    columns: timesIn(table),
    unaliased: table['schemaname'] === 'otel' && !isNode(alias),
    mayHave: () => true,
    renamed: isRenamed(table),
    bounds: new TimeBounds(times),
  };
}

function ofJoin(join: Node): readonly Source[] {
  const left = join['larg'] === undefined ? [] : sourcesOf(join['larg']);
  const right = join['rarg'] === undefined ? [] : sourcesOf(join['rarg']);
  const all = [...left, ...right];
  const bound = { JOIN_INNER: all, JOIN_LEFT: right, JOIN_RIGHT: left }[text(join['jointype'])] ?? [];
  narrow(join['quals'], all, bound);
  if (!isNode(join['alias'])) return all;
  // Behind its alias a join's tables cannot be named, and with names for its columns `time` may be any of them.
  const renamed = isRenamed(join);
  return all.map((source) => hidden(source, renamed));
}

function hidden(source: Source, renamed: boolean): Source {
  return { ...source, name: undefined, unaliased: false, renamed: source.renamed || renamed };
}

/** @param bound those of which only rows that fulfil the condition count. */
function narrow(condition: Tree, visible: readonly Source[], bound: readonly Source[]): void {
  for (const source of bound) {
    if (source.columns !== undefined) source.bounds.narrow(condition, (names) => widthOf(names, source, visible));
  }
}

function* comparisonsIn(condition: Tree): Iterable<Comparison<Tree>> {
  const conjunction = only('BoolExpr', condition);
  if (conjunction?.['boolop'] === 'AND_EXPR') {
    for (const part of list(conjunction['args'])) yield* comparisonsIn(part);
  }
  const { kind, name, lexpr: left, rexpr: right } = only('A_Expr', condition) ?? {};
  if (kind === 'AEXPR_BETWEEN') {
    const [low, high] = list(only('List', right)?.['items']);
    yield { left, operator: '>=', right: low, isOneWay: true };
    yield { left, operator: '<=', right: high, isOneWay: true };
  }
  if (kind === 'AEXPR_OP') yield { left, operator: namesOf(name).at(-1) ?? '', right };
}

/** Of a name that surely means a column of the source. */
function widthOf(names: readonly string[], source: Source, visible: readonly Source[]): number | undefined {
  const [first, second] = names;
  const column = names.at(-1) ?? '';
  const candidates =
    names.length === 1
      ? visible.filter((each) => each.mayHave(column))
      : names.length === 2
        ? visible.filter(({ name }) => name === first)
        : visible.filter(({ unaliased, name }) => unaliased && first === 'otel' && name === second);
  const isOwn = candidates.length === 1 && candidates[0] === source && !source.renamed;
  return isOwn ? source.columns?.get(column) : undefined;
}

const dialect: QueryDialect<Node, Tree> = {
  projectionOf(select) {
    const [from, another] = list(select['fromClause']);
    if (another !== undefined || !commutes(select)) return undefined;
    const groups = list(select['groupClause']);
    const isPlain = groups.every((group) => only('GroupingSet', group) === undefined);
    const table = only('RangeVar', from);
    return {
      from: aliasOf(from),
      columns: table && isRenamed(table) ? undefined : timesIn(table),
      items: list(select['targetList']).map((item) => {
        const target = only('ResTarget', item);
        const value = target?.['val'];
        const fields = list(only('ColumnRef', value)?.['fields']);
        if (fields.length === 1 && only('A_Star', fields[0]) !== undefined) return '*';
        const alias = text(target?.['name']) || undefined;
        const name = alias ?? namesOf(fields).at(-1) ?? namesOf(only('FuncCall', value)?.['funcname']).at(-1);
        return { name, alias, value };
      }),
      groups: groups.length === 0 ? undefined : isPlain ? groups : [],
    };
  },
  columnOf,
  positionOf: exactNumber,
  nameOf(group) {
    const [name, another] = namesOf(only('ColumnRef', group)?.['fields']);
    return another === undefined ? name : undefined;
  },
  incidental: new Set(['location']),
};

function timesIn(table: Node | undefined): TimeColumns | undefined {
  return table?.['schemaname'] === 'otel' ? timeColumnsOf(text(table['relname'])) : undefined;
}

/** Each query with the one that it alone reads. */
function linksIn(selects: readonly Node[]): readonly (readonly [Node, Node])[] {
  const common = commonIn(selects);
  return selects.flatMap((select) => {
    const [from, another] = list(select['fromClause']);
    const inner = another === undefined ? derived(from, common) : undefined;
    return inner === undefined ? [] : [[select, inner] as const];
  });
}

function derived(from: Json | undefined, common: ReadonlyMap<string, Node>): Node | undefined {
  const subquery = only('RangeSubselect', from);
  if (subquery !== undefined) return isRenamed(subquery) ? undefined : only('SelectStmt', subquery['subquery']);
  const name = only('RangeVar', from);
  return name === undefined || name['schemaname'] !== undefined || isRenamed(name)
    ? undefined
    : common.get(text(name['relname']));
}

function commonIn(selects: readonly Node[]): ReadonlyMap<string, Node> {
  const given: [string, Node | undefined][] = [];
  const names: string[] = [];
  const read = (item: Tree): void => {
    const name = only('RangeVar', item)?.['relname'];
    if (name !== undefined) names.push(text(name));
    const join = only('JoinExpr', item);
    if (join !== undefined) [join['larg'], join['rarg']].forEach(read);
  };
  for (const select of selects) {
    const clause = select['withClause'];
    for (const item of list(isNode(clause) ? clause['ctes'] : undefined)) {
      const query = only('CommonTableExpr', item);
      if (query === undefined) continue;
      const isPlain = query['aliascolnames'] === undefined && isNode(clause) && clause['recursive'] !== true;
      given.push([text(query['ctename']), isPlain ? only('SelectStmt', query['ctequery']) : undefined]);
    }
    list(select['fromClause']).forEach(read);
  }
  return readOnce(given, names);
}

/** Whether rows may be left out before the query as well as after it. */
function commutes(select: Node): boolean {
  const parts = ['limitCount', 'limitOffset', 'lockingClause', 'valuesLists', 'larg'];
  if (parts.some((part) => select[part] !== undefined)) return false;
  const isDistinctOn = list(select['distinctClause']).some((item) => isNode(item) && Object.keys(item).length > 0);
  return !isDistinctOn && !someNode(select['targetList'], (node) => node['over'] !== undefined);
}

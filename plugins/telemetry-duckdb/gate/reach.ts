import {
  DerivedQueries,
  isInside,
  isList,
  isNode,
  list,
  someNode,
  text,
  TimeBounds,
  timeColumnsOf,
  type Bound,
  type Comparison,
  type Json,
  type Node,
  type QueryDialect,
  type TimeColumns,
  type TimeDialect,
  type TimeReach,
} from '../../../src/contract/telemetry/index.ts';
import { bareMoments, columnOf, constantText, countedMoment, countedOf, momentOf, wholeNumber } from './moment.ts';
import { aliasOf, commonIn, derived, fold, telemetryTable } from './relations.ts';

type Queries = DerivedQueries<Node, Json>;

/**
 * What the statement's own predicates on `time` leave of each place that reads a telemetry table. Only conditions without
 * which no row of that place takes part count: what is not surely one is passed over.
 * @param reads its queries and telemetry tables, each query before those in it.
 */
export function reachesOf(statement: Json, reads: readonly Node[], now: number): readonly TimeReach[] {
  const reaches: TimeReach[] = [];
  const seen = new Set<Node>();
  const selects = reads.filter((node) => telemetryTable(node) === undefined);
  const queries: Queries = new DerivedQueries(outputs, selects[0], () => linksIn(statement, selects));
  const dialect = timesOf(statement, now);
  for (const node of reads) {
    if (telemetryTable(node) !== undefined) {
      if (!seen.has(node)) reaches.push({});
      continue;
    }
    for (const [table, reach] of placesOf(node, queries, dialect)) {
      seen.add(table);
      reaches.push(reach);
    }
  }
  return reaches;
}

function timesOf(statement: Json, now: number): TimeDialect<Json> {
  let known: boolean | undefined;
  // Whether `current_timestamp` and the like surely mean moments.
  const areMoments = () => (known ??= !namesBareMoment(statement));
  const isConstant = (expression: Json) =>
    !someNode(expression, ({ class: kind }) => kind === 'COLUMN_REF') || areMoments();
  // Both kinds are compared as of this check.
  const at = (bound: Bound) => (bound.base === 'now' ? now + bound.at : bound.at);
  return {
    comparisonsIn,
    columnOf,
    countedOf,
    momentOf: (expression) => (isConstant(expression) ? momentOf(expression) : undefined),
    countedMoment: (expression, scale) => (isConstant(expression) ? countedMoment(expression, scale) : undefined),
    isText: (expression) => constantText(expression) !== undefined,
    // Where the column lies before the time, the end lies behind it already.
    endOf: (latest, width, isWithin) => latest + (width > 0 ? width : isWithin ? 1 : 0),
    isTighter: (bound, than, side) => isInside(at(bound), at(than), side),
  };
}

interface Source {
  readonly table: Node;
  /** Every row of the table that a condition here is not true of can be left out. */
  readonly conditions: readonly Json[];
}

function placesOf(select: Node, queries: Queries, dialect: TimeDialect<Json>): (readonly [Node, TimeReach])[] {
  const from = select['from_table'];
  if (!isNode(from)) return [];
  const sources: Source[] = [];
  const names: string[] = [];
  let merged = false;
  const walk = (item: Json | undefined, conditions: readonly Json[]): void => {
    if (!isNode(item)) return;
    if (item['type'] !== 'JOIN') names.push(aliasOf(item));
    const inside = isAbsent(item['sample']) ? conditions : [];
    if (telemetryTable(item) !== undefined) sources.push({ table: item, conditions: inside });
    if (item['type'] !== 'JOIN') return;
    const using = list(item['using_columns']);
    merged ||= item['ref_type'] === 'NATURAL' || using.some((column) => fold(text(column)) === 'time');
    const [left, right] = sides(item, inside);
    walk(item['left'], left);
    walk(item['right'], right);
  };
  walk(from, isAbsent(select['sample']) ? [select['where_clause'] ?? null] : []);
  return sources.map(({ table, conditions }) => {
    const name = aliasOf(table);
    const renamed = list(table['column_name_alias']).length > 0;
    const unique = names.filter((other) => other === name).length === 1;
    if (renamed || !unique) return [table, {}];
    // Another `time` in scope makes the bare one ambiguous, which is an error, unless a join made one of the two.
    const own = widths(timeColumnsOf(telemetryTable(table) ?? ''), name, sources.length === 1 && !merged);
    const bounds = new TimeBounds(dialect);
    for (const condition of conditions) bounds.narrow(condition, own);
    for (const { reader, columns } of table === from ? queries.readersOf(select) : []) {
      const item = reader['from_table'];
      if (!isNode(item) || !isAbsent(reader['sample'])) break;
      bounds.narrow(reader['where_clause'] ?? null, widths(columns, aliasOf(item), true));
    }
    return [table, bounds.reach];
  });
}

function isAbsent(value: Json | undefined): boolean {
  return value === null || value === undefined;
}

/** Which conditions hold for a join's sides: those from above and its own, where a row that fails them goes missing. */
function sides(join: Node, above: readonly Json[]): readonly [left: readonly Json[], right: readonly Json[]] {
  const own = [join['condition'] ?? null];
  const kind = text(join['ref_type']);
  // Which row of the right side is the nearest, or stands at the same position, depends on the others.
  if (kind === 'POSITIONAL') return [[], []];
  const type = text(join['join_type']);
  if (kind === 'ASOF') return [type === 'INNER' || type === 'LEFT' ? above : [], []];
  switch (type) {
    case 'INNER':
      return [
        [...above, ...own],
        [...above, ...own],
      ];
    case 'LEFT':
    case 'ANTI':
      return [above, own];
    case 'SEMI':
      return [[...above, ...own], own];
    case 'RIGHT':
      return [own, above];
    default:
      return [[], []];
  }
}

const operators: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
};

function* comparisonsIn(condition: Json): Iterable<Comparison<Json>> {
  if (!isNode(condition)) return;
  const { class: kind, type, input = null, lower = null, upper = null, left = null, right = null } = condition;
  if (type === 'CONJUNCTION_AND') for (const child of list(condition['children'])) yield* comparisonsIn(child);
  if (kind === 'BETWEEN' && type === 'COMPARE_BETWEEN') {
    yield { left: input, operator: '>=', right: lower, isOneWay: true };
    yield { left: input, operator: '<=', right: upper, isOneWay: true };
  }
  if (kind === 'COMPARISON') yield { left, operator: operators[text(type)] ?? '', right };
}

/** Of `time` where a column alone means this item's, `s.time`, or `otel.spans.time` where there is no alias. */
function widths(columns: TimeColumns, name: string, isAlone: boolean) {
  return (names: readonly string[]): number | undefined => {
    const [first, second] = names;
    const isOwn =
      names.length === 1
        ? isAlone
        : names.length === 2
          ? first === name
          : names.length === 3 && first === 'otel' && second === name;
    return isOwn ? columns.get(names.at(-1) ?? '') : undefined;
  };
}

/** Whether anything in the statement might give a column such a name, which would come before the moment. */
function namesBareMoment(value: Json): boolean {
  if (typeof value === 'string') return [...bareMoments].some((name) => fold(value).includes(name));
  if (isList(value)) return value.some(namesBareMoment);
  if (!isNode(value)) return false;
  const isReference = value['class'] === 'COLUMN_REF' && isList(value['column_names']);
  return Object.entries(value).some(([key, item]) =>
    isReference && key === 'column_names' ? false : namesBareMoment(item),
  );
}

const outputs: QueryDialect<Node, Json> = {
  projectionOf(select) {
    const from = select['from_table'];
    if (!isNode(from) || !commutes(select)) return undefined;
    const table = telemetryTable(from);
    const groups = list(select['group_expressions']);
    return {
      from: aliasOf(from),
      columns: table && timeColumnsOf(table),
      items: list(select['select_list']).map((item) => {
        if (!isNode(item)) return {};
        if (isPlainStar(item)) return '*';
        const alias = fold(text(item['alias']));
        return { name: alias || fold(text(list(item['column_names']).at(-1))) || undefined, alias, value: item };
      }),
      groups: groups.length === 0 ? undefined : list(select['group_sets']).length === 1 ? groups : [],
    };
  },
  columnOf,
  positionOf: wholeNumber,
  nameOf(expression) {
    const names = isNode(expression) ? list(expression['column_names']) : [];
    return names.length === 1 ? fold(text(names[0])) : undefined;
  },
  incidental: new Set(['query_location', 'alias']),
};

/** Each query with the one that it alone reads. */
function linksIn(statement: Json, selects: readonly Node[]): readonly (readonly [Node, Node])[] {
  const hasNames = selects.some(({ cte_map: map }) => isNode(map) && list(map['map']).length > 0);
  const common = hasNames ? commonIn(statement) : new Map<string, Node>();
  return selects.flatMap((select) => {
    const from = select['from_table'];
    const inner = isNode(from) ? derived(from, common) : undefined;
    return inner?.['type'] === 'SELECT_NODE' ? [[select, inner] as const] : [];
  });
}

/** Whether rows may be left out before the query as well as after it. */
function commutes(select: Node): boolean {
  if (!isAbsent(select['qualify']) || !isAbsent(select['sample'])) return false;
  const hasWindow = someNode(select['select_list'], ({ class: kind }) => kind === 'WINDOW');
  return !hasWindow && list(select['modifiers']).every(isHarmless);
}

function isHarmless(modifier: Json): boolean {
  if (!isNode(modifier)) return false;
  if (modifier['type'] === 'ORDER_MODIFIER') return true;
  return modifier['type'] === 'DISTINCT_MODIFIER' && list(modifier['distinct_on_targets']).length === 0;
}

function isPlainStar(item: Node): boolean {
  if (item['class'] !== 'STAR' || text(item['relation_name']) !== '' || item['columns'] === true) return false;
  const parts = ['exclude_list', 'qualified_exclude_list', 'replace_list', 'rename_list'];
  return parts.every((part) => list(item[part]).length === 0) && isAbsent(item['expr']);
}

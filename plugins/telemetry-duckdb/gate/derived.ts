import { isList, isNode, list, text, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { constantText, durationOf, unitOf, wholeNumber } from './moment.ts';
import { aliasOf, fold, tableOf, timeColumnsOf, type TimeColumns } from './relations.ts';

const day = 86_400_000;

/** How far before the time of its row an expression lies at most; undefined where it is no such time. */
export function widthOf(
  expression: Json | undefined,
  widthOfColumn: (names: readonly string[]) => number | undefined,
): number | undefined {
  if (!isNode(expression)) return undefined;
  if (expression['class'] === 'COLUMN_REF') {
    return widthOfColumn(list(expression['column_names']).map((part) => fold(text(part))));
  }
  if (expression['class'] === 'CAST') {
    const isDate = isNode(expression['cast_type']) && expression['cast_type']['id'] === 'DATE';
    return isDate ? sum(widthOf(expression['child'], widthOfColumn), day) : undefined;
  }
  const name = expression['class'] === 'FUNCTION' ? fold(text(expression['function_name'])) : '';
  const [first, second, ...more] = list(expression['children']);
  if (more.length > 0) return undefined;
  if (name === 'date' && second === undefined) return sum(widthOf(first, widthOfColumn), day);
  if (name === 'date_trunc' || name === 'datetrunc') {
    return sum(widthOf(second, widthOfColumn), unitOf(constantText(first) ?? '')?.high);
  }
  return name === 'time_bucket' ? sum(widthOf(second, widthOfColumn), durationOf(first)?.high) : undefined;
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

/**
 * Queries of FROM and of WITH that one other query reads, and reads alone: its conditions on their times hold for what they
 * read as well. Nothing is claimed of one that is read twice, or whose rows depend on each other.
 */
export class DerivedQueries {
  readonly #readers = new Map<Node, Node>();
  readonly #inner = new Map<Node, Node>();

  constructor(statement: Json, selects: readonly Node[]) {
    const common = selects.some(({ cte_map: map }) => isNode(map) && list(map['map']).length > 0)
      ? readOnce(statement)
      : new Map<string, Node>();
    for (const select of selects) {
      const from = select['from_table'];
      const inner = isNode(from) ? derived(from, common) : undefined;
      if (inner === undefined || inner['type'] !== 'SELECT_NODE') continue;
      this.#readers.set(inner, select);
      this.#inner.set(select, inner);
    }
  }

  /** The query that reads this one alone. */
  readerOf(select: Node): Node | undefined {
    return this.#readers.get(select);
  }

  /** The times among what a query gives to its reader, where a condition on them may be asked before it. */
  outputsOf(select: Node, depth = 0): TimeColumns {
    const from = select['from_table'];
    if (depth > 20 || !isNode(from) || !commutes(select)) return new Map();
    const inner = this.#inner.get(select);
    const isTable = tableOf(from['schema_name'], from['table_name']) !== undefined;
    const columns = inner
      ? this.outputsOf(inner, depth + 1)
      : isTable
        ? timeColumnsOf(from)
        : new Map<string, number>();
    const alias = aliasOf(from);
    const width = (names: readonly string[]) => {
      const isOwn = names.length === 1 || (names.length === 2 && names[0] === alias);
      return isOwn ? columns.get(names.at(-1) ?? '') : undefined;
    };
    const outputs = new Map<string, number>();
    const seen = new Set<string>();
    const add = (name: string, value: number | undefined) => {
      if (value !== undefined && !seen.has(name)) outputs.set(name, value);
      else outputs.delete(name);
      seen.add(name);
    };
    list(select['select_list']).forEach((item, index) => {
      if (!isNode(item)) return;
      if (isPlainStar(item)) for (const [name, value] of columns) add(name, value);
      const name = fold(text(item['alias']) || text(list(item['column_names']).at(-1)));
      if (name !== '') add(name, isGrouped(select, item, index) ? widthOf(item, width) : undefined);
    });
    return outputs;
  }
}

/** The query that a FROM item is. */
function derived(from: Node, common: ReadonlyMap<string, Node>): Node | undefined {
  const isRenamed = list(from['column_name_alias']).length > 0;
  if (isRenamed || (from['sample'] !== null && from['sample'] !== undefined)) return undefined;
  if (from['type'] === 'SUBQUERY') return isNode(from['subquery']) ? nodeOf(from['subquery']) : undefined;
  const isName = from['type'] === 'BASE_TABLE' && text(from['schema_name']) === '';
  return isName ? common.get(fold(text(from['table_name']))) : undefined;
}

function nodeOf(query: Node): Node | undefined {
  return isNode(query['node']) ? query['node'] : undefined;
}

/** Queries of WITH whose name is given once and used once in the whole statement. */
function readOnce(statement: Json): ReadonlyMap<string, Node> {
  const given = new Map<string, Node | undefined>();
  const used = new Map<string, number>();
  const walk = (value: Json): void => {
    if (isList(value)) return value.forEach(walk);
    if (!isNode(value)) return;
    const name = fold(text(value['key']));
    const query = isNode(value['value']) ? value['value']['query'] : undefined;
    if (name !== '' && isNode(query)) given.set(name, given.has(name) ? undefined : nodeOf(query));
    if (value['type'] === 'BASE_TABLE') {
      const table = fold(text(value['table_name']));
      used.set(table, (used.get(table) ?? 0) + 1);
    }
    Object.values(value).forEach(walk);
  };
  walk(statement);
  return new Map([...given].flatMap(([name, node]) => (node && used.get(name) === 1 ? [[name, node] as const] : [])));
}

/** Whether rows may be left out before the query as well as after it. */
function commutes(select: Node): boolean {
  const isWhole = ['qualify', 'sample'].every((part) => select[part] === null || select[part] === undefined);
  return isWhole && list(select['modifiers']).every(isHarmless) && !list(select['select_list']).some(hasWindow);
}

function isHarmless(modifier: Json): boolean {
  if (!isNode(modifier)) return false;
  if (modifier['type'] === 'ORDER_MODIFIER') return true;
  return modifier['type'] === 'DISTINCT_MODIFIER' && list(modifier['distinct_on_targets']).length === 0;
}

function hasWindow(value: Json): boolean {
  if (isList(value)) return value.some(hasWindow);
  return isNode(value) && (value['class'] === 'WINDOW' || Object.values(value).some(hasWindow));
}

function isPlainStar(item: Node): boolean {
  if (item['class'] !== 'STAR' || text(item['relation_name']) !== '' || item['columns'] === true) return false;
  const parts = ['exclude_list', 'qualified_exclude_list', 'replace_list', 'rename_list'];
  return parts.every((part) => list(item[part]).length === 0) && (item['expr'] === null || item['expr'] === undefined);
}

/** Of a query that groups, only what it groups by is the same for all rows of a group. */
function isGrouped(select: Node, item: Node, index: number): boolean {
  const groups = list(select['group_expressions']);
  if (groups.length === 0) return true;
  if (list(select['group_sets']).length !== 1) return false;
  const alias = fold(text(item['alias']));
  return groups.some((group) => {
    if (wholeNumber(group) === index + 1) return true;
    const names = isNode(group) ? list(group['column_names']) : [];
    const named = names.length === 1 ? fold(text(names[0])) : '';
    return (named !== '' && named === alias) || shapeOf(group) === shapeOf(item);
  });
}

function shapeOf(expression: Json): string {
  return JSON.stringify(expression, (key, value: Json) =>
    key === 'query_location' || key === 'alias' ? undefined : value,
  );
}

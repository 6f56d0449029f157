import { isNode, list, text, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { intervalOf, truncationOf } from './moment.ts';
import { exactNumber } from './names.ts';
import { namesOf, only } from './tree.ts';

/** Columns that hold the time of a row, and by how many milliseconds at most each lies before it. */
export type TimeColumns = ReadonlyMap<string, number>;

/** A day has 25 hours where clocks are put back. */
const dateMs = 25 * 3_600_000;

/** Of a span `start_time` is the same moment (src/contract/telemetry/schema.ts). */
const columnsOf = {
  spans: new Map([
    ['time', 0],
    ['start_time', 0],
  ]),
  metrics: new Map([['time', 0]]),
  logs: new Map([['time', 0]]),
} as const satisfies Record<string, TimeColumns>;

export function timeColumnsOf(table: Node): TimeColumns | undefined {
  const name = text(table['relname']);
  if (table['schemaname'] !== 'otel') return undefined;
  return name === 'spans' || name === 'metrics' || name === 'logs' ? columnsOf[name] : undefined;
}

/** What an expression is: a column, and how far before it the expression lies at most. */
export interface Rounded {
  readonly names: readonly (string | undefined)[];
  readonly width: number;
}

/** Undefined for whatever is not surely a column, or one rounded down. */
export function roundedColumn(value: Json | undefined): Rounded | undefined {
  const column = only('ColumnRef', value);
  if (column !== undefined) return { names: namesOf(column['fields']), width: 0 };
  const cast = only('TypeCast', value);
  if (cast !== undefined) {
    const type = cast['typeName'];
    const isDate = isNode(type) && namesOf(type['names']).at(-1) === 'date' && type['arrayBounds'] === undefined;
    return isDate ? wider(cast['arg'], dateMs) : undefined;
  }
  const call = only('FuncCall', value);
  const name = namesOf(call?.['funcname']).at(-1);
  const [first, second, third, more] = list(call?.['args']);
  if (name === 'date' && second === undefined) return wider(first, dateMs);
  if (name === 'date_trunc' && third === undefined) return wider(second, truncationOf(first));
  if (name !== 'date_bin' || third === undefined || more !== undefined) return undefined;
  return wider(second, intervalOf(first)?.most);
}

function wider(value: Json | undefined, by: number | undefined): Rounded | undefined {
  const inner = roundedColumn(value);
  return inner && by !== undefined ? { ...inner, width: inner.width + by } : undefined;
}

/** `extract(epoch FROM time)`, `date_part('epoch', time)`: what is counted in seconds. */
export function epochOf(value: Json | undefined): Json | undefined {
  const call = only('FuncCall', value);
  const name = namesOf(call?.['funcname']).at(-1);
  const [part, of, more] = list(call?.['args']);
  const unit = only('A_Const', part)?.['sval'];
  if ((name !== 'extract' && name !== 'date_part') || more !== undefined) return undefined;
  return isNode(unit) && text(unit['sval']) === 'epoch' ? of : undefined;
}

/**
 * Queries of FROM and of WITH that one other query reads, and reads alone: its conditions on their times hold for what they
 * read as well. Nothing is claimed of one that is read twice, or whose rows depend on each other.
 */
export class DerivedQueries {
  readonly #readers = new Map<Node, Node>();
  readonly #inner = new Map<Node, Node>();

  constructor(selects: readonly Node[]) {
    const common = readOnce(selects);
    for (const select of selects) {
      const [from, another] = list(select['fromClause']);
      const inner = another === undefined ? derived(from, common) : undefined;
      if (inner === undefined || !selects.includes(inner)) continue;
      this.#readers.set(inner, select);
      this.#inner.set(select, inner);
    }
  }

  readerOf(select: Node): Node | undefined {
    return this.#readers.get(select);
  }

  /** The times among what a query gives to its reader, where a condition on them may be asked before it. */
  outputsOf(select: Node, depth = 0): TimeColumns {
    const [from, another] = list(select['fromClause']);
    if (depth > 20 || another !== undefined || !commutes(select)) return new Map();
    const inner = this.#inner.get(select);
    const table = only('RangeVar', from);
    const columns = inner
      ? this.outputsOf(inner, depth + 1)
      : table && !isRenamed(table)
        ? timeColumnsOf(table)
        : undefined;
    if (columns === undefined) return new Map();
    const outputs = new Map<string, number>();
    const seen = new Set<string>();
    const add = (name: string, width: number | undefined) => {
      if (width !== undefined && !seen.has(name)) outputs.set(name, width);
      else outputs.delete(name);
      seen.add(name);
    };
    list(select['targetList']).forEach((item, index) => {
      const target = only('ResTarget', item);
      const value = target?.['val'];
      const fields = list(only('ColumnRef', value)?.['fields']);
      if (fields.length === 1 && only('A_Star', fields[0]) !== undefined) {
        for (const [name, width] of columns) add(name, width);
        return;
      }
      const rounded = roundedColumn(value);
      const own = rounded && isOwn(rounded.names, from) ? columns.get(rounded.names.at(-1) ?? '') : undefined;
      const name =
        text(target?.['name']) || namesOf(fields).at(-1) || namesOf(only('FuncCall', value)?.['funcname']).at(-1);
      const width = own !== undefined && isGrouped(select, target, index) ? own + (rounded?.width ?? 0) : undefined;
      if (name !== undefined) add(name, width);
    });
    return outputs;
  }
}

/** By what its columns are qualified outside. */
export function aliasOf(from: Json | undefined): string | undefined {
  const item = only('RangeVar', from) ?? only('RangeSubselect', from);
  const alias = item?.['alias'];
  return isNode(alias) ? text(alias['aliasname']) : item && text(item['relname']);
}

function isOwn(names: readonly (string | undefined)[], from: Json | undefined): boolean {
  return names.length === 1 || (names.length === 2 && names[0] !== undefined && names[0] === aliasOf(from));
}

function isRenamed(item: Node): boolean {
  return isNode(item['alias']) && item['alias']['colnames'] !== undefined;
}

function derived(from: Json | undefined, common: ReadonlyMap<string, Node>): Node | undefined {
  const subquery = only('RangeSubselect', from);
  if (subquery !== undefined) return isRenamed(subquery) ? undefined : only('SelectStmt', subquery['subquery']);
  const name = only('RangeVar', from);
  return name === undefined || name['schemaname'] !== undefined || isRenamed(name)
    ? undefined
    : common.get(text(name['relname']));
}

/** Queries of WITH whose name is given once and used once in the whole statement. */
function readOnce(selects: readonly Node[]): ReadonlyMap<string, Node> {
  const given = new Map<string, Node | undefined>();
  const used = new Map<string, number>();
  const count = (item: Json | undefined): void => {
    const name = only('RangeVar', item)?.['relname'];
    if (name !== undefined) used.set(text(name), (used.get(text(name)) ?? 0) + 1);
    const join = only('JoinExpr', item);
    if (join === undefined) return;
    count(join['larg']);
    count(join['rarg']);
  };
  for (const select of selects) {
    const clause = select['withClause'];
    for (const item of list(isNode(clause) ? clause['ctes'] : undefined)) {
      const query = only('CommonTableExpr', item);
      if (query === undefined) continue;
      const name = text(query['ctename']);
      const plain = query['aliascolnames'] === undefined ? only('SelectStmt', query['ctequery']) : undefined;
      given.set(name, given.has(name) || (isNode(clause) && clause['recursive'] === true) ? undefined : plain);
    }
    list(select['fromClause']).forEach(count);
  }
  return new Map([...given].flatMap(([name, node]) => (node && used.get(name) === 1 ? [[name, node] as const] : [])));
}

/** Whether rows may be left out before the query as well as after it. */
function commutes(select: Node): boolean {
  const parts = ['limitCount', 'limitOffset', 'lockingClause', 'valuesLists', 'larg'];
  if (parts.some((part) => select[part] !== undefined)) return false;
  const isDistinctOn = list(select['distinctClause']).some((item) => isNode(item) && Object.keys(item).length > 0);
  return !isDistinctOn && !mentions(list(select['targetList']), unlikeRows);
}

/** Windows and functions that give several rows. */
const unlikeRows = (node: Node) => node['over'] !== undefined;

function mentions(value: Json, holds: (node: Node) => boolean): boolean {
  if (!isNode(value)) return list(value).some((item) => mentions(item, holds));
  return holds(value) || Object.values(value).some((item) => mentions(item, holds));
}

/** Of a query that groups, only what it groups by is the same for all rows of a group. */
function isGrouped(select: Node, target: Node | undefined, index: number): boolean {
  const groups = list(select['groupClause']);
  if (groups.some((group) => only('GroupingSet', group) !== undefined)) return false;
  if (groups.length === 0) return true;
  const shape = shapeOf(target?.['val'] ?? null);
  return groups.some((group) => {
    if (exactNumber(group) === index + 1) return true;
    const [name, another] = namesOf(only('ColumnRef', group)?.['fields']);
    return (another === undefined && name !== undefined && name === target?.['name']) || shapeOf(group) === shape;
  });
}

function shapeOf(expression: Json): string {
  return JSON.stringify(expression, (key, value: Json) => (key === 'location' ? undefined : value));
}

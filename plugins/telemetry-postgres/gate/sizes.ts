import { isList, isNode, list, text, words, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { constantNumber } from './names.ts';
import type { Refusals } from './refuse.ts';
import { nameOf, namesOf, only } from './tree.ts';

/*
 * The server bounds no session's memory: a value may have a gigabyte, and an aggregate holds as many as it is given. So what a
 * statement makes of nothing is estimated before it runs. Lengths are in characters, and never too small for constants; a
 * column of a table counts as `columnSize`.
 */

/** Of one value; of an answer's cell, far less is shown. */
const maxValue = 1_000_000;
const columnSize = 1_000;
const plainSize = 40;

const repeating = new Set(['repeat', 'lpad', 'rpad']);
const replacing = new Set(['replace', 'regexp_replace', 'array_replace']);
/** They answer a number or a flag, whatever they are given. */
const small = new Set(
  words(`array_length array_position ascii avg bit_length cardinality char_length character_length count crc32 generate_series
  jsonb_array_length json_array_length length octet_length position regexp_count regexp_instr starts_with strpos sum`),
);
/** They put all of their arguments together; other functions answer no more than the longest. */
const joining = new Set(
  words(`array_append array_cat array_prepend concat concat_ws format json_build_array json_build_object json_object
  jsonb_build_array jsonb_build_object jsonb_concat jsonb_insert jsonb_object jsonb_set jsonb_set_lax overlay`),
);
/** They shorten: the count in their second or third argument. */
const cutting = new Map([
  ['left', 1],
  ['right', 1],
  ['substr', 2],
  ['substring', 2],
]);

export class Sizes {
  readonly #refusals: Refusals;
  /** By the name of an output column of any subquery, or of the subquery itself, the largest. */
  readonly #columns = new Map<string, number>();
  /** Of the WITH queries. */
  readonly #queries = new Map<string, Node>();
  /** As the statement calls the tables of telemetry, whose columns are no longer than they are. */
  readonly #tables = new Set(['otel']);
  /** Their columns are called otherwise. */
  readonly #renamed = new WeakSet<Node>();
  #known = new WeakMap<Node, number>();

  constructor(refusals: Refusals) {
    this.#refusals = refusals;
  }

  get known(): number {
    return [...this.#columns.values()].reduce((sum, size) => sum + size, 0);
  }

  /** The query that WITH calls so. */
  query(name: string): Node | undefined {
    return this.#queries.get(name);
  }

  /** Remembers what the columns and the subqueries of a SELECT are called. */
  name(select: Node): void {
    for (const item of list(select['fromClause'])) this.#from(item);
    for (const item of list(isNode(select['withClause']) ? select['withClause']['ctes'] : undefined)) {
      const cte = only('CommonTableExpr', item);
      const query = only('SelectStmt', cte?.['ctequery']);
      if (query === undefined) continue;
      this.#queries.set(text(cte?.['ctename']), query);
      this.#output(query, list(cte?.['aliascolnames']), text(cte?.['ctename']));
    }
    if (!this.#renamed.has(select)) this.#output(select, []);
  }

  #from(item: Json): void {
    const table = only('RangeVar', item);
    if (table?.['schemaname'] === 'otel') {
      const called = table['alias'];
      this.#tables.add(isNode(called) ? text(called['aliasname']) : text(table['relname']));
    }
    const range = only('RangeFunction', item) ?? only('RangeSubselect', item);
    const alias = isNode(range?.['alias']) ? range['alias'] : undefined;
    const [name, columns] = [text(alias?.['aliasname']), list(alias?.['colnames'])];
    const query = only('SelectStmt', range?.['subquery']);
    if (query !== undefined) this.#output(query, columns, name);
    const functions = range?.['functions'];
    if (functions !== undefined) for (const each of [name, ...columns.map(nameOf)]) this.#set(each, this.of(functions));
    const join = only('JoinExpr', item);
    for (const side of [join?.['larg'], join?.['rarg']]) if (side !== undefined) this.#from(side);
  }

  /** The columns of a query by their names, or by those that it is given; the largest of all sides of a UNION. */
  #output(query: Node, names: readonly Json[], name?: string): void {
    const sides = leaves(query).map((leaf) => list(leaf['targetList']).map((item) => only('ResTarget', item)));
    const [first = []] = sides;
    if (names.length >= first.length && names.length > 0) this.#renamed.add(query);
    const sizes = first.map((_, index) => Math.max(...sides.map((side) => this.of(side[index]?.['val']))));
    first.forEach((target, index) => {
      const given = nameOf(names[index]) ?? (text(target?.['name']) || impliedName(target?.['val']));
      this.#set(given, sizes[index] ?? 0);
    });
    this.#set(
      name,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  }

  #set(name: string | undefined, size: number): void {
    if (name === undefined || name === '' || size <= (this.#columns.get(name) ?? 0)) return;
    this.#columns.set(name, size);
    this.#known = new WeakMap();
  }

  /** At most so long; throws where that is too long. */
  of(value: Json | undefined): number {
    if (isList(value)) return Math.max(0, ...value.map((part) => this.of(part)));
    if (!isNode(value)) return 0;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const size = this.#measure(value);
    this.#known.set(value, size);
    return size;
  }

  #measure(value: Node): number {
    const constant = only('A_Const', value);
    if (constant !== undefined) {
      const string = constant['sval'];
      return isNode(string) ? text(string['sval']).length : plainSize;
    }
    const column = only('ColumnRef', value);
    if (column !== undefined) {
      const [qualifier = '', ...names] = namesOf(column['fields']);
      const ofTable = names.length > 0 && this.#tables.has(qualifier) && !this.#columns.has(qualifier);
      return (ofTable ? undefined : this.#columns.get(names.at(-1) ?? qualifier)) ?? columnSize;
    }
    const call = only('FuncCall', value);
    if (call !== undefined) return this.#call(call);
    const parts = only('A_ArrayExpr', value)?.['elements'] ?? only('RowExpr', value)?.['args'];
    if (parts !== undefined) return this.#sum(list(parts));
    const operation = only('A_Expr', value);
    // A CASE, a cast, a COALESCE: one of its parts.
    if (operation === undefined) return this.of(Object.values(value));
    const sides = [operation['lexpr'] ?? null, operation['rexpr'] ?? null];
    const [largest, size] = [this.of(sides), this.#sum(sides)];
    const sign = namesOf(operation['name']).join('');
    if (sign !== '||') return sign.startsWith('->') || sign.startsWith('#') ? largest : plainSize;
    if (size > maxValue) throw this.#refusals.tooLong('||', maxValue, operation);
    return size;
  }

  #sum(parts: readonly Json[]): number {
    return parts.reduce<number>((sum, part) => sum + this.of(part), 0);
  }

  #call(node: Node): number {
    const name = namesOf(node['funcname']).at(-1) ?? '';
    const args = list(node['args']);
    const all = args.map((arg) => this.of(arg));
    for (const part of [node['agg_order'], node['agg_filter'], node['over']]) this.of(part);
    if (small.has(name)) return plainSize;
    let size = Math.max(joining.has(name) ? this.#sum(args) : this.of(args), plainSize);
    const cut = cutting.get(name);
    if (cut !== undefined) size = Math.min(size, this.count(args[cut]) ?? size);
    if (repeating.has(name)) {
      const times = this.count(args[1]);
      if (times === undefined) throw this.#refusals.unboundedLength(name, node);
      size = name === 'repeat' ? (all[0] ?? 0) * times : times;
    }
    if (replacing.has(name)) {
      const made = all[2] ?? 0;
      size = (all[0] ?? 0) * Math.max(1, made === columnSize ? 1 : made);
    }
    if (name === 'array_fill') {
      const dimensions = list(only('A_ArrayExpr', args[1])?.['elements']).map((each) => this.count(each));
      if (dimensions.length === 0 || dimensions.includes(undefined)) throw this.#refusals.unboundedLength(name, node);
      size = dimensions.reduce<number>((product, each) => product * (each ?? 1), Math.max(all[0] ?? 0, 8));
    }
    if (name === 'format') {
      const pattern = only('A_Const', args[0])?.['sval'];
      const widths = isNode(pattern) ? text(pattern['sval']).match(/%(?:\d+\$)?-?(?:\d+|\*)/g) : undefined;
      if (widths === undefined || widths?.some((width) => width.endsWith('*')) === true) {
        throw this.#refusals.unboundedLength(name, node);
      }
      for (const width of widths ?? []) size += Number(/\d+$/.exec(width)?.[0] ?? 0);
    }
    if (size > maxValue) throw this.#refusals.tooLong(name, maxValue, node);
    return size;
  }

  /** A number that an expression of constants does not exceed, perhaps by `least`; undefined for what only rows say. */
  count(value: Json | undefined): number | undefined {
    const constant = constantNumber(value);
    if (constant !== undefined) return Math.abs(constant);
    const cast = only('TypeCast', value);
    if (cast !== undefined) return this.count(cast['arg']);
    const least = only('MinMaxExpr', value);
    if (least?.['op'] === 'IS_LEAST') {
      const bounds = list(least['args']).flatMap((arg) => this.count(arg) ?? []);
      return bounds.length === 0 ? undefined : Math.min(...bounds);
    }
    const call = only('FuncCall', value);
    const name = namesOf(call?.['funcname']).at(-1) ?? '';
    const [first] = list(call?.['args']);
    if (/^(?:round|ceil|ceiling|floor|trunc|abs|int[248])$/.test(name)) return this.count(first);
    if (/^(?:char_|character_|octet_)?length$/.test(name)) return this.of(first);
    const operation = only('A_Expr', value);
    if (operation === undefined) return undefined;
    const [left, right] = [this.count(operation['lexpr']), this.count(operation['rexpr'])];
    if (left === undefined || right === undefined) return undefined;
    const sign = namesOf(operation['name']).join('');
    // Of a quotient or a difference, the first is the bound.
    return { '+': left + right, '*': left * right, '^': left ** right, '-': left + right, '/': left, '%': left }[sign];
  }
}

/** The SELECTs of a UNION and its kin. */
function leaves(select: Node): readonly Node[] {
  const sides = [select['larg'], select['rarg']].filter((side) => isNode(side));
  return sides.length === 0 ? [select] : sides.flatMap(leaves);
}

/** What the server calls a column that is given no name. */
function impliedName(value: Json | undefined): string {
  const cast = only('TypeCast', value);
  if (cast !== undefined) return impliedName(cast['arg']);
  const names = only('ColumnRef', value)?.['fields'] ?? only('FuncCall', value)?.['funcname'];
  return namesOf(names).at(-1) ?? '?column?';
}

import { isList, isNode, list, text, words, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { constantNumber } from './names.ts';
import type { Refusals } from './refuse.ts';
import { Sizes } from './sizes.ts';
import { namesOf, only } from './tree.ts';

/** Of what one aggregate holds of rows that the statement makes. */
const maxHeld = 64_000_000;
/** Of one value that an aggregate holds of rows whose number only the server knows. */
const maxHeldOfMany = 16_384;

/** They hold a value of each row until they answer. */
const holding = new Set(
  words(`array_agg string_agg json_agg jsonb_agg json_agg_strict jsonb_agg_strict json_object_agg jsonb_object_agg
  json_object_agg_strict jsonb_object_agg_strict json_object_agg_unique jsonb_object_agg_unique range_agg`),
);
/** In FROM they take one value apart. */
const splitting = new Set(
  words(`json_array_elements json_array_elements_text json_each json_each_text json_object_keys jsonb_array_elements
  jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys regexp_matches regexp_split_to_table
  string_to_table unnest`),
);

/** So often what recursion makes of a value is looked at: what doubles is too long by then. */
const rounds = 16;

/**
 * Refuses values, and lists of them, that the statement makes larger than anything that is read. Answers the aggregates whose
 * rows are to be counted as they run.
 */
export function checkSizes(statement: Node, selects: readonly Node[], refusals: Refusals): readonly Node[] {
  const sizes = new Sizes(refusals);
  for (let round = 0; round < rounds; round += 1) {
    const before = sizes.known;
    // WITH queries follow each other, subqueries lie within.
    for (const select of [...selects, ...selects.toReversed()]) sizes.name(select);
    if (sizes.known === before) break;
  }
  sizes.of(statement);
  const held = new Held(sizes, refusals);
  for (const select of selects) held.check(select);
  return held.counted;
}

/** Refuses aggregates that would hold too much; those whose rows only the server counts are `counted` as they run. */
class Held {
  readonly counted: Node[] = [];
  readonly #sizes: Sizes;
  readonly #refusals: Refusals;
  readonly #rows = new WeakMap<Node, { readonly rows: number | undefined }>();

  constructor(sizes: Sizes, refusals: Refusals) {
    this.#sizes = sizes;
    this.#refusals = refusals;
  }

  check(select: Node): void {
    const rows = this.#made(select);
    const isOfOneValue = isSplit(select);
    for (const part of [select['targetList'], select['havingClause'], select['sortClause']]) {
      this.#look(part, rows, isOfOneValue);
    }
  }

  #look(value: Json | undefined, rows: number | undefined, isOfOneValue: boolean): void {
    if (isList(value)) for (const part of value) this.#look(part, rows, isOfOneValue);
    if (!isNode(value) || isList(value)) return;
    const sublink = only('SubLink', value);
    if (sublink !== undefined) {
      const select = only('SelectStmt', sublink['subselect']);
      if (sublink['subLinkType'] === 'ARRAY_SUBLINK' && select !== undefined) {
        this.#expect('ARRAY', this.#sizes.of(select['targetList']), this.#rowsOf(select), sublink, isSplit(select));
      }
      return;
    }
    const call = only('FuncCall', value);
    const name = namesOf(call?.['funcname']).at(-1) ?? '';
    if (call !== undefined && holding.has(name)) {
      // What is held of DISTINCT was sorted, and what is sorted has a limit on the server's disk.
      const isBounded = isOfOneValue || call['agg_distinct'] === true;
      this.#expect(name, this.#sizes.of(call['args']), rows, call, isBounded);
    }
    for (const part of Object.values(value)) this.#look(part, rows, isOfOneValue);
  }

  #expect(name: string, size: number, rows: number | undefined, node: Node, isBounded: boolean): void {
    if (rows === undefined ? size > maxHeldOfMany : size * rows > maxHeld) throw this.#refusals.tooMuchHeld(name, node);
    if (rows === undefined && !isBounded) this.counted.push(node);
  }

  /** Undefined where tables, functions over rows or recursion say how many. */
  #rowsOf(select: Node | undefined): number | undefined {
    if (select === undefined) return undefined;
    const known = this.#rows.get(select);
    if (known !== undefined) return known.rows;
    this.#rows.set(select, { rows: undefined });
    const limit = constantNumber(select['limitCount']);
    const rows = limit === undefined ? this.#made(select) : Math.min(limit, this.#made(select) ?? limit);
    this.#rows.set(select, { rows });
    return rows;
  }

  #made(select: Node): number | undefined {
    const values = list(select['valuesLists']).length;
    if (values > 0) return values;
    if (text(select['op']) === 'SETOP_NONE')
      return product(list(select['fromClause']).map((item) => this.#rowsIn(item)));
    const [left, right] = [select['larg'], select['rarg']].map((side) => this.#rowsOf(isNode(side) ? side : undefined));
    return left === undefined || right === undefined ? undefined : left + right;
  }

  #rowsIn(item: Json): number | undefined {
    const join = only('JoinExpr', item);
    if (join !== undefined) return product([join['larg'], join['rarg']].map((side) => this.#rowsIn(side ?? null)));
    const range = only('RangeVar', item);
    if (range !== undefined) {
      return range['schemaname'] === undefined ? this.#rowsOf(this.#sizes.query(text(range['relname']))) : undefined;
    }
    const subquery = only('RangeSubselect', item)?.['subquery'];
    if (subquery !== undefined) return this.#rowsOf(only('SelectStmt', subquery));
    const call = calledIn(item);
    if (namesOf(call?.['funcname']).at(-1) !== 'generate_series') return undefined;
    const [first, last, step = 1] = list(call?.['args']).map((arg) => this.#sizes.count(arg));
    return first === undefined || last === undefined ? undefined : (first + last) / (step || 1) + 1;
  }
}

/** Whether all of its rows come of one value, which is held already. */
function isSplit(select: Node): boolean {
  const [from, another] = list(select['fromClause']);
  const name = namesOf(calledIn(from ?? null)?.['funcname']).at(-1) ?? '';
  return another === undefined && splitting.has(name);
}

/** The one function that a FROM item calls. */
function calledIn(item: Json): Node | undefined {
  const [functions, another] = list(only('RangeFunction', item)?.['functions']);
  return another === undefined ? only('FuncCall', list(only('List', functions)?.['items'])[0]) : undefined;
}

function product(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce<number | undefined>(
    (all, each) => (all === undefined || each === undefined ? undefined : all * each),
    1,
  );
}

import {
  isList,
  isNode,
  list,
  statementTooLarge,
  text,
  type CteScope,
  type Json,
  type Node,
  type NodeHook,
  type SqlHelpers,
  type TreeGrammar,
  type TreeWalk,
} from '../../../src/contract/telemetry/index.ts';
import { isOfItsMoment } from './bounds.ts';
import { checkCall, checkCollation, checkOperator, checkType, isReserved, mayBeCall } from './names.ts';
import { Refusals } from './refuse.ts';
import { shapes } from './shapes.ts';
import { checkSizes } from './held.ts';
import { nameOf, namesOf, only, type Place, type PostgresStatement } from './tree.ts';
import { systemColumns } from './tokens.ts';

/** Telemetry tables that a statement reads; for each, a whole subquery is written. */
const maxPlaces = 100;

/** `a.b`, where `a` may be the value of a function in FROM and `b` then a call. */
interface Qualified {
  readonly relation: string;
  readonly column: string;
  readonly node: Node;
}

/**
 * Lets a syntax tree through if all of it is known: every node type, every field of every node, every function, operator,
 * type and relation. Throws otherwise, saying what to write instead.
 */
export class Checker {
  readonly places: Place[] = [];
  readonly selects: Node[] = [];
  readonly refusals: Refusals;
  isOfItsMoment = false;
  /** Aggregates that count what they hold. */
  counted: readonly Node[] = [];
  readonly #helpers: SqlHelpers;
  readonly #qualified: Qualified[] = [];
  /** Columns of each function in FROM, by its alias. */
  readonly #functions = new Map<string, ReadonlySet<string>[]>();
  #read = 0;

  constructor(statement: PostgresStatement, helpers: SqlHelpers) {
    this.#helpers = helpers;
    this.refusals = new Refusals(statement, helpers);
  }

  check(statement: Node): void {
    const [type = ''] = Object.keys(statement);
    if (type !== 'SelectStmt') throw this.refusals.notSelect(type);
    this.#helpers.treeWalk(statement, grammar, this);
    this.counted = checkSizes(statement, this.selects, this.refusals);
    for (const { relation, column, node } of this.#qualified) {
      const known = this.#functions.get(relation) ?? [];
      if (mayBeCall(column) && (isReserved(column) || known.some((columns) => !columns.has(column)))) {
        throw this.refusals.field(column, node);
      }
    }
  }

  relation(node: Node, scope: CteScope): void {
    const schema = node['schemaname'];
    const name = text(node['relname']);
    if (node['inh'] !== true) throw this.refusals.only(node);
    if (schema === undefined) {
      if (!scope.has(name)) throw this.refusals.unknownTable(name, node);
      return;
    }
    const table =
      schema === 'otel' ? Object.values(this.#helpers.tables).find((known) => known.name === name) : undefined;
    if (table === undefined) throw this.refusals.unknownTable(`${text(schema)}.${name}`, node);
    const location = typeof node['location'] === 'number' ? node['location'] : 0;
    this.#read += 1;
    if (this.#read > maxPlaces) throw statementTooLarge();
    this.places.push({ table: table.name, location, kind: 'table', aliased: node['alias'] !== undefined });
  }

  rangeFunction(node: Node): void {
    const calls = list(node['functions']).map((item) => list(only('List', item)?.['items'])[0]);
    for (const call of calls) {
      if (only('FuncCall', call) === undefined) throw this.refusals.construct('RangeFunction.functions', node);
    }
    const definitions = list(node['functions']).flatMap((item) => list(list(only('List', item)?.['items']).slice(1)));
    const columns = [...list(node['coldeflist']), ...definitions.flatMap((item) => columnDefinitions(item))]
      .map((item) => text(only('ColumnDef', item)?.['colname']))
      .filter((name) => name !== '');
    const alias = node['alias'];
    const called = namesOf(only('FuncCall', calls[0])?.['funcname']).at(-1) ?? '';
    const name = isNode(alias) ? text(alias['aliasname']) : called;
    const renamed = isNode(alias) ? namesOf(alias['colnames']).filter((item) => item !== undefined) : [];
    // The one column of a function is called like its alias, unless the alias names it.
    const known = new Set([...columns, ...renamed, ...(renamed.length === 0 ? [name] : [])]);
    this.#functions.set(name, [...(this.#functions.get(name) ?? []), known]);
  }

  column(node: Node): void {
    const names = namesOf(node['fields']);
    for (const name of names) {
      if (name !== undefined && systemColumns.has(name)) throw this.refusals.systemColumn(name, node);
    }
    const [first, second, third] = names;
    if (names.length === 1) return;
    if (names.length === 2 && first !== undefined) {
      if (second !== undefined) this.#qualified.push({ relation: first, column: second, node });
      return;
    }
    const table = Object.values(this.#helpers.tables).find((known) => known.name === second);
    if (names.length !== 3 || first !== 'otel' || table === undefined) throw this.refusals.qualifier(names, node);
    if (third !== undefined) this.#qualified.push({ relation: table.name, column: third, node });
    const location = typeof node['location'] === 'number' ? node['location'] : 0;
    this.places.push({ table: table.name, location, kind: 'qualifier', aliased: false });
  }
}

function columnDefinitions(item: Json): readonly Json[] {
  const inner = only('List', item);
  return inner === undefined ? [item] : list(inner['items']);
}

type Walk = TreeWalk<Checker>;

/** A CTE may not be called so, in case the scoping rules have a gap. */
function isSystemName(name: string): boolean {
  return /^(?:pg_|information_schema$|otel)/i.test(name);
}

function withNames(clause: Json | undefined, outer: CteScope): CteScope {
  const ctes = isNode(clause) ? list(clause['ctes']) : [];
  return ctes.reduce<CteScope>((scope, item) => scope.with(text(only('CommonTableExpr', item)?.['ctename'])), outer);
}

const select: NodeHook<Checker> = {
  takes: 'withClause',
  enter({ state }, node, outer) {
    state.selects.push(node);
    return node['withClause'] === undefined ? outer : withNames(node['withClause'], outer);
  },
  leave(walk, { withClause }, outer, depth) {
    if (withClause !== undefined) walk.bare('WithClause', withClause, outer, depth);
  },
};

/** Each query sees the names before its own; after RECURSIVE all of them, its own included. */
function checkCtes(walk: Walk, value: Json, outer: CteScope, depth: number, clause: Node): boolean {
  const { refusals } = walk.state;
  const all = clause['recursive'] === true ? withNames(clause, outer) : undefined;
  let seen = outer;
  for (const item of list(value)) {
    const cte = only('CommonTableExpr', item);
    if (cte === undefined) return false;
    const name = text(cte['ctename']);
    if (isSystemName(name)) throw refusals.systemName(name, cte);
    const query = cte['ctequery'];
    const [type = ''] = isNode(query) ? Object.keys(query) : [];
    if (type !== 'SelectStmt') throw refusals.notSelect(type);
    walk.node('node', item, all ?? seen, depth);
    seen = seen.with(name);
  }
  return isList(value);
}

const hooks: { readonly [Type in keyof typeof shapes]?: NodeHook<Checker> } = {
  SelectStmt: select,
  RangeVar: { leave: ({ state }, node, scope) => state.relation(node, scope) },
  RangeFunction: { leave: ({ state }, node) => state.rangeFunction(node) },
  ColumnRef: { leave: ({ state }, node) => state.column(node) },
  A_Const: { leave: ({ state }, node) => void (state.isOfItsMoment ||= isOfItsMoment(node)) },
  A_Indirection: {
    leave({ state }, node) {
      for (const name of namesOf(node['indirection'])) {
        if (name !== undefined && mayBeCall(name)) throw state.refusals.field(name, node);
      }
    },
  },
  FuncCall: { leave: ({ state }, node) => checkCall(node, state.refusals) },
  TypeName: { leave: ({ state }, node) => checkType(node, state.refusals) },
  CollateClause: { leave: ({ state }, node) => checkCollation(node, state.refusals) },
  A_Expr: { leave: ({ state }, node) => checkOperator(node['name'], node, state.refusals) },
  SubLink: {
    leave({ state }, node) {
      if (node['operName'] !== undefined) checkOperator(node['operName'], node, state.refusals);
    },
  },
};

const grammar: TreeGrammar<Checker> = {
  maxDepth: 600,
  maxNodes: 50_000,
  root: { node: 'node' },
  categories: { node: { shapes, hooks } },
  bare: { shapes, hooks },
  parts: {
    ctes: checkCtes,
    /** An empty node stands for "nothing here": DISTINCT without ON, a function without column definitions. */
    'nodes or nothing'(walk, value, scope, depth) {
      for (const item of list(value)) {
        const nothing = isNode(item) && Object.keys(item).length === 0;
        if (!nothing) walk.node('node', item, scope, depth);
      }
      return isList(value);
    },
  },
  nullIsNothing: false,
  isName: (value) => nameOf(value) !== undefined,
  fold: (name) => name,
  unknown: ({ refusals }, { node, type, field }) =>
    refusals.construct(field === undefined ? (type ?? 'node') : `${type}.${field}`, node),
};

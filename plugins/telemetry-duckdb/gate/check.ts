import {
  isList,
  isNode,
  list,
  shownName,
  text,
  type CteScope,
  type Json,
  type Node,
  type NodeHook,
  type SqlHelpers,
  type TableName,
  type TreeGrammar,
  type TreeWalk,
} from '../../../src/contract/telemetry/index.ts';
import { offsetsIn } from './offsets.ts';
import { elementsOf, functions, tableFunctions, typeNames } from './functions.ts';
import { Refusals } from './refuse.ts';
import { fold, tableOf, type Rewritten } from './relations.ts';
import { expressionShapes, modifierShapes, pieceShapes, queryShapes, relationShapes } from './shapes.ts';

/** Elements that a single value made of constants may have; the engine makes it whole in memory. */
const maxElements = 1_000_000;

export class Checker {
  readonly tables = new Set<TableName>();
  /** Queries and telemetry tables, in the order of the tree. */
  readonly reads: Node[] = [];
  readonly columns: Node[] = [];
  /** Constants that other SQL takes the place of. */
  readonly rewritten = new Map<Node, Rewritten>();
  readonly #helpers: SqlHelpers;
  readonly #position: (location: Json | undefined) => number | undefined;

  /** @param position where a position of the tree lies in the caller's SQL. */
  constructor(helpers: SqlHelpers, position: (location: Json | undefined) => number | undefined) {
    this.#helpers = helpers;
    this.#position = position;
  }

  get refusals(): Refusals {
    return new Refusals(this.#helpers, this.#position);
  }

  /** Lets the tree through if all of it is known. Throws otherwise, saying what to write instead. */
  check(statement: Json | undefined): void {
    this.#helpers.treeWalk(statement, grammar, this);
  }
}

type Walk = TreeWalk<Checker>;

/** Names that the engine's own views have: a CTE may not have them, in case the scoping rules have a gap. */
function isSystemName(name: string): boolean {
  return /^(duckdb_|pragma_|sqlite_|pg_|information_schema|show_|otel$|sightline$)/.test(fold(name));
}

/** The scope of the query's own names: each of its WITH queries sees those before it. */
function enterQuery(walk: Walk, node: Node, outer: CteScope, depth: number): CteScope {
  walk.state.reads.push(node);
  const ctes = node['cte_map'];
  if (!isNode(ctes) || !isList(ctes['map']) || Object.keys(ctes).length !== 1) {
    throw walk.state.refusals.construct('WITH', undefined);
  }
  let scope = outer;
  for (const entry of ctes['map']) {
    if (!isNode(entry)) throw walk.state.refusals.construct('WITH', undefined);
    const name = text(entry['key']);
    if (isSystemName(name)) {
      const message = 'A WITH query may not have the name of a system view.';
      throw walk.state.refusals.refuse(message, entry, 'Give it another name.');
    }
    walk.bare('cte', entry['value'], scope, depth);
    scope = scope.with(name);
  }
  return scope;
}

function leaveTable({ state }: Walk, node: Node, scope: CteScope): void {
  const schema = text(node['schema_name']);
  const name = text(node['table_name']);
  const table = tableOf(schema, name);
  if (table !== undefined) {
    state.tables.add(table);
    state.reads.push(node);
  } else if (schema !== '' || !scope.has(name)) {
    throw state.refusals.unknownTable(schema === '' ? name : `${schema}.${name}`, node);
  }
}

function isOwnSchema(schema: Json | undefined): boolean {
  return schema === '' || schema === 'main' || schema === undefined;
}

function enterMoments({ state }: Walk, node: Node): undefined {
  for (const [constant, other] of offsetsIn(node)) state.rewritten.set(constant, other);
}

function enterCall(walk: Walk, node: Node): undefined {
  const { state } = walk;
  enterMoments(walk, node);
  const name = fold(text(node['function_name']));
  if (!isOwnSchema(node['schema'])) {
    const schema = text(node['schema']);
    const message = `${shownName(`${schema}.${name}`)} is not a function call that is allowed.`;
    throw state.refusals.refuse(message, node, `Write ${shownName(name)}(${shownName(schema)}).`);
  }
  if (!functions.has(name)) throw state.refusals.unknownFunction(name, node);
  const elements = elementsOf(name, node);
  if (elements !== undefined && elements > maxElements) {
    throw state.refusals.refuse(
      `${name} would make a single value of ${Math.round(elements)} elements.`,
      node,
      `Stay below ${maxElements}, or use range(…) in FROM, which makes rows.`,
    );
  }
}

/** The parser always writes the type of a constant; without it, the value would be of any. */
function enterConstant({ state }: Walk, { type }: Node): undefined {
  if (!isNode(type)) throw state.refusals.construct('constant', undefined);
}

function leaveType({ state }: Walk, { id, type_info: info }: Node): void {
  const name = text(id);
  if (typeNames.has(name)) return;
  // Named types come unbound; JSON is the only one there is.
  const written = name === 'UNBOUND' && isNode(info) ? text(info['name']) : name;
  if (name === 'UNBOUND' && written.toUpperCase() === 'JSON') return;
  throw state.refusals.refuse(
    `The type ${shownName(written)} is not available.`,
    undefined,
    'Use VARCHAR, BIGINT, DOUBLE, DECIMAL, BOOLEAN, TIMESTAMP, DATE, INTERVAL, JSON, lists, maps or structs of them.',
  );
}

function isUnset(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (isList(value) && value.length === 0);
}

const call: NodeHook<Checker> = { enter: enterCall };
const moments: NodeHook<Checker> = { enter: enterMoments };
const query: NodeHook<Checker> = { takes: 'cte_map', enter: enterQuery };

const grammar: TreeGrammar<Checker> = {
  // Deeper trees come from nobody's question. The engine itself stops at 250 in expressions.
  maxDepth: 400,
  maxNodes: 20_000,
  root: { own: 'statement' },
  categories: {
    expression: {
      typeField: 'class',
      shapes: expressionShapes,
      hooks: {
        COLUMN_REF: { enter: ({ state }, node) => void state.columns.push(node) },
        BETWEEN: moments,
        CAST: moments,
        COMPARISON: moments,
        OPERATOR: moments,
        FUNCTION: call,
        WINDOW: call,
      } satisfies Hooks<typeof expressionShapes>,
    },
    query: {
      typeField: 'type',
      shapes: queryShapes,
      hooks: {
        SELECT_NODE: query,
        SET_OPERATION_NODE: query,
        RECURSIVE_CTE_NODE: query,
      } satisfies Hooks<typeof queryShapes>,
    },
    relation: {
      typeField: 'type',
      shapes: relationShapes,
      hooks: { BASE_TABLE: { leave: leaveTable } } satisfies Hooks<typeof relationShapes>,
    },
    modifier: { typeField: 'type', shapes: modifierShapes, hooks: {} },
  },
  bare: {
    shapes: pieceShapes,
    hooks: { constant: { enter: enterConstant }, type: { leave: leaveType } } satisfies Hooks<typeof pieceShapes>,
  },
  parts: {
    statement(walk, value, scope, depth) {
      if (!isNode(value)) throw walk.state.refusals.construct('statement', undefined);
      const { node, named_param_map: parameters, ...unknown } = value;
      for (const field of Object.keys(unknown)) throw walk.state.refusals.construct(field, value);
      if (!isUnset(parameters)) throw walk.state.refusals.parameters(value);
      walk.node('query', node, scope, depth);
      return true;
    },
    /** In the first branch the name still means whatever it meant outside. */
    'recursive branch'(walk, value, scope, depth, node) {
      walk.node('query', value, scope.with(text(node['cte_name'])), depth);
      return true;
    },
    'table function'(walk, value, scope, depth, node) {
      if (!isNode(value) || value['class'] !== 'FUNCTION') throw walk.state.refusals.construct('table function', node);
      const name = fold(text(value['function_name']));
      if (!tableFunctions.has(name) || !isOwnSchema(value['schema'])) {
        throw walk.state.refusals.refuse(
          `The table function ${shownName(name)} is not available.`,
          node,
          `Table functions: ${[...tableFunctions].join(', ')}. Tables: otel.spans, otel.metrics, otel.logs.`,
        );
      }
      walk.bare('table_function', value, scope, depth - 1);
      return true;
    },
    /** VALUES is a list of lists. */
    rows(walk, value, scope, depth, node) {
      for (const row of list(value)) walk.part({ nodes: 'expression', levels: 2 }, row, scope, depth, node);
      return isList(value);
    },
    /** GROUPING SETS: which expression stands in which set. */
    numbers: (_walk, value) =>
      isList(value) && value.every((set) => isList(set) && set.every((index) => typeof index === 'number')),
    unset(walk, value, _scope, _depth, node) {
      if (!isUnset(value)) throw walk.state.refusals.construct('type', node);
      return true;
    },
  },
  nullIsNothing: true,
  isName: (value) => typeof value === 'string',
  fold,
  unknown: ({ refusals }, what) => refusals.unknown(what),
};

/** A hook at a type without a shape would never run. */
type Hooks<Shapes> = { readonly [Type in keyof Shapes]?: NodeHook<Checker> };

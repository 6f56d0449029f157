import type { SqlHelpers, TableName } from '../../../src/contract/telemetry/index.ts';
import { checkCall, checkCollation, checkOperator, checkType, isReserved, mayBeCall } from './names.ts';
import { Refusals } from './refuse.ts';
import { isSystemName, Scope } from './statement.ts';
import { shapes, type Part } from './shapes.ts';
import type { PostgresStatement } from './statement.ts';
import { isList, isNode, list, nameOf, namesOf, only, text, type Json, type Node } from './tree.ts';
import { systemColumns } from './tokens.ts';

const maxDepth = 600;
const maxNodes = 50_000;
/** Telemetry tables that a statement reads; for each, a whole subquery is written. */
const maxPlaces = 100;

/** A place to replace in the canonical SQL; locations count its bytes. */
export interface Place {
  readonly table: TableName;
  readonly location: number;
  /** A table in FROM, or the qualifier of a column: `otel.spans.name`. */
  readonly kind: 'table' | 'qualifier';
  readonly aliased: boolean;
}

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
  readonly #tables: SqlHelpers['tables'];
  readonly #refusals: Refusals;
  readonly #qualified: Qualified[] = [];
  /** Columns of each function in FROM, by its alias. */
  readonly #functions = new Map<string, ReadonlySet<string>[]>();
  #nodes = 0;
  #read = 0;

  constructor(statement: PostgresStatement, helpers: SqlHelpers) {
    this.#tables = helpers.tables;
    this.#refusals = new Refusals(statement, helpers);
  }

  check(statement: Node): void {
    const [type = ''] = Object.keys(statement);
    if (type !== 'SelectStmt') throw this.#refusals.notSelect(type);
    this.#node(statement, new Scope(), 0);
    for (const { relation, column, node } of this.#qualified) {
      const known = this.#functions.get(relation) ?? [];
      if (mayBeCall(column) && (isReserved(column) || known.some((columns) => !columns.has(column)))) {
        throw this.#refusals.field(column, node);
      }
    }
  }

  /** For a statement whose text writes a table otherwise than its tree has it. */
  unlike(): Error {
    return this.#refusals.spelling();
  }

  #node(value: Json, scope: Scope, depth: number): void {
    const [type, another] = isNode(value) ? Object.keys(value) : [];
    const inner = isNode(value) && type !== undefined ? value[type] : undefined;
    if (type === undefined || another !== undefined || !isNode(inner)) throw this.#refusals.construct('node');
    this.#bare(type, inner, scope, depth);
  }

  #bare(type: string, node: Node, outer: Scope, depth: number): void {
    this.#nodes += 1;
    if (depth > maxDepth || this.#nodes > maxNodes) throw this.#refusals.tooLarge();
    const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (shape === undefined) throw this.#refusals.construct(type, node);
    const scope = type === 'SelectStmt' ? this.#ctes(node, outer) : outer;
    for (const [field, value] of Object.entries(node)) {
      const part = Object.hasOwn(shape, field) ? shape[field] : undefined;
      if (part === undefined) throw this.#refusals.construct(`${type}.${field}`, node);
      // A WITH clause is walked name by name, since each query of it sees other names.
      if (field !== 'withClause') this.#part(part, value, scope, depth, `${type}.${field}`, node);
    }
    if (type === 'SelectStmt' && node['withClause'] !== undefined) this.#with(node['withClause'], outer, depth);
    this.#names(type, node, scope);
  }

  #part(part: Part, value: Json, scope: Scope, depth: number, field: string, node: Node): void {
    if (part === 'name' || part === 'plain') {
      if (typeof value === 'object') throw this.#refusals.construct(field, node);
    } else if (part === 'names') {
      if (!isList(value) || !value.every((item) => nameOf(item) !== undefined)) {
        throw this.#refusals.construct(field, node);
      }
    } else if (part === 'node') {
      this.#node(value, scope, depth + 1);
    } else if (part === 'nodes' || part === 'nodes or nothing') {
      if (!isList(value)) throw this.#refusals.construct(field, node);
      for (const item of value) {
        const nothing = part === 'nodes or nothing' && isNode(item) && Object.keys(item).length === 0;
        if (!nothing) this.#node(item, scope, depth + 1);
      }
    } else if ('oneOf' in part) {
      if (!part.oneOf.includes(text(value))) throw this.#refusals.construct(field, node);
    } else {
      if (!isNode(value)) throw this.#refusals.construct(field, node);
      this.#bare(part.bare, value, scope, depth + 1);
    }
  }

  /** The names that the SELECT itself sees. */
  #ctes(select: Node, outer: Scope): Scope {
    const clause = select['withClause'];
    const ctes = isNode(clause) ? list(clause['ctes']) : [];
    return ctes.reduce<Scope>((scope, item) => scope.with(text(only('CommonTableExpr', item)?.['ctename'])), outer);
  }

  /** Each query sees the names before its own; after RECURSIVE all of them, its own included. */
  #with(value: Json, outer: Scope, depth: number): void {
    if (!isNode(value)) throw this.#refusals.construct('WITH');
    for (const field of Object.keys(value)) {
      if (!Object.hasOwn(shapes['WithClause'] ?? {}, field)) throw this.#refusals.construct(`WithClause.${field}`);
    }
    const all = this.#ctes({ withClause: value }, outer);
    let seen = outer;
    for (const item of list(value['ctes'])) {
      const cte = only('CommonTableExpr', item);
      if (cte === undefined) throw this.#refusals.construct('WITH');
      const name = text(cte['ctename']);
      if (isSystemName(name)) throw this.#refusals.systemName(name, cte);
      const query = cte['ctequery'];
      const [type = ''] = isNode(query) ? Object.keys(query) : [];
      if (type !== 'SelectStmt') throw this.#refusals.notSelect(type);
      this.#bare('CommonTableExpr', cte, value['recursive'] === true ? all : seen, depth + 1);
      seen = seen.with(name);
    }
  }

  #names(type: string, node: Node, scope: Scope): void {
    switch (type) {
      case 'RangeVar':
        return this.#relation(node, scope);
      case 'RangeFunction':
        return this.#rangeFunction(node);
      case 'ColumnRef':
        return this.#column(node);
      case 'A_Indirection':
        for (const name of namesOf(node['indirection'])) {
          if (name !== undefined && mayBeCall(name)) throw this.#refusals.field(name, node);
        }
        return;
      case 'FuncCall':
        return checkCall(node, this.#refusals);
      case 'TypeName':
        return checkType(node, this.#refusals);
      case 'CollateClause':
        return checkCollation(node, this.#refusals);
      case 'A_Expr':
        return checkOperator(node['name'], node, this.#refusals);
      case 'SubLink':
        if (node['operName'] !== undefined) checkOperator(node['operName'], node, this.#refusals);
    }
  }

  #relation(node: Node, scope: Scope): void {
    const schema = node['schemaname'];
    const name = text(node['relname']);
    if (node['inh'] !== true) throw this.#refusals.only(node);
    if (schema === undefined) {
      if (!scope.has(name)) throw this.#refusals.unknownTable(name, node);
      return;
    }
    const table = schema === 'otel' ? Object.values(this.#tables).find((known) => known.name === name) : undefined;
    if (table === undefined) throw this.#refusals.unknownTable(`${text(schema)}.${name}`, node);
    const location = typeof node['location'] === 'number' ? node['location'] : 0;
    this.#read += 1;
    if (this.#read > maxPlaces) throw this.#refusals.tooLarge();
    this.places.push({ table: table.name, location, kind: 'table', aliased: node['alias'] !== undefined });
  }

  #rangeFunction(node: Node): void {
    const calls = list(node['functions']).map((item) => list(only('List', item)?.['items'])[0]);
    for (const call of calls) {
      if (only('FuncCall', call) === undefined) throw this.#refusals.construct('RangeFunction.functions', node);
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

  #column(node: Node): void {
    const names = namesOf(node['fields']);
    for (const name of names) {
      if (name !== undefined && systemColumns.has(name)) throw this.#refusals.systemColumn(name, node);
    }
    const [first, second, third] = names;
    if (names.length === 1) return;
    if (names.length === 2 && first !== undefined) {
      if (second !== undefined) this.#qualified.push({ relation: first, column: second, node });
      return;
    }
    const table = Object.values(this.#tables).find((known) => known.name === second);
    if (names.length !== 3 || first !== 'otel' || table === undefined) throw this.#refusals.qualifier(names, node);
    if (third !== undefined) this.#qualified.push({ relation: table.name, column: third, node });
    const location = typeof node['location'] === 'number' ? node['location'] : 0;
    this.places.push({ table: table.name, location, kind: 'qualifier', aliased: false });
  }
}

function columnDefinitions(item: Json): readonly Json[] {
  const inner = only('List', item);
  return inner === undefined ? [item] : list(inner['items']);
}

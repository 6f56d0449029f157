import type { ErrorCode, ErrorDetails, SightlineError } from '../../../src/contract/core/index.ts';
import type { SqlHelpers, TableName } from '../../../src/contract/telemetry/index.ts';
import { functionHints, functionNames, functions, tableFunctions, typeNames } from './functions.ts';
import { fold, isSystemName, Scope, isList, isNode, text, type Json, type Node } from './scope.ts';
import {
  expressionShapes,
  modifierShapes,
  pieceShapes,
  queryShapes,
  relationShapes,
  type Part,
  type Shape,
} from './shapes.ts';

/** Deeper trees come from nobody's question. The engine itself stops at 250 in expressions. */
const maxDepth = 400;
const maxNodes = 20_000;
/** Elements that a single value made of constants may have; the engine makes it whole in memory. */
const maxElements = 1_000_000;

/**
 * Lets a syntax tree through if all of it is known: every node class, every key of every node, every function, type and
 * table. Throws otherwise, saying what to write instead.
 */
export class Checker {
  readonly #helpers: SqlHelpers;
  /** Where a position of the tree lies in the caller's SQL. */
  readonly #position: (location: Json | undefined) => number | undefined;
  readonly #tables = new Set<TableName>();
  #nodes = 0;

  constructor(helpers: SqlHelpers, position: (location: Json | undefined) => number | undefined) {
    this.#helpers = helpers;
    this.#position = position;
  }

  /** The telemetry tables that the statement reads. */
  check(statement: Json | undefined): readonly TableName[] {
    this.#statement(statement, new Scope(), 0);
    return [...this.#tables];
  }

  #statement(value: Json | undefined, scope: Scope, depth: number): void {
    if (!isNode(value)) throw this.#unknown('statement', undefined);
    for (const key of Object.keys(value))
      if (key !== 'node' && key !== 'named_param_map') throw this.#unknown(key, value);
    if (!isEmpty(value['named_param_map'])) throw this.#parameters(value);
    this.#query(value['node'], scope, depth);
  }

  #query(value: Json | undefined, outer: Scope, depth: number): void {
    const node = this.#enter(value, depth);
    const type = text(node['type']);
    const shape = queryShapes[type];
    if (shape === undefined) throw this.#unknown(type, node);
    const scope = this.#ctes(node['cte_map'], outer, depth);
    const { type: _type, cte_map: _ctes, modifiers, ...rest } = node;
    for (const modifier of isList(modifiers) ? modifiers : [null]) this.#typed(modifierShapes, modifier, scope, depth);
    this.#parts(shape, rest, scope, depth);
    if (type === 'SET_OPERATION_NODE') {
      for (const branch of [node['left'], node['right']]) if (branch !== null) this.#query(branch, scope, depth + 1);
      const branches = node['children'];
      if (isList(branches)) for (const branch of branches) this.#query(branch, scope, depth + 1);
    }
    if (type === 'RECURSIVE_CTE_NODE') {
      // In its first branch the name still means whatever it meant outside.
      this.#query(node['left'], scope, depth + 1);
      this.#query(node['right'], scope.with(text(node['cte_name'])), depth + 1);
    }
  }

  /** Each sees those before it. */
  #ctes(value: Json | undefined, outer: Scope, depth: number): Scope {
    if (!isNode(value) || !isList(value['map']) || Object.keys(value).length !== 1)
      throw this.#unknown('WITH', undefined);
    let scope = outer;
    for (const entry of value['map']) {
      if (!isNode(entry) || !isNode(entry['value'])) throw this.#unknown('WITH', undefined);
      const name = text(entry['key']);
      if (isSystemName(name)) {
        throw this.#refuse('sql_refused', 'A WITH query may not have the name of a system view.', entry, {
          hint: 'Give it another name.',
        });
      }
      const { aliases, query, materialized: _materialized, key_targets, ...unknown } = entry['value'];
      for (const key of Object.keys(unknown)) throw this.#unknown(key, entry);
      this.#part('names', aliases, scope, depth);
      this.#statement(query, scope, depth + 1);
      scope = scope.with(name);
      this.#part('expressions', key_targets, scope, depth);
    }
    return scope;
  }

  #relation(value: Json | undefined, scope: Scope, depth: number): void {
    const node = this.#enter(value, depth);
    const type = text(node['type']);
    if (type === 'SHOW_REF') throw this.#show(node);
    const shape = relationShapes[type];
    if (shape === undefined) throw this.#unknown(type, node);
    this.#parts(shape, node, scope, depth);
    if (type === 'BASE_TABLE') this.#table(node, scope);
    if (type === 'TABLE_FUNCTION') this.#tableFunction(node, scope, depth);
  }

  #table(node: Node, scope: Scope): void {
    const schema = fold(text(node['schema_name']));
    const written = text(node['table_name']);
    const name = fold(written);
    if (schema === 'otel') {
      for (const table of Object.values(this.#helpers.tables)) {
        if (table.name === name) {
          this.#tables.add(table.name);
          return;
        }
      }
    }
    if (schema === '' && scope.has(name)) return;
    const full = schema === '' ? written : `${text(node['schema_name'])}.${written}`;
    throw this.#helpers.unknownTable(full, this.#at(node));
  }

  #tableFunction(node: Node, scope: Scope, depth: number): void {
    const call = node['function'];
    if (!isNode(call) || call['class'] !== 'FUNCTION') throw this.#unknown('table function', node);
    const name = fold(text(call['function_name']));
    if (!tableFunctions.has(name) || !isOwnSchema(call['schema'])) {
      throw this.#refuse('sql_refused', `The table function ${shortName(name)} is not available.`, node, {
        hint: `Table functions: ${[...tableFunctions].join(', ')}. Tables: otel.spans, otel.metrics, otel.logs.`,
      });
    }
    this.#expression(call, scope, depth, true);
  }

  #expression(value: Json | undefined, scope: Scope, depth: number, isTableFunction = false): void {
    const node = this.#enter(value, depth);
    const kind = text(node['class']);
    if (kind === 'PARAMETER') throw this.#parameters(node);
    const shape = expressionShapes[kind];
    if (shape === undefined) throw this.#unknown(kind, node);
    if (kind === 'FUNCTION' || kind === 'WINDOW') this.#call(node, isTableFunction);
    this.#parts(shape, node, scope, depth);
  }

  #call(node: Node, isTableFunction: boolean): void {
    const name = fold(text(node['function_name']));
    const schema = node['schema'];
    if (!isOwnSchema(schema)) {
      throw this.#refuse(
        'sql_refused',
        `${shortName(`${text(schema)}.${name}`)} is not a function call that is let through.`,
        node,
        {
          hint: `Write ${shortName(name)}(${shortName(text(schema))}).`,
        },
      );
    }
    if (!functions.has(name) && !isTableFunction) throw this.#unknownFunction(name, node);
    if (!isTableFunction) this.#size(name, node);
  }

  #unknownFunction(name: string, node: Node): SightlineError {
    const near = this.#helpers.nearest(name, functionNames);
    const hint = functionHints[name] ?? (near.length > 0 ? `Did you mean ${near.join(' or ')}?` : undefined);
    const message = `The function ${shortName(name)} does not exist or is not available here.`;
    return this.#refuse('unknown_function', message, node, {
      hint: hint ?? 'Use functions of DuckDB that read only their arguments.',
    });
  }

  /** Values of constant size that would be made whole in memory. What is not constant meets the engine's limits. */
  #size(name: string, node: Node): void {
    const children = isList(node['children']) ? node['children'] : [];
    const numbers = children.map((child) => constantNumber(child));
    let elements: number | undefined;
    if (name === 'range' || name === 'generate_series') {
      const [first, second] = numbers;
      const step = Math.abs(numbers[2] ?? 1) || 1;
      if (first !== undefined) elements = Math.abs(second === undefined ? first : second - first) / step;
    } else if (['repeat', 'lpad', 'rpad', 'list_resize', 'array_resize'].includes(name)) {
      elements = numbers[1];
    }
    if (elements !== undefined && elements > maxElements) {
      throw this.#refuse(
        'sql_refused',
        `${name} would make a single value of ${Math.round(elements)} elements.`,
        node,
        {
          hint: `Stay below ${maxElements}, or use range(…) in FROM, which makes rows.`,
        },
      );
    }
  }

  #parts(shape: Shape, node: Node, scope: Scope, depth: number): void {
    for (const [key, value] of Object.entries(node)) {
      const part = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (part === undefined) throw this.#unknown(key, node);
      this.#part(part, value, scope, depth, node, key);
    }
  }

  #part(part: Part, value: Json | undefined, scope: Scope, depth: number, node?: Node, key = ''): void {
    if (value === null || value === undefined || part === 'plain') return;
    if (typeof part === 'object') {
      const shape = pieceShapes['each' in part ? part.each : part.one];
      for (const item of 'each' in part ? (isList(value) ? value : [value]) : [value]) {
        if (shape === undefined) throw this.#unknown(key, node);
        this.#parts(shape, this.#enter(item, depth + 1), scope, depth + 1);
      }
      return;
    }
    switch (part) {
      case 'absent':
        if (!isEmpty(value)) throw this.#unknown(key, node);
        return;
      case 'names':
        if (!isList(value) || !value.every((name) => typeof name === 'string')) throw this.#unknown(key, node);
        return;
      case 'expression':
        return this.#expression(value, scope, depth + 1);
      case 'expressions':
        if (!isList(value)) throw this.#unknown(key, node);
        // VALUES is a list of lists.
        for (const item of value)
          this.#part(isList(item) ? 'expressions' : 'expression', item, scope, depth + 1, node, key);
        return;
      case 'relation':
        return this.#relation(value, scope, depth + 1);
      case 'query':
        return this.#statement(value, scope, depth + 1);
      case 'order':
        this.#typed(modifierShapes, value, scope, depth + 1);
        return;
      case 'type':
        return this.#type(value, depth + 1);
      case 'types':
        for (const item of isList(value) ? value : [value]) this.#type(item, depth + 1);
        return;
      case 'constant':
        return this.#constant(value, depth + 1);
      case 'constants':
        for (const item of isList(value) ? value : [value]) this.#constant(item, depth + 1);
    }
  }

  #typed(shapes: Readonly<Record<string, Shape>>, value: Json, scope: Scope, depth: number): void {
    const node = this.#enter(value, depth + 1);
    const type = text(node['type']);
    const shape = shapes[type];
    if (shape === undefined) throw this.#unknown(type, node);
    this.#parts(shape, node, scope, depth + 1);
  }

  #constant(value: Json, depth: number): void {
    const { type, is_null: _isNull, value: _value, ...unknown } = this.#enter(value, depth);
    for (const key of Object.keys(unknown)) throw this.#unknown(key, undefined);
    this.#type(type ?? null, depth);
  }

  #type(value: Json, depth: number): void {
    const node = this.#enter(value, depth);
    const { id, type_info: info, ...unknown } = node;
    for (const key of Object.keys(unknown)) throw this.#unknown(key, node);
    const name = text(id);
    if (isNode(info)) this.#typeInfo(info, depth);
    // Named types come unbound; JSON is the only one there is.
    if (name === 'UNBOUND' && isNode(info) && text(info['name']).toUpperCase() === 'JSON') return;
    const written = name === 'UNBOUND' && isNode(info) ? text(info['name']) : name;
    if (!typeNames.has(name)) {
      throw this.#refuse('sql_refused', `The type ${shortName(written)} is not available.`, undefined, {
        hint: 'Use VARCHAR, BIGINT, DOUBLE, DECIMAL, BOOLEAN, TIMESTAMP, DATE, INTERVAL, JSON, lists, maps or structs of them.',
      });
    }
  }

  #typeInfo(info: Node, depth: number): void {
    const {
      type,
      alias,
      extension_info,
      child_type,
      child_types,
      width: _w,
      scale: _s,
      size: _n,
      collation,
      ...rest
    } = info;
    const { name: _name, user_type_modifiers: modifiers, catalog, schema, ...unknown } = rest;
    for (const key of Object.keys(unknown)) throw this.#unknown(key, info);
    for (const absent of [alias, extension_info, collation, modifiers, catalog, schema]) {
      if (!isEmpty(absent)) throw this.#unknown('type', info);
    }
    if (!/^(DECIMAL|LIST|STRUCT|ARRAY|UNBOUND|STRING)_TYPE_INFO$/.test(text(type)))
      throw this.#unknown(text(type), info);
    if (child_type !== undefined) this.#type(child_type, depth + 1);
    for (const child of isList(child_types) ? child_types : []) {
      if (!isNode(child)) throw this.#unknown('type', info);
      this.#type(child['second'] ?? null, depth + 1);
    }
  }

  #enter(value: Json | undefined, depth: number): Node {
    this.#nodes += 1;
    if (depth > maxDepth || this.#nodes > maxNodes) {
      throw this.#refuse('sql_refused', 'The statement is too large or nested too deeply.', undefined, {
        hint: 'Ask in several smaller statements.',
      });
    }
    if (!isNode(value)) throw this.#unknown('node', undefined);
    return value;
  }

  #show(node: Node): SightlineError {
    const summary = node['show_type'] === 'SUMMARY';
    return this.#refuse(
      'sql_refused',
      `${summary ? 'SUMMARIZE' : 'SHOW and DESCRIBE'} cannot be part of a query.`,
      node,
      {
        hint: summary
          ? 'Ask for what you need: SELECT count(*), min(time), max(time), approx_count_distinct(name) FROM otel.spans.'
          : 'Send SHOW TABLES, DESCRIBE otel.spans or SHOW ATTRIBUTES FROM otel.spans by itself.',
      },
    );
  }

  #parameters(node: Node): SightlineError {
    return this.#refuse('sql_refused', 'Parameters are not available.', node, {
      hint: 'Write the value into the SQL.',
    });
  }

  #unknown(what: string, node: Node | undefined): SightlineError {
    return this.#refuse(
      'sql_refused',
      `The statement uses a construct that is not let through (${shortName(what)}).`,
      node,
      {
        hint: 'Write it as a plain SELECT over otel.spans, otel.metrics and otel.logs.',
      },
    );
  }

  #refuse(
    code: Extract<ErrorCode, `sql_${string}` | `unknown_${string}`>,
    message: string,
    node: Node | undefined,
    details: ErrorDetails,
  ): SightlineError {
    return this.#helpers.refuse(code, message, { ...details, ...(node && this.#at(node)) });
  }

  #at(node: Node): { readonly position?: number } {
    const position = this.#position(node['query_location']);
    return position === undefined ? {} : { position };
  }
}

function isEmpty(value: Json | undefined): boolean {
  return (
    value === null || value === undefined || value === '' || value === false || (isList(value) && value.length === 0)
  );
}

function isOwnSchema(schema: Json | undefined): boolean {
  return schema === '' || schema === 'main' || schema === undefined;
}

function constantNumber(value: Json): number | undefined {
  if (!isNode(value)) return undefined;
  // 1e9::BIGINT, and to_hours(…) never comes here as it is a function.
  if (value['class'] === 'CAST') return constantNumber(value['child'] ?? null);
  const constant = value['value'];
  if (value['class'] !== 'CONSTANT' || !isNode(constant)) return undefined;
  const number = constant['value'];
  if (typeof number === 'number') return number;
  if (typeof number === 'string') return Number(number);
  return isNode(number) ? Infinity : undefined;
}

/** A name from the caller's SQL as a message shows it. */
function shortName(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}

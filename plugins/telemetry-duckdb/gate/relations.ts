import {
  isList,
  isNode,
  list,
  readOnce,
  tableNames,
  text,
  type Json,
  type Node,
  type TableName,
} from '../../../src/contract/telemetry/index.ts';

/** As the engine compares identifiers: ASCII letters only. */
export function fold(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function telemetryTable(node: Node): TableName | undefined {
  return node['type'] === 'BASE_TABLE' ? tableOf(node['schema_name'], node['table_name']) : undefined;
}

export function tableOf(schema: Json | undefined, name: Json | undefined): TableName | undefined {
  if (fold(text(schema)) !== 'otel') return undefined;
  const folded = fold(text(name));
  return tableNames.find((table) => table === folded);
}

/** By what the columns of a FROM item are qualified. */
export function aliasOf(item: Node): string {
  const alias = fold(text(item['alias']));
  return alias === '' ? fold(text(item['table_name'])) : alias;
}

/** The query that a FROM item is. */
export function derived(from: Node, common: ReadonlyMap<string, Node>): Node | undefined {
  if (list(from['column_name_alias']).length > 0 || (from['sample'] !== undefined && from['sample'] !== null))
    return undefined;
  if (from['type'] === 'SUBQUERY') return nodeOf(from['subquery']);
  const isName = from['type'] === 'BASE_TABLE' && text(from['schema_name']) === '';
  return isName ? common.get(fold(text(from['table_name']))) : undefined;
}

function nodeOf(query: Json | undefined): Node | undefined {
  return isNode(query) && isNode(query['node']) ? query['node'] : undefined;
}

/** Queries of WITH that are read once. */
export function commonIn(statement: Json): ReadonlyMap<string, Node> {
  const given: [string, Node | undefined][] = [];
  const names: string[] = [];
  const walk = (value: Json): void => {
    if (isList(value)) return value.forEach(walk);
    if (!isNode(value)) return;
    const name = fold(text(value['key']));
    const query = isNode(value['value']) ? value['value']['query'] : undefined;
    if (name !== '' && isNode(query)) given.push([name, nodeOf(query)]);
    if (value['type'] === 'BASE_TABLE') names.push(fold(text(value['table_name'])));
    Object.values(value).forEach(walk);
  };
  walk(statement);
  return readOnce(given, names);
}

export interface Template {
  readonly pieces: readonly string[];
  readonly tables: readonly TableName[];
}

/** ASCII, as the engine writes it, and what takes its place. */
export interface Rewritten {
  readonly from: string;
  readonly to: string;
}

/** A stretch of the SQL, in bytes, and what takes its place. */
interface Cut {
  readonly start: number;
  readonly end: number;
  /** Undefined where no relation takes the place. */
  readonly table: TableName | undefined;
  readonly text: string;
}

/**
 * Cuts the telemetry tables out of SQL that the engine wrote, where the nodes of its own tree of that SQL say they are, and the
 * schema out of columns called `otel.spans.name`, since what stands for the table has none, and puts other SQL for some
 * constants. Undefined when the nodes and the text disagree: each place must be a table's name and lie outside of quotes, or be
 * the constant.
 */
export function templateOf(
  sql: string,
  nodes: readonly Node[],
  rewritten: ReadonlyMap<Node, Rewritten> = new Map(),
): Template | undefined {
  const bytes = Buffer.from(sql, 'utf8');
  const names = namesIn(bytes.toString('latin1'));
  const cuts = new Map<number, Cut>();
  for (const node of nodes) {
    const table = telemetryTable(node);
    if (table === undefined && !isFullColumn(node)) continue;
    const at = node['query_location'];
    const name = typeof at === 'number' ? names.get(at) : undefined;
    if (typeof at !== 'number' || name === undefined || (table !== undefined && name.table !== table)) return undefined;
    const end = at + (table === undefined ? name.schemaLength : name.length);
    const alias = table !== undefined && text(node['alias']) === '' ? ` AS ${table}` : '';
    cuts.set(at, { start: at, end, table, text: alias });
  }
  for (const [{ query_location: at }, { from: literal, to }] of rewritten) {
    const start = typeof at === 'number' ? at : 0;
    const end = start + literal.length;
    if (bytes.toString('latin1', start, end) !== literal) return undefined;
    cuts.set(start, { start, end, table: undefined, text: to });
  }
  const pieces: string[] = [];
  const tables: TableName[] = [];
  let piece = '';
  let from = 0;
  for (const { start, end, table, text: put } of [...cuts.values()].toSorted((one, other) => one.start - other.start)) {
    piece += bytes.toString('utf8', from, start);
    from = end;
    if (table !== undefined) {
      pieces.push(piece);
      tables.push(table);
      piece = '';
    }
    piece += put;
  }
  pieces.push(piece + bytes.toString('utf8', from));
  return { pieces, tables };
}

function isFullColumn(node: Node): boolean {
  const names = node['column_names'];
  if (node['class'] !== 'COLUMN_REF' || !isList(names) || names.length < 3) return false;
  return tableOf(names[0], names[1]) !== undefined;
}

interface WrittenName {
  readonly table: TableName;
  readonly length: number;
  readonly schemaLength: number;
}

/** Strings, names in quotes, and between them `otel.spans` in all the ways that the engine writes it. */
const table = tableNames.join('|');
const tokens = new RegExp(
  `'[^']*'|((?:otel|"otel")\\.)(?:(${table})(?!\\w)|"(${table})"(?!"))|"[^"]*(?:""[^"]*)*"`,
  'gi',
);

function namesIn(sql: string): ReadonlyMap<number, WrittenName> {
  const found = new Map<number, WrittenName>();
  for (const { 0: all, 1: schema, 2: bare, 3: quoted, index } of sql.matchAll(tokens)) {
    const table = schema === undefined ? undefined : tableOf('otel', bare ?? quoted ?? '');
    if (table !== undefined && schema !== undefined)
      found.set(index, { table, length: all.length, schemaLength: schema.length });
  }
  return found;
}

export function fillTemplate({ pieces, tables }: Template, relation: (table: TableName) => string): string {
  return pieces.reduce((sql, piece, index) => {
    const table = tables[index];
    return sql + piece + (table === undefined ? '' : relation(table));
  }, '');
}

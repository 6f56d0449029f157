import { tableNames, type TableName } from '../../../src/contract/index.ts';
import { fold } from './scope.ts';
import { isList, isNode, text, type Json, type Node } from './tree.ts';

/** What stands for each telemetry table in the SQL that the engine writes; nobody can have written it before. */
export type Marks = Readonly<Record<TableName, string>>;

export function marksOf(secret: string): Marks {
  return { spans: `t${secret}_spans`, metrics: `t${secret}_metrics`, logs: `t${secret}_logs` };
}

/** The checked tree with a mark for every telemetry table, under the name that the statement knows the table by. */
export function markTables(tree: Json, marks: Marks): Json {
  if (isList(tree)) return tree.map((item) => markTables(item, marks));
  if (!isNode(tree)) return tree;
  const copy = Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, markTables(value, marks)]));
  const table = telemetryTable(tree);
  if (table !== undefined) {
    const alias = text(tree['alias']) === '' ? table : text(tree['alias']);
    return { ...copy, schema_name: '', table_name: marks[table], alias };
  }
  const columns = tree['column_names'];
  // `otel.spans.name`: what stands for the table has no schema.
  if (tree['class'] === 'COLUMN_REF' && isList(columns) && columns.length > 2 && fold(text(columns[0])) === 'otel') {
    return { ...copy, column_names: columns.slice(1) };
  }
  return copy;
}

export function isTelemetryTable(node: Node): boolean {
  return telemetryTable(node) !== undefined;
}

function telemetryTable(node: Node): TableName | undefined {
  if (node['type'] !== 'BASE_TABLE' || fold(text(node['schema_name'])) !== 'otel') return undefined;
  const name = fold(text(node['table_name']));
  return tableNames.find((table) => table === name);
}

/** SQL with holes where telemetry tables stand. */
export interface Template {
  readonly pieces: readonly string[];
  /** Which table follows each piece but the last. */
  readonly tables: readonly TableName[];
}

export function templateOf(sql: string, marks: Marks): Template {
  const all = new RegExp(tableNames.map((table) => marks[table]).join('|'), 'g');
  const tables = (sql.match(all) ?? []).flatMap((mark) => tableNames.filter((table) => marks[table] === mark));
  return { pieces: sql.split(all), tables };
}

export function fillTemplate({ pieces, tables }: Template, relation: (table: TableName) => string): string {
  return pieces.reduce((sql, piece, index) => {
    const table = tables[index];
    return sql + piece + (table === undefined ? '' : relation(table));
  }, '');
}

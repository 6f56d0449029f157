import { isList, isNode, text, type Json, type Node } from './tree.ts';
import { fold } from './scope.ts';

/** SQL of a timestamp: the bounds stand in the tree as text that only we know, until the engine has written the SQL. */
export interface Bounds {
  readonly start?: string;
  readonly end?: string;
}

/** The checked tree with `time` bounds beneath every telemetry table: each becomes a subquery of the same name. */
export function bindWindow(tree: Json, bounds: Bounds): Json {
  if (isList(tree)) return tree.map((item) => bindWindow(item, bounds));
  if (!isNode(tree)) return tree;
  if (isTelemetryTable(tree)) return bounded(tree, bounds);
  const columns = tree['column_names'];
  const copy = Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, bindWindow(value, bounds)]));
  // `otel.spans.name`: the subquery has no schema.
  if (tree['class'] === 'COLUMN_REF' && isList(columns) && columns.length > 2 && fold(text(columns[0])) === 'otel') {
    return { ...copy, column_names: columns.slice(1) };
  }
  return copy;
}

function isTelemetryTable(node: Node): boolean {
  return node['type'] === 'BASE_TABLE' && fold(text(node['schema_name'])) === 'otel' && 'table_name' in node;
}

function bounded(table: Node, bounds: Bounds): Node {
  const comparisons = [
    ...(bounds.start === undefined ? [] : [compare('COMPARE_GREATERTHANOREQUALTO', bounds.start)]),
    ...(bounds.end === undefined ? [] : [compare('COMPARE_LESSTHAN', bounds.end)]),
  ];
  const [first, second] = comparisons;
  const where: Json =
    second === undefined
      ? (first ?? null)
      : { class: 'CONJUNCTION', type: 'CONJUNCTION_AND', alias: '', query_location: 0, children: comparisons };
  return {
    type: 'SUBQUERY',
    alias: text(table['alias']) === '' ? fold(text(table['table_name'])) : (table['alias'] ?? ''),
    sample: table['sample'] ?? null,
    query_location: 0,
    subquery: { node: select(table, where), named_param_map: [] },
    column_name_alias: table['column_name_alias'] ?? [],
  };
}

function select(table: Node, where: Json): Node {
  return {
    type: 'SELECT_NODE',
    modifiers: [],
    cte_map: { map: [] },
    select_list: [
      {
        class: 'STAR',
        type: 'STAR',
        alias: '',
        query_location: 0,
        relation_name: '',
        exclude_list: [],
        replace_list: [],
        columns: false,
        expr: null,
        qualified_exclude_list: [],
        rename_list: [],
      },
    ],
    from_table: { ...table, alias: '', sample: null, column_name_alias: [] },
    where_clause: where,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: 'STANDARD_HANDLING',
    having: null,
    sample: null,
    qualify: null,
  };
}

function compare(type: string, bound: string): Node {
  return {
    class: 'COMPARISON',
    type,
    alias: '',
    query_location: 0,
    left: { class: 'COLUMN_REF', type: 'COLUMN_REF', alias: '', query_location: 0, column_names: ['time'] },
    right: {
      class: 'CAST',
      type: 'OPERATOR_CAST',
      alias: '',
      query_location: 0,
      child: {
        class: 'CONSTANT',
        type: 'VALUE_CONSTANT',
        alias: '',
        query_location: 0,
        value: { type: { id: 'VARCHAR', type_info: null }, is_null: false, value: bound },
      },
      cast_type: { id: 'TIMESTAMP', type_info: null },
      try_cast: false,
    },
  };
}

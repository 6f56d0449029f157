import type { Shape } from '../../../src/contract/telemetry/index.ts';

const expression = { node: 'expression' } as const;
const expressions = { nodes: 'expression', levels: 2 } as const;
const relation = { node: 'relation' } as const;
const statement = { own: 'statement' } as const;
const type = { bare: 'type' } as const;
const unset = { own: 'unset' } as const;

const anyExpression = { class: 'plain', type: 'plain', alias: 'plain', query_location: 'plain' } as const;

const anyCall = {
  ...anyExpression,
  function_name: 'plain',
  schema: 'plain',
  catalog: 'absent',
  children: expressions,
  distinct: 'plain',
} as const;

/** Expression classes, by `class`. What is missing here is refused. */
export const expressionShapes = {
  COLUMN_REF: { ...anyExpression, column_names: 'names' },
  CONSTANT: { ...anyExpression, value: { bare: 'constant' } },
  POSITIONAL_REFERENCE: { ...anyExpression, index: 'plain' },
  FUNCTION: {
    ...anyCall,
    filter: expression,
    order_bys: { node: 'modifier' },
    is_operator: 'plain',
    export_state: 'absent',
  },
  WINDOW: {
    ...anyCall,
    partitions: expressions,
    orders: { bares: 'order_item' },
    start: 'plain',
    end: 'plain',
    start_expr: expression,
    end_expr: expression,
    offset_expr: expression,
    default_expr: expression,
    ignore_nulls: 'plain',
    filter_expr: expression,
    exclude_clause: 'plain',
    arg_orders: { bares: 'order_item' },
  },
  COMPARISON: { ...anyExpression, left: expression, right: expression },
  CONJUNCTION: { ...anyExpression, children: expressions },
  OPERATOR: { ...anyExpression, children: expressions },
  CAST: { ...anyExpression, child: expression, cast_type: type, try_cast: 'plain' },
  CASE: { ...anyExpression, case_checks: { bares: 'case_check' }, else_expr: expression },
  BETWEEN: { ...anyExpression, input: expression, lower: expression, upper: expression },
  SUBQUERY: {
    ...anyExpression,
    subquery_type: 'plain',
    subquery: statement,
    child: expression,
    comparison_type: 'plain',
  },
  STAR: {
    ...anyExpression,
    relation_name: 'plain',
    exclude_list: 'names',
    replace_list: { bares: 'replacement' },
    columns: 'plain',
    expr: expression,
    qualified_exclude_list: { bares: 'qualified_column' },
    rename_list: { bares: 'renaming' },
  },
  LAMBDA: { ...anyExpression, lhs: expression, expr: expression },
  COLLATE: { ...anyExpression, child: expression, collation: 'plain' },
} as const satisfies Readonly<Record<string, Shape>>;

const typeInfos = ['DECIMAL', 'LIST', 'STRUCT', 'ARRAY', 'UNBOUND', 'STRING'].map((kind) => `${kind}_TYPE_INFO`);

/** Nodes that do not tell their type, by the names used above. */
export const pieceShapes = {
  order_item: { type: 'plain', null_order: 'plain', expression },
  case_check: { when_expr: expression, then_expr: expression },
  replacement: { key: 'plain', value: expression },
  qualified_column: { catalog: 'absent', schema: 'plain', table: 'plain', column: 'plain' },
  renaming: { key: { bare: 'qualified_column' }, value: 'plain' },
  sample: { sample_size: { bare: 'constant' }, is_percentage: 'plain', method: 'plain', seed: 'plain' },
  pivot: {
    pivot_expressions: expressions,
    unpivot_names: 'names',
    entries: { bares: 'pivot_entry' },
    pivot_enum: 'absent',
  },
  pivot_entry: { values: { bares: 'constant' }, star_expr: expression, alias: 'plain' },
  cte: { aliases: 'names', query: statement, materialized: 'plain', key_targets: expressions },
  constant: { type: { ...type, levels: 0 }, is_null: 'plain', value: 'data' },
  type: { id: 'plain', type_info: { bare: 'type_info', levels: 0 } },
  type_info: {
    type: { oneOf: typeInfos },
    alias: unset,
    extension_info: unset,
    collation: unset,
    user_type_modifiers: unset,
    catalog: unset,
    schema: unset,
    name: 'plain',
    width: 'plain',
    scale: 'plain',
    size: 'plain',
    child_type: type,
    child_types: { bares: 'member' },
  },
  member: { first: 'plain', second: { ...type, levels: 0 } },
  // Here other functions are allowed.
  table_function: expressionShapes.FUNCTION,
} as const satisfies Readonly<Record<string, Shape>>;

const anyRelation = { type: 'plain', alias: 'plain', sample: { bare: 'sample' }, query_location: 'plain' } as const;

export const relationShapes = {
  EMPTY: anyRelation,
  BASE_TABLE: {
    ...anyRelation,
    schema_name: 'plain',
    table_name: 'plain',
    catalog_name: 'absent',
    column_name_alias: 'names',
    at_clause: 'absent',
  },
  SUBQUERY: { ...anyRelation, subquery: statement, column_name_alias: 'names' },
  JOIN: {
    ...anyRelation,
    left: relation,
    right: relation,
    condition: expression,
    join_type: 'plain',
    ref_type: 'plain',
    using_columns: 'names',
    delim_flipped: 'plain',
    duplicate_eliminated_columns: expressions,
  },
  TABLE_FUNCTION: {
    ...anyRelation,
    function: { own: 'table function' },
    column_name_alias: 'names',
    with_ordinality: 'plain',
  },
  EXPRESSION_LIST: {
    ...anyRelation,
    expected_names: 'names',
    expected_types: { bares: 'type' },
    values: { own: 'rows' },
  },
  PIVOT: {
    ...anyRelation,
    source: relation,
    aggregates: expressions,
    unpivot_names: 'names',
    pivots: { bares: 'pivot' },
    groups: 'names',
    column_name_alias: 'names',
    include_nulls: 'plain',
  },
} as const satisfies Readonly<Record<string, Shape>>;

// A hook walks the WITH queries, since each of them sees other names.
const anyQuery = { type: 'plain', modifiers: { nodes: 'modifier' }, cte_map: 'absent' } as const;
const query = { node: 'query' } as const;

export const queryShapes = {
  SELECT_NODE: {
    ...anyQuery,
    select_list: expressions,
    from_table: relation,
    where_clause: expression,
    group_expressions: expressions,
    group_sets: { own: 'numbers' },
    aggregate_handling: 'plain',
    having: expression,
    sample: { bare: 'sample' },
    qualify: expression,
  },
  SET_OPERATION_NODE: {
    ...anyQuery,
    setop_type: 'plain',
    left: query,
    right: query,
    setop_all: 'plain',
    children: { nodes: 'query' },
  },
  RECURSIVE_CTE_NODE: {
    ...anyQuery,
    cte_name: 'plain',
    union_all: 'plain',
    left: query,
    right: { own: 'recursive branch' },
    aliases: 'names',
    key_targets: expressions,
  },
} as const satisfies Readonly<Record<string, Shape>>;

export const modifierShapes = {
  ORDER_MODIFIER: { type: 'plain', orders: { bares: 'order_item' } },
  LIMIT_MODIFIER: { type: 'plain', limit: expression, offset: expression },
  LIMIT_PERCENT_MODIFIER: { type: 'plain', limit: expression, offset: expression },
  DISTINCT_MODIFIER: { type: 'plain', distinct_on_targets: expressions },
} as const satisfies Readonly<Record<string, Shape>>;

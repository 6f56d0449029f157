/** What may stand under a key of a syntax-tree node, and how it is checked. */
export type Part =
  /** A string, number, boolean or null that names nothing. */
  | 'plain'
  /** Must be null, '' , false or an empty list: a construct that is not let through. */
  | 'absent'
  | 'names'
  | 'expression'
  | 'expressions'
  | 'relation'
  | 'query'
  | 'order'
  | 'type'
  | 'types'
  | 'constant'
  | 'constants'
  /** Objects of the shape of that name. */
  | { readonly each: string }
  | { readonly one: string };

export type Shape = Readonly<Record<string, Part>>;

const expression = { class: 'plain', type: 'plain', alias: 'plain', query_location: 'plain' } as const;

/** Expression classes, by `class`. What is missing here is refused. */
export const expressionShapes: Readonly<Record<string, Shape>> = {
  COLUMN_REF: { ...expression, column_names: 'names' },
  CONSTANT: { ...expression, value: 'constant' },
  POSITIONAL_REFERENCE: { ...expression, index: 'plain' },
  FUNCTION: {
    ...expression,
    function_name: 'plain',
    schema: 'plain',
    catalog: 'absent',
    children: 'expressions',
    filter: 'expression',
    order_bys: 'order',
    distinct: 'plain',
    is_operator: 'plain',
    export_state: 'absent',
  },
  WINDOW: {
    ...expression,
    function_name: 'plain',
    schema: 'plain',
    catalog: 'absent',
    children: 'expressions',
    partitions: 'expressions',
    orders: { each: 'order_item' },
    start: 'plain',
    end: 'plain',
    start_expr: 'expression',
    end_expr: 'expression',
    offset_expr: 'expression',
    default_expr: 'expression',
    ignore_nulls: 'plain',
    filter_expr: 'expression',
    exclude_clause: 'plain',
    distinct: 'plain',
    arg_orders: { each: 'order_item' },
  },
  COMPARISON: { ...expression, left: 'expression', right: 'expression' },
  CONJUNCTION: { ...expression, children: 'expressions' },
  OPERATOR: { ...expression, children: 'expressions' },
  CAST: { ...expression, child: 'expression', cast_type: 'type', try_cast: 'plain' },
  CASE: { ...expression, case_checks: { each: 'case_check' }, else_expr: 'expression' },
  BETWEEN: { ...expression, input: 'expression', lower: 'expression', upper: 'expression' },
  SUBQUERY: {
    ...expression,
    subquery_type: 'plain',
    subquery: 'query',
    child: 'expression',
    comparison_type: 'plain',
  },
  STAR: {
    ...expression,
    relation_name: 'plain',
    exclude_list: 'names',
    replace_list: { each: 'replacement' },
    columns: 'plain',
    expr: 'expression',
    qualified_exclude_list: { each: 'qualified_column' },
    rename_list: { each: 'renaming' },
  },
  LAMBDA: { ...expression, lhs: 'expression', expr: 'expression' },
  COLLATE: { ...expression, child: 'expression', collation: 'plain' },
};

/** Smaller pieces, by the names used above. */
export const pieceShapes: Readonly<Record<string, Shape>> = {
  order_item: { type: 'plain', null_order: 'plain', expression: 'expression' },
  case_check: { when_expr: 'expression', then_expr: 'expression' },
  replacement: { key: 'plain', value: 'expression' },
  qualified_column: { catalog: 'absent', schema: 'plain', table: 'plain', column: 'plain' },
  renaming: { key: { one: 'qualified_column' }, value: 'plain' },
  sample: { sample_size: 'constant', is_percentage: 'plain', method: 'plain', seed: 'plain' },
  pivot: {
    pivot_expressions: 'expressions',
    unpivot_names: 'names',
    entries: { each: 'pivot_entry' },
    pivot_enum: 'absent',
  },
  pivot_entry: { values: 'constants', star_expr: 'expression', alias: 'plain' },
};

const relation = { type: 'plain', alias: 'plain', sample: { one: 'sample' }, query_location: 'plain' } as const;

/** FROM items, by `type`. */
export const relationShapes: Readonly<Record<string, Shape>> = {
  EMPTY: relation,
  BASE_TABLE: {
    ...relation,
    schema_name: 'plain',
    table_name: 'plain',
    catalog_name: 'absent',
    column_name_alias: 'names',
    at_clause: 'absent',
  },
  SUBQUERY: { ...relation, subquery: 'query', column_name_alias: 'names' },
  JOIN: {
    ...relation,
    left: 'relation',
    right: 'relation',
    condition: 'expression',
    join_type: 'plain',
    ref_type: 'plain',
    using_columns: 'names',
    delim_flipped: 'plain',
    duplicate_eliminated_columns: 'expressions',
  },
  // Its `function` is checked by itself: other functions are allowed there.
  TABLE_FUNCTION: { ...relation, function: 'plain', column_name_alias: 'names', with_ordinality: 'plain' },
  EXPRESSION_LIST: { ...relation, expected_names: 'names', expected_types: 'types', values: 'expressions' },
  PIVOT: {
    ...relation,
    source: 'relation',
    aggregates: 'expressions',
    unpivot_names: 'names',
    pivots: { each: 'pivot' },
    groups: 'names',
    column_name_alias: 'names',
    include_nulls: 'plain',
  },
};

/** Queries, by `type`; `modifiers` and `cte_map` are checked by themselves. */
export const queryShapes: Readonly<Record<string, Shape>> = {
  SELECT_NODE: {
    select_list: 'expressions',
    from_table: 'relation',
    where_clause: 'expression',
    group_expressions: 'expressions',
    group_sets: 'plain',
    aggregate_handling: 'plain',
    having: 'expression',
    sample: { one: 'sample' },
    qualify: 'expression',
  },
  SET_OPERATION_NODE: { setop_type: 'plain', left: 'plain', right: 'plain', setop_all: 'plain', children: 'plain' },
  RECURSIVE_CTE_NODE: {
    cte_name: 'plain',
    union_all: 'plain',
    left: 'plain',
    right: 'plain',
    aliases: 'names',
    key_targets: 'expressions',
  },
};

export const modifierShapes: Readonly<Record<string, Shape>> = {
  ORDER_MODIFIER: { type: 'plain', orders: { each: 'order_item' } },
  LIMIT_MODIFIER: { type: 'plain', limit: 'expression', offset: 'expression' },
  LIMIT_PERCENT_MODIFIER: { type: 'plain', limit: 'expression', offset: 'expression' },
  DISTINCT_MODIFIER: { type: 'plain', distinct_on_targets: 'expressions' },
};

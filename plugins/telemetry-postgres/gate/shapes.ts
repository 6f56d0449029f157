/** What may stand in a field of a syntax-tree node, and how it is checked. */
export type Part =
  /** A string, number or boolean that names nothing. */
  | 'plain'
  /** A name the caller gave. */
  | 'name'
  | 'names'
  | 'node'
  | 'nodes'
  /** An empty node stands for "nothing here": DISTINCT without ON, a function without column definitions. */
  | 'nodes or nothing'
  /** A node of that type without its wrapper. */
  | { readonly bare: string }
  | { readonly oneOf: readonly string[] };

export type Shape = Readonly<Record<string, Part>>;

const at = { location: 'plain' } as const;
const value = { ival: 'plain', fval: 'plain', sval: 'plain', bsval: 'plain', boolval: 'plain' } as const;

/** Node types that are let through, and their fields. What is missing here is refused. */
export const shapes: Readonly<Record<string, Shape>> = {
  SelectStmt: {
    distinctClause: 'nodes or nothing',
    targetList: 'nodes',
    fromClause: 'nodes',
    whereClause: 'node',
    groupClause: 'nodes',
    groupDistinct: 'plain',
    havingClause: 'node',
    windowClause: 'nodes',
    valuesLists: 'nodes',
    sortClause: 'nodes',
    limitOffset: 'node',
    limitCount: 'node',
    limitOption: { oneOf: ['LIMIT_OPTION_DEFAULT', 'LIMIT_OPTION_COUNT', 'LIMIT_OPTION_WITH_TIES'] },
    withClause: { bare: 'WithClause' },
    op: { oneOf: ['SETOP_NONE', 'SETOP_UNION', 'SETOP_INTERSECT', 'SETOP_EXCEPT'] },
    all: 'plain',
    larg: { bare: 'SelectStmt' },
    rarg: { bare: 'SelectStmt' },
  },
  WithClause: { ...at, ctes: 'nodes', recursive: 'plain' },
  CommonTableExpr: {
    ...at,
    ctename: 'name',
    aliascolnames: 'names',
    ctematerialized: { oneOf: ['CTEMaterializeDefault', 'CTEMaterializeAlways', 'CTEMaterializeNever'] },
    ctequery: 'node',
    search_clause: { bare: 'CTESearchClause' },
    cycle_clause: { bare: 'CTECycleClause' },
  },
  CTESearchClause: { ...at, search_col_list: 'names', search_breadth_first: 'plain', search_seq_column: 'name' },
  CTECycleClause: {
    ...at,
    cycle_col_list: 'names',
    cycle_mark_column: 'name',
    cycle_mark_value: 'node',
    cycle_mark_default: 'node',
    cycle_path_column: 'name',
  },
  ResTarget: { ...at, name: 'name', val: 'node' },
  SortBy: {
    ...at,
    node: 'node',
    sortby_dir: { oneOf: ['SORTBY_DEFAULT', 'SORTBY_ASC', 'SORTBY_DESC'] },
    sortby_nulls: 'plain',
  },
  WindowDef: {
    ...at,
    name: 'name',
    refname: 'name',
    partitionClause: 'nodes',
    orderClause: 'nodes',
    frameOptions: 'plain',
    startOffset: 'node',
    endOffset: 'node',
  },
  GroupingSet: { ...at, kind: 'plain', content: 'nodes' },

  // FROM items; what a RangeVar names is looked at by itself.
  RangeVar: {
    ...at,
    schemaname: 'plain',
    relname: 'plain',
    inh: 'plain',
    relpersistence: { oneOf: ['p'] },
    alias: { bare: 'Alias' },
  },
  RangeSubselect: { lateral: 'plain', subquery: 'node', alias: { bare: 'Alias' } },
  RangeFunction: {
    lateral: 'plain',
    ordinality: 'plain',
    is_rowsfrom: 'plain',
    functions: 'nodes',
    alias: { bare: 'Alias' },
    coldeflist: 'nodes',
  },
  ColumnDef: { ...at, colname: 'name', typeName: { bare: 'TypeName' }, is_local: 'plain' },
  JoinExpr: {
    jointype: { oneOf: ['JOIN_INNER', 'JOIN_LEFT', 'JOIN_FULL', 'JOIN_RIGHT'] },
    isNatural: 'plain',
    larg: 'node',
    rarg: 'node',
    usingClause: 'names',
    join_using_alias: { bare: 'Alias' },
    quals: 'node',
    alias: { bare: 'Alias' },
    rtindex: 'plain',
  },
  Alias: { aliasname: 'name', colnames: 'names' },

  // Expressions; names of functions, operators, types and columns are looked at by themselves.
  A_Const: {
    ...at,
    isnull: 'plain',
    ival: { bare: 'Value' },
    fval: { bare: 'Value' },
    sval: { bare: 'Value' },
    bsval: { bare: 'Value' },
    boolval: { bare: 'Value' },
  },
  Value: value,
  Integer: { ival: 'plain' },
  ColumnRef: { ...at, fields: 'nodes' },
  String: { sval: 'name' },
  A_Star: {},
  A_Expr: {
    ...at,
    kind: {
      oneOf: [
        'AEXPR_OP',
        'AEXPR_OP_ANY',
        'AEXPR_OP_ALL',
        'AEXPR_DISTINCT',
        'AEXPR_NOT_DISTINCT',
        'AEXPR_NULLIF',
        'AEXPR_IN',
        'AEXPR_LIKE',
        'AEXPR_ILIKE',
        'AEXPR_SIMILAR',
        'AEXPR_BETWEEN',
        'AEXPR_NOT_BETWEEN',
        'AEXPR_BETWEEN_SYM',
        'AEXPR_NOT_BETWEEN_SYM',
      ],
    },
    name: 'names',
    lexpr: 'node',
    rexpr: 'node',
    rexpr_list_start: 'plain',
    rexpr_list_end: 'plain',
  },
  BoolExpr: { ...at, boolop: { oneOf: ['AND_EXPR', 'OR_EXPR', 'NOT_EXPR'] }, args: 'nodes' },
  NullTest: { ...at, arg: 'node', nulltesttype: 'plain' },
  BooleanTest: { ...at, arg: 'node', booltesttype: 'plain' },
  CaseExpr: { ...at, arg: 'node', args: 'nodes', defresult: 'node' },
  CaseWhen: { ...at, expr: 'node', result: 'node' },
  CoalesceExpr: { ...at, args: 'nodes' },
  MinMaxExpr: { ...at, op: { oneOf: ['IS_GREATEST', 'IS_LEAST'] }, args: 'nodes' },
  RowExpr: { ...at, args: 'nodes', row_format: 'plain' },
  A_ArrayExpr: { ...at, elements: 'nodes', list_start: 'plain', list_end: 'plain' },
  A_Indirection: { arg: 'node', indirection: 'nodes' },
  A_Indices: { is_slice: 'plain', lidx: 'node', uidx: 'node' },
  CollateClause: { ...at, arg: 'node', collname: 'names' },
  TypeCast: { ...at, arg: 'node', typeName: { bare: 'TypeName' } },
  TypeName: { ...at, names: 'names', typmods: 'nodes', typemod: 'plain', arrayBounds: 'nodes' },
  SQLValueFunction: {
    ...at,
    op: {
      oneOf: [
        'SVFOP_CURRENT_DATE',
        'SVFOP_CURRENT_TIME',
        'SVFOP_CURRENT_TIME_N',
        'SVFOP_CURRENT_TIMESTAMP',
        'SVFOP_CURRENT_TIMESTAMP_N',
        'SVFOP_LOCALTIME',
        'SVFOP_LOCALTIME_N',
        'SVFOP_LOCALTIMESTAMP',
        'SVFOP_LOCALTIMESTAMP_N',
      ],
    },
    typmod: 'plain',
  },
  FuncCall: {
    ...at,
    funcname: 'names',
    args: 'nodes',
    agg_order: 'nodes',
    agg_filter: 'node',
    over: { bare: 'WindowDef' },
    agg_within_group: 'plain',
    agg_star: 'plain',
    agg_distinct: 'plain',
    func_variadic: 'plain',
    funcformat: { oneOf: ['COERCE_EXPLICIT_CALL', 'COERCE_SQL_SYNTAX'] },
  },
  NamedArgExpr: { ...at, name: 'name', arg: 'node', argnumber: 'plain' },
  GroupingFunc: { ...at, args: 'nodes' },
  SubLink: {
    ...at,
    subLinkType: { oneOf: ['EXISTS_SUBLINK', 'ALL_SUBLINK', 'ANY_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK'] },
    testexpr: 'node',
    operName: 'names',
    subselect: 'node',
  },
  List: { items: 'nodes or nothing' },
};

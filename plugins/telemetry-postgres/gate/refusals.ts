/** What to write instead of a statement that is not a SELECT, by its node type. */
export const statementHints: Readonly<Record<string, string>> = {
  ExplainStmt: 'Run the query itself; its elapsed time comes with the result.',
  VariableShowStmt: 'Settings are not readable. Send SHOW TABLES or DESCRIBE otel.spans.',
  VariableSetStmt: 'Settings cannot be changed; times are in UTC.',
  TransactionStmt: 'Each statement runs by itself.',
  PrepareStmt: 'Send the SELECT itself.',
  ExecuteStmt: 'Send the SELECT itself.',
  CopyStmt: 'Send a SELECT; the rows come with the answer.',
  CreateStmt: 'Use WITH name AS (SELECT …) instead of a table.',
  CreateTableAsStmt: 'Use WITH name AS (SELECT …) instead of a table.',
  ViewStmt: 'Use WITH name AS (SELECT …) instead of a view.',
};

/** Statements that write nothing, so that "read-only" would be the wrong complaint. */
export const readingStatements: ReadonlySet<string> = new Set(['ExplainStmt', 'VariableShowStmt']);

/** What to write instead of a construct that is not let through, by node type or `Type.field`. */
export const constructHints: Readonly<Record<string, string>> = {
  ParamRef: 'Parameters are not available: write the value into the SQL.',
  RangeTableSample: 'Sample by hand: WHERE random() < 0.1.',
  RangeTableFunc: 'Use jsonb_to_recordset(x) AS t(a text, b int) or jsonb_path_query.',
  JsonTable: 'Use jsonb_to_recordset(x) AS t(a text, b int) or jsonb_path_query.',
  JsonFuncExpr: "Use body::jsonb->>'key', jsonb_path_query_first or jsonb_path_exists.",
  JsonObjectConstructor: "Use jsonb_build_object('key', value).",
  JsonArrayConstructor: 'Use jsonb_build_array(a, b).',
  JsonArrayQueryConstructor: 'Use jsonb_agg(x) in a subquery.',
  JsonObjectAgg: 'Use jsonb_object_agg(key, value).',
  JsonArrayAgg: 'Use jsonb_agg(x ORDER BY y).',
  JsonIsPredicate: "Test the text instead: body LIKE '{%'.",
  JsonParseExpr: 'Use body::jsonb.',
  JsonScalarExpr: 'Use to_jsonb(x).',
  JsonSerializeExpr: 'Use x::text.',
  XmlExpr: 'XML is not available.',
  XmlSerialize: 'XML is not available.',
  'SelectStmt.intoClause': 'Leave out INTO: the rows come with the answer.',
  'SelectStmt.lockingClause': 'Leave out FOR UPDATE and FOR SHARE: nothing is locked.',
  'SortBy.useOp': 'Write ASC or DESC.',
  'SortBy.sortby_dir': 'Write ASC or DESC.',
  'SQLValueFunction.op': 'Who and where the session is cannot be read.',
  'RangeVar.catalogname': 'The tables are otel.spans, otel.metrics, otel.logs.',
  'TypeName.setof': 'Leave out SETOF.',
  'TypeName.pct_type': 'Name the type itself: text, bigint, timestamptz.',
  CurrentOfExpr: 'There are no cursors.',
  SetToDefault: 'DEFAULT stands only in INSERT.',
};

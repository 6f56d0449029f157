import type { SightlineError } from '../../../src/contract/core/index.ts';
import { shownName, type Node, type SqlHelpers } from '../../../src/contract/telemetry/index.ts';
import { functionHints, functionNames } from './functions.ts';
import type { PostgresStatement } from './tree.ts';

/** What to write instead of a statement that is not a SELECT, by its node type. */
const statementHints: Readonly<Record<string, string>> = {
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
const readingStatements: ReadonlySet<string> = new Set(['ExplainStmt', 'VariableShowStmt']);

/** What to write instead of a construct that is not allowed, by node type or `Type.field`. */
const constructHints: Readonly<Record<string, string>> = {
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

/** What the gate says to a caller: where, why, and what to write instead. */
export class Refusals {
  readonly #statement: PostgresStatement;
  readonly #helpers: SqlHelpers;

  constructor(statement: PostgresStatement, helpers: SqlHelpers) {
    this.#statement = statement;
    this.#helpers = helpers;
  }

  notSelect(type: string): SightlineError {
    const name = type
      .replace(/Stmt$/, '')
      .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toUpperCase();
    return this.#helpers.refuse(
      readingStatements.has(type) ? 'sql_refused' : 'sql_not_read_only',
      `${name === '' ? 'This statement' : name} is not available; only a SELECT is.`,
      { hint: statementHints[type] ?? 'The telemetry is read-only: send one SELECT.' },
    );
  }

  construct(what: string, node?: Node): SightlineError {
    const hint = constructHints[what] ?? constructHints[what.split('.')[0] ?? ''];
    const otherwise = 'Write it as a plain SELECT over otel.spans, otel.metrics and otel.logs.';
    return this.#refused(`The statement uses a construct that is not allowed (${what}).`, node, hint ?? otherwise);
  }

  unknownTable(name: string, node: Node): SightlineError {
    return this.#helpers.unknownTable(name, this.#at(node));
  }

  unknownFunction(name: string, node: Node): SightlineError {
    const hint = functionHints[name];
    return this.#helpers.unknownFunction(name, functionNames, {
      ...this.#at(node),
      ...(hint !== undefined && { hint }),
    });
  }

  qualifiedFunction(name: string, node: Node): SightlineError {
    const hint = `Write ${shownName(name.slice(name.lastIndexOf('.') + 1))}(…) without a schema.`;
    return this.#refused(`Functions of a schema are not available (${shownName(name)}).`, node, hint);
  }

  tooManyElements(name: string, limit: number, node: Node): SightlineError {
    return this.#refused(`${name} would make more than ${limit} elements.`, node, `Stay below ${limit}.`);
  }

  unboundedLength(name: string, node: Node): SightlineError {
    const hint = 'Give it a bound: repeat(x, least(n, 100)), lpad(x, 20).';
    return this.#refused(`How long the value of ${name} is, only the rows say.`, node, hint);
  }

  tooLong(name: string, limit: number, node: Node): SightlineError {
    const hint = 'Make shorter ones: left(x, 1000), a smaller count.';
    return this.#refused(`${name} would make values of more than ${limit} characters.`, node, hint);
  }

  tooMuchHeld(name: string, node: Node): SightlineError {
    const hint = 'Aggregate shorter values or fewer rows: left(x, 200), a subquery with LIMIT.';
    return this.#refused(`${name} would hold more than a query may have in memory.`, node, hint);
  }

  heldInHeld(node: Node): SightlineError {
    const hint = 'Compute the inner one in a subquery of FROM.';
    return this.#refused('An aggregate that keeps its values stands in the argument of another.', node, hint);
  }

  type(name: string, node: Node): SightlineError {
    const hint =
      'Use text, bigint, double precision, numeric, boolean, timestamptz, date, interval, jsonb or arrays of them.';
    return this.#refused(`The type ${shownName(name)} is not available.`, node, hint);
  }

  operator(name: string, node: Node): SightlineError {
    const hint = 'Use the operators of PostgreSQL itself for numbers, text, times, jsonb and arrays, without a schema.';
    return this.#refused(`The operator ${shownName(name)} is not available.`, node, hint);
  }

  collation(name: string, node: Node): SightlineError {
    return this.#refused(`The collation ${shownName(name)} is not available.`, node, 'Use COLLATE "C".');
  }

  configuration(name: string, node: Node): SightlineError {
    const hint = `Write ${name}('simple', …).`;
    return this.#refused(`${name} takes the plain name of a configuration first.`, node, hint);
  }

  only(node: Node): SightlineError {
    return this.#refused('ONLY is not available.', node, 'Name the table alone.');
  }

  spelling(): SightlineError {
    const hint = 'Write otel.spans, otel.metrics or otel.logs.';
    return this.#refused('The name of a telemetry table is written with Unicode escapes.', undefined, hint);
  }

  systemName(name: string, node: Node): SightlineError {
    return this.#refused(`A WITH query may not be called ${shownName(name)}.`, node, 'Give it another name.');
  }

  systemColumn(name: string, node: Node): SightlineError {
    const hint = 'Name columns of the table; DESCRIBE otel.spans lists them.';
    return this.#refused(`System columns are not available (${shownName(name)}).`, node, hint);
  }

  qualifier(names: readonly (string | undefined)[], node: Node): SightlineError {
    const written = names.map((name) => name ?? '*').join('.');
    const hint = "Write alias.column. A key of a map is attributes->>'http.route'.";
    return this.#refused(`The column ${shownName(written)} cannot be told.`, node, hint);
  }

  field(name: string, node: Node): SightlineError {
    const hint = 'Give the column its name in the FROM item: … AS alias(column), then alias.column.';
    return this.#refused(`${shownName(name)} cannot follow a dot here, where it could be a function.`, node, hint);
  }

  #refused(message: string, node: Node | undefined, hint: string): SightlineError {
    return this.#helpers.refuse('sql_refused', message, { hint, ...(node && this.#at(node)) });
  }

  #at(node: Node): { readonly position?: number } {
    const position = this.#statement.position(node['location']);
    return position === undefined ? {} : { position };
  }
}

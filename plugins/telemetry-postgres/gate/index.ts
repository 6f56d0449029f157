import type {
  CheckedStatement,
  GatedStatement,
  ParsedStatement,
  SqlHelpers,
  TableName,
} from '../../../src/contract/telemetry/index.ts';
import { Checker } from './check.ts';
import { countHeld } from './counted.ts';
import { saysFewRows } from './bounds.ts';
import { Parser } from './parser.ts';
import { reachesOf } from './reach.ts';
import { readStatement, Template } from './read.ts';
import { only, PostgresStatement } from './tree.ts';

export { functionNames } from './functions.ts';

/** A statement that the gate let through, with holes where telemetry tables stand. */
class CheckedPostgres implements CheckedStatement, GatedStatement {
  readonly tree: PostgresStatement;
  readonly tables: CheckedStatement['tables'];
  readonly reaches: CheckedStatement['reaches'];
  readonly saysFewRows: boolean;
  readonly isOfItsMoment: boolean;
  readonly #template: Template;

  constructor(tree: PostgresStatement, { places, selects, isOfItsMoment }: Checker, template: Template) {
    this.tree = tree;
    this.tables = [...new Set(places.filter(({ kind }) => kind === 'table').map(({ table }) => table))];
    this.reaches = reachesOf(selects);
    this.saysFewRows = saysFewRows(tree.tree);
    this.isOfItsMoment = isOfItsMoment;
    this.#template = template;
  }

  write(relation: (table: TableName) => string): string {
    return this.#template.write(relation);
  }

  writeApart(relation: (table: TableName) => string): string {
    const withs = only('SelectStmt', this.tree.tree)?.['withClause'] !== undefined;
    return this.#template.writeApart(relation, withs);
  }
}

/** The firewall before PostgreSQL: only what it wrote itself, from a tree it knows all of, is sent. */
export interface PostgresGate {
  /** Throws sql_too_large, sql_syntax, sql_multiple_statements, sql_refused. */
  parse(sql: string): Promise<ParsedStatement>;
  /** Throws sql_refused, sql_not_read_only, unknown_table, unknown_function. */
  check(parsed: ParsedStatement): CheckedStatement;
  /** `write` and `writeApart` put together what is sent: they cost next to nothing, as often as they are asked. */
  template(
    checked: CheckedStatement,
  ): Pick<CheckedPostgres, 'tables' | 'write' | 'writeApart' | 'saysFewRows' | 'isOfItsMoment'>;
}

/** Loads PostgreSQL's own parser, which takes some ten milliseconds and a few megabytes. */
export async function openGate(helpers: SqlHelpers): Promise<PostgresGate> {
  const parser = new Parser();
  await parser.parse('SELECT 1');
  return {
    parse: async (sql) => ({ tree: await readStatement(sql, parser, helpers) }),
    check({ tree }) {
      if (!(tree instanceof PostgresStatement)) throw new TypeError('a statement that this gate did not parse');
      const checker = new Checker(tree, helpers);
      checker.check(tree.tree);
      const tokens = countHeld(tree.tokens, checker.counted, checker.refusals);
      const template = new Template(tokens, checker.places, () => checker.refusals.spelling());
      return new CheckedPostgres(tree, checker, template);
    },
    template(checked) {
      if (!(checked instanceof CheckedPostgres)) throw new TypeError('a statement that this gate did not check');
      return checked;
    },
  };
}

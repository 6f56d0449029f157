import type { GatePolicy, TableName, TimeReach } from '../../contract/telemetry/index.ts';
import type { Queries } from './derived.ts';
import { shown, type Faults } from './fault.ts';
import { grammars, type Grammar, type FunctionNames } from './grammar.ts';
import { writeName } from './quoted.ts';
import type { Scope } from './scope.ts';
import type { Expression, Given, Name, Query } from './tree.ts';

/** Telemetry tables in all: more become the engine's work before ours. */
const maxReads = 64;

/** No caller may use a name that begins like ours. */
const ours = /^_?sightline_/i;

/** What writing one part of a tree needs of the others. */
export interface Writers {
  readonly expression: (output: Output, scope: Scope, expression: Expression) => void;
  readonly query: (output: Output, scope: Scope, query: Query) => void;
}

interface OutputOptions {
  readonly policy: GatePolicy;
  readonly functions: FunctionNames;
  readonly faults: Faults;
  /** Names that expressions are given anywhere in the statement, lower case. */
  readonly aliases: ReadonlySet<string>;
  readonly given: Given;
  readonly queries: Queries;
  readonly writers: Writers;
}

/** What is being written, and what has been found on the way. Telemetry tables stand in it as holes. */
export class Output {
  readonly policy: GatePolicy;
  readonly faults: Faults;
  readonly grammar: Grammar;
  readonly functions: FunctionNames;
  readonly aliases: ReadonlySet<string>;
  readonly given: Given;
  readonly queries: Queries;
  readonly pieces: (string | { readonly table: TableName })[] = [];
  readonly tables = new Set<TableName>();
  readonly reaches: TimeReach[] = [];
  #text = '';
  #withNames = 0;
  #reads = 0;

  readonly #writers: Writers;

  constructor({ policy, functions, faults, aliases, given, queries, writers }: OutputOptions) {
    this.aliases = aliases;
    this.given = given;
    this.queries = queries;
    this.#writers = writers;
    this.policy = policy;
    this.faults = faults;
    this.grammar = grammars[policy.dialect];
    this.functions = functions;
  }

  get isBigQuery(): boolean {
    return this.policy.dialect === 'bigquery';
  }

  expression(scope: Scope, expression: Expression): void {
    this.#writers.expression(this, scope, expression);
  }

  query(scope: Scope, query: Query): void {
    this.#writers.query(this, scope, query);
  }

  text(text: string): void {
    this.#text += text;
  }

  table(table: TableName): void {
    this.finish();
    this.pieces.push({ table });
    this.tables.add(table);
  }

  finish(): void {
    this.pieces.push(this.#text);
    this.#text = '';
  }

  name(name: Name): void {
    this.text(this.quote(name));
  }

  quote(name: Name): string {
    const written = writeName(name.text, this.policy.dialect);
    if (written === undefined || ours.test(name.text)) {
      const hint = 'Use letters, digits and underscores.';
      throw this.faults.refuse('sql_refused', `The name ${shown(name.text)} cannot be used.`, name.start, hint);
    }
    return written;
  }

  /** Counts telemetry tables that are read, a query of WITH once for each place that names it. */
  read(tables: number): void {
    this.#reads += Math.max(1, tables);
    if (this.#reads > maxReads) throw this.tooManyTables();
  }

  get reads(): number {
    return this.#reads;
  }

  tooManyTables(): Error {
    const hint = 'Join or unite fewer tables, in several smaller statements.';
    return this.faults.refuse('sql_refused', 'The statement reads too many tables.', undefined, hint);
  }

  /** After a dot in an expression, where a key of a JSON value may stand: attributes.`http.route`. */
  quoteMember(name: Name): string {
    return this.isBigQuery && name.quoted && /^[\w.-]{1,300}$/.test(name.text) ? `\`${name.text}\`` : this.quote(name);
  }

  nextQueryName(): string {
    this.#withNames += 1;
    return `sightline_with_${this.#withNames}`;
  }

  /** Each item with commas between. */
  list<T>(items: readonly T[], write: (item: T) => void): void {
    for (const [index, item] of items.entries()) {
      if (index > 0) this.text(', ');
      write(item);
    }
  }
}

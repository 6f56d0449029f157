import type { GatedStatement, GatePolicy, SqlGate, SqlGates, SqlHelpers } from '../../contract/telemetry/index.ts';
import { queriesOf } from './derived.ts';
import { Faults } from './fault.ts';
import { FunctionNames, grammars } from './grammar.ts';
import { Output } from './output.ts';
import { parse } from './parse-query.ts';
import { foldName, Scope } from './scope.ts';
import { type Name, type Query, surveyed } from './tree.ts';
import { writeExpression } from './write-expression.ts';
import { writeQuery } from './write-query.ts';

/**
 * Parses a statement into a tree that has nodes only for allowed constructs, and regenerates SQL from it. No caller text is
 * sent verbatim: names are quoted, strings escaped by us, operators bracketed.
 */
export const sqlGates: SqlGates = {
  open: async (policy, helpers) => openGate(policy, helpers),
};

function openGate(policy: GatePolicy, helpers: SqlHelpers): SqlGate {
  const functions = FunctionNames.of(policy);
  return {
    async admit(sql, signal): Promise<GatedStatement> {
      signal.throwIfAborted();
      const faults = new Faults(helpers, sql);
      const query = parse(sql, policy.dialect, faults);
      const given = surveyed(query, faults);
      const aliases: ReadonlySet<string> = new Set(given.keys());
      checkExpansion(query, aliases, faults);
      const fold = grammars[policy.dialect].namesAreCaseSensitive ? (name: string) => name : foldName;
      const output = new Output({
        policy,
        functions,
        faults,
        aliases,
        given,
        queries: queriesOf(query, fold),
        writers: { expression: writeExpression, query: writeQuery },
      });
      writeQuery(output, new Scope(fold), query);
      output.finish();
      const { pieces, tables, reaches } = output;
      return {
        tables: [...tables],
        reaches,
        write: (relation) =>
          pieces.map((piece) => (typeof piece === 'string' ? piece : relation(piece.table))).join(''),
      };
    },
  };
}

/** ClickHouse's analyzer takes seconds for ten times as many, and no time limit stops it. */
const maxExpanded = 20_000;
const maxChain = 100;

interface Definition {
  size: number;
  readonly uses: Map<string, number>;
}

/**
 * Names that expressions are given (`a + a AS b, b + b AS c, …`) are put in place of each use before a query is planned,
 * which doubles it with every step. Counts what comes of them, and refuses what is out of proportion.
 */
function checkExpansion(query: Query, names: ReadonlySet<string>, faults: Faults): void {
  const definitions = new Map<string, Definition[]>();
  collect(query, names, [], definitions);
  const sizes = new Map<string, number>();
  const refuse = (): Error => {
    const hint = 'Use each name fewer times, or compute it in a subquery.';
    return faults.refuse('sql_refused', 'The names of expressions use each other too often.', undefined, hint);
  };
  const sizeOf = (name: string, depth: number): number => {
    const known = sizes.get(name);
    if (known !== undefined) return known;
    if (depth > maxChain) throw refuse();
    // A name that means itself on the way is a column of the same name.
    sizes.set(name, 1);
    let largest = 1;
    for (const { size, uses } of definitions.get(name) ?? []) {
      let sum = size;
      for (const [used, times] of uses) sum += times * sizeOf(used, depth + 1);
      if (sum > maxExpanded) throw refuse();
      largest = Math.max(largest, sum);
    }
    sizes.set(name, largest);
    return largest;
  };
  for (const name of definitions.keys()) sizeOf(name, 0);
}

/** Of every name: how many nodes it stands for, and which names are used in it. */
function collect(
  value: object,
  names: ReadonlySet<string>,
  within: readonly Definition[],
  definitions: Map<string, Definition[]>,
): void {
  const name = 'kind' in value && (value.kind === 'alias' || value.kind === 'value') ? ownName(value) : undefined;
  const inner = name === undefined ? within : [...within, definition(definitions, name)];
  for (const each of inner) each.size += 1;
  if ('kind' in value && value.kind === 'name' && 'parts' in value && Array.isArray(value.parts)) {
    const parts: readonly unknown[] = value.parts;
    const used = isName(parts[0]) ? parts[0].text.toLowerCase() : '';
    if (names.has(used)) for (const { uses } of inner) uses.set(used, (uses.get(used) ?? 0) + 1);
    return;
  }
  const children: readonly unknown[] = Object.values(value);
  for (const child of children)
    if (typeof child === 'object' && child !== null) collect(child, names, inner, definitions);
}

function definition(definitions: Map<string, Definition[]>, name: string): Definition {
  const made: Definition = { size: 0, uses: new Map() };
  const known = definitions.get(name);
  if (known === undefined) definitions.set(name, [made]);
  else known.push(made);
  return made;
}

function ownName(value: object): string | undefined {
  return 'name' in value && isName(value.name) ? value.name.text.toLowerCase() : undefined;
}

function isName(value: unknown): value is Name {
  return typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string';
}

import type { GatedStatement, GatePolicy, SqlGate, SqlGates, SqlHelpers } from '../../contract/telemetry/index.ts';
import { DerivedQueries } from './derived.ts';
import { checkExpansion } from './expansion.ts';
import { Faults } from './fault.ts';
import { FunctionNames, grammars } from './grammar.ts';
import { Output } from './output.ts';
import { parse } from './parse-query.ts';
import { foldName, Scope } from './scope.ts';
import { surveyed } from './tree.ts';
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
        queries: new DerivedQueries(query, fold),
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

import { SightlineError } from '../../contract/core/index.ts';
import {
  otelTables,
  shownName,
  tableNames,
  type LogicalTable,
  type ReadRules,
  type SqlHelpers,
  type TableName,
} from '../../contract/telemetry/index.ts';
import { treeWalk } from '../gate/allow-list.ts';
import { readableTable } from './governance.ts';
import { nearest, nearestFunctions } from './nearest.ts';

/** A name out of a caller's SQL as our messages show it: short, on one line, without control characters. */
export function quoteName(name: string): string {
  return `"${shownName(name)}"`;
}

/** Names that were not found, so that the pipeline, which knows the statement's tables, can say more than a plugin could. */
const unknownNames = new WeakMap<SightlineError, string>();

/** The name that an error of `unknownColumn` or `unknownTable` is about. */
export function unknownNameOf(error: SightlineError): string | undefined {
  return unknownNames.get(error);
}

/** What every telemetry plugin says in the same words: see the contract. */
export const sqlHelpers: SqlHelpers = {
  tables: otelTables,
  nearest,
  refuse: (code, message, details) => new SightlineError(code, message, details),
  unknownTable(name, details) {
    const error = new SightlineError('unknown_table', `There is no table ${quoteName(name)}.`, {
      hint: tableHint(name, tableNames),
      ...details,
    });
    unknownNames.set(error, name);
    return error;
  },
  unknownFunction(name, functions, details) {
    const near = nearestFunctions(name, functions);
    return new SightlineError(
      'unknown_function',
      `The function ${quoteName(name)} does not exist or is not available here.`,
      {
        hint:
          near.length === 0
            ? 'Only functions that read nothing but their arguments are available.'
            : `Did you mean ${near.join(' or ')}?`,
        ...details,
      },
    );
  },
  unknownColumn(name, tables, details) {
    const error = new SightlineError('unknown_column', `There is no column ${quoteName(name)}.`, {
      hint: columnHint(name, tables, undefined),
      ...details,
    });
    unknownNames.set(error, name);
    return error;
  },
  treeWalk,
};

/** The nearest table and all there are. */
export function tableHint(name: string, tables: readonly TableName[]): string {
  const [near] = nearest(lastPart(name), tables);
  const list = tables.map((table) => `otel.${table}`).join(', ');
  return `${near === undefined ? '' : `Did you mean otel.${near}? `}The tables are ${list}.`;
}

/** The nearest columns and all there are, without those that the rules deny. */
export function columnHint(name: string, tables: readonly TableName[], rules: ReadRules | undefined): string {
  const asked = (tables.length === 0 ? tableNames : tables).map((table) => readableTable(otelTables[table], rules));
  const wanted = lastPart(name);
  // A name that exists was refused for what stands before it.
  const near = nearest(
    wanted,
    asked.flatMap(columnNames).filter((column) => column !== wanted.toLowerCase()),
  );
  const lists = asked.map((table) => `Columns of otel.${table.name}: ${columnNames(table).join(', ')}.`);
  return [...(near.length === 0 ? [] : [`Did you mean ${near.join(' or ')}?`]), ...lists].join(' ');
}

function columnNames({ columns }: LogicalTable): readonly string[] {
  return columns.map((column) => column.name);
}

/** `otel.traces`, `"otel"."traces"` → `traces`. */
export function lastPart(name: string): string {
  const bare = name.replace(/["`[\]]/g, '');
  return bare.slice(bare.lastIndexOf('.') + 1);
}

import { otelTables, SightlineError, tableNames } from '../contract/index.ts';
import type { SqlHelpers } from '../contract/index.ts';
import { nearest } from './nearest.ts';

/** A name out of a caller's SQL as our messages show it: short, on one line, without control characters. */
export function quoteName(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return `"${plain.length > 80 ? `${plain.slice(0, 80)}…` : plain}"`;
}

const allTables = tableNames.map((table) => `otel.${table}`).join(', ');

/** What every telemetry plugin says in the same words: see the contract. */
export const sqlHelpers: SqlHelpers = {
  tables: otelTables,
  nearest,
  refuse: (code, message, details) => new SightlineError(code, message, details),
  unknownTable(name, details) {
    const [near] = nearest(lastPart(name), tableNames);
    return new SightlineError('unknown_table', `There is no table ${quoteName(name)}.`, {
      hint: `${near === undefined ? '' : `Did you mean otel.${near}? `}The tables are ${allTables}.`,
      ...details,
    });
  },
  unknownColumn(name, tables, details) {
    const asked = tables.length === 0 ? tableNames : tables;
    const near = nearest(
      lastPart(name),
      asked.flatMap((table) => otelTables[table].columns.map((column) => column.name)),
    );
    const lists = asked.map(
      (table) => `Columns of otel.${table}: ${otelTables[table].columns.map((column) => column.name).join(', ')}.`,
    );
    return new SightlineError('unknown_column', `There is no column ${quoteName(name)}.`, {
      hint: [...(near.length === 0 ? [] : [`Did you mean ${near.join(' or ')}?`]), ...lists].join(' '),
      ...details,
    });
  },
};

/** `otel.traces`, `"otel"."traces"` → `traces`. */
function lastPart(name: string): string {
  const bare = name.replace(/["`[\]]/g, '');
  return bare.slice(bare.lastIndexOf('.') + 1);
}

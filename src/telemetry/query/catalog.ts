import { tableNames, type Dialect, type LogicalTable, type ReadRules } from '../../contract/telemetry/index.ts';
import { readableTable } from './governance.ts';
import { quoteName, sqlHelpers } from './helpers.ts';
import type { QueryColumn } from './result.ts';
import { likeMatcher } from './service-command.ts';

/** Rows that the service makes itself. */
export interface ServiceAnswer {
  readonly columns: readonly QueryColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly warnings: readonly string[];
}

/** `SHOW TABLES`. */
export function showTables(dialect: Dialect, like: string | undefined): ServiceAnswer {
  const text = dialect.typeName('string');
  const wanted = like === undefined ? () => true : likeMatcher(like);
  const rows = dialect.tables
    .filter((table) => wanted(table.name) || wanted(`otel.${table.name}`))
    .map((table) => [`otel.${table.name}`, table.description]);
  return { columns: [own('table', text), own('description', text)], rows, warnings: [] };
}

/** `DESCRIBE otel.spans`, as far as the rules let this caller read it. Throws unknown_table. */
export function describeTable(
  dialect: Dialect,
  name: string,
  like: string | undefined,
  rules: ReadRules | undefined,
): ServiceAnswer {
  const text = dialect.typeName('string');
  const flag = dialect.typeName('boolean');
  const table = readableTable(findTable(dialect, name), rules);
  const wanted = like === undefined ? () => true : likeMatcher(like);
  const rows = table.columns
    .filter((column) => wanted(column.name))
    .map((column) => [
      column.name,
      dialect.typeName(column.type),
      column.nullable === true,
      column.untrusted === true,
      column.empty === true ? `${column.description}; empty in this warehouse` : column.description,
    ]);
  return {
    columns: [
      own('column', text),
      own('type', text),
      own('nullable', flag),
      own('untrusted', flag),
      own('description', text),
    ],
    rows,
    warnings: table.columns.some((column) => column.type === 'map') ? [attributeAdvice(dialect)] : [],
  };
}

/** The dialect's own table of that name, in any case. Throws unknown_table. */
export function findTable(dialect: Dialect, name: string): LogicalTable {
  const wanted = name.toLowerCase();
  const table = dialect.tables.find((candidate) => candidate.name === wanted);
  if (table !== undefined) return table;
  if (!tableNames.some((known) => known === wanted)) throw sqlHelpers.unknownTable(`otel.${name}`);
  throw sqlHelpers.refuse('unknown_table', `This warehouse holds no ${quoteName(`otel.${wanted}`)}.`, {
    hint: `It has ${dialect.tables.map((known) => `otel.${known.name}`).join(', ')}.`,
  });
}

/** One sentence on reading an attribute in this dialect. */
export function attributeAdvice(dialect: Dialect): string {
  return `An attribute is read as ${dialect.attributeHint}.`;
}

export function own(name: string, type: string): QueryColumn {
  return { name, type, untrusted: false };
}

import { SightlineError } from '../../contract/core/index.ts';
import {
  holdsAttributes,
  otelTables,
  type LogicalColumn,
  type MappingHelpers,
  type ReadRules,
  type RelationWriter,
  type StatementBinding,
  type TableName,
  type TableSource,
} from '../../contract/telemetry/index.ts';

const quotes = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`\\]|\\.|``)*`/gs;
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Refuses SQL of the config that does not end where it ends: it stands amid the organization's predicate and the caller's
 * SQL, and a comment or a bracket left open would reach into them. Throws config_invalid naming `key`.
 */
export function checkFragment(sql: string, key: string): void {
  const bare = sql.replaceAll(quotes, ' ');
  const why = /--|\/\*/.test(bare)
    ? 'holds a comment'
    : bare.includes(';')
      ? 'holds a semicolon'
      : /['"`]/.test(bare)
        ? 'holds a quote that is not closed'
        : isBalanced(bare)
          ? undefined
          : 'holds a bracket without its other half';
  if (why === undefined) return;
  throw new SightlineError('config_invalid', `${key} ${why}.`, {
    hint: 'Write one whole expression of the warehouse; it is put between others.',
  });
}

function isBalanced(sql: string): boolean {
  const open: string[] = [];
  for (const sign of sql) {
    const close = Object.hasOwn(closing, sign) ? closing[sign] : undefined;
    if (close !== undefined) open.push(close);
    else if (/[)\]}]/.test(sign) && open.pop() !== sign) return false;
  }
  return open.length === 0;
}

/** What a telemetry table of a statement stands for: see the contract. */
export const relation: MappingHelpers['relation'] = (mapping, table, { binding, tenant }, writer) => {
  const sources = mapping.tables[table];
  if (sources === undefined) {
    throw new SightlineError('unknown_table', `This warehouse holds no otel.${table}.`, {
      hint: `It has ${Object.keys(mapping.tables)
        .map((name) => `otel.${name}`)
        .join(', ')}.`,
    });
  }
  const selects = sources.map((source) => select(table, source, binding, tenant, writer));
  return `(${selects.join(' UNION ALL ')})`;
};

function select(
  table: TableName,
  source: TableSource,
  { window = {}, rules, columns: named }: StatementBinding,
  tenant: string | undefined,
  writer: RelationWriter,
): string {
  const all: readonly LogicalColumn[] = otelTables[table].columns;
  // A table without columns is none.
  const columns = named === undefined ? all : all.filter(({ name }) => name === 'time' || named.has(name));
  const list = columns.flatMap((column) => {
    const expression = readable(column, source.columns[column.name] ?? writer.empty(column), table, rules, writer);
    return expression === undefined ? [] : [[column.name, expression] as const];
  });
  const time = source.columns['time'] ?? '';
  const others = [
    ...(source.where === undefined ? [] : [`(${source.where})`]),
    ...(window.start === undefined ? [] : [`(${time}) >= ${writer.timestamp(window.start)}`]),
    ...(window.end === undefined ? [] : [`(${time}) < ${writer.timestamp(window.end)}`]),
    ...(source.timeBounds ?? []).flatMap((bound) => timeBound(bound, window, writer)),
  ];
  if (writer.select !== undefined) return writer.select(list, source.from, tenant, others);
  const filter = writer.filter(tenant, others);
  const selected = list.map(([name, expression]) => `${expression} AS ${writer.identifier(name)}`).join(', ');
  return `SELECT ${selected} FROM ${source.from}${filter === '' ? '' : ` ${filter}`}`;
}

/** A bound that names an end which is open says nothing. */
function timeBound(
  bound: string,
  { start, end }: NonNullable<StatementBinding['window']>,
  writer: RelationWriter,
): readonly string[] {
  if ((bound.includes('{start}') && start === undefined) || (bound.includes('{end}') && end === undefined)) return [];
  const written = bound
    .replaceAll('{start}', () => (start === undefined ? '' : writer.timestamp(start)))
    .replaceAll('{end}', () => (end === undefined ? '' : writer.timestamp(end)));
  return [`(${written})`];
}

/** The expression as the caller may read it; undefined when it may not. */
function readable(
  column: LogicalColumn,
  expression: string,
  table: TableName,
  rules: ReadRules | undefined,
  writer: RelationWriter,
): string | undefined {
  if (rules === undefined) return expression;
  const { columns, attributes } = rules.tables[table];
  const action = columns.get(column.name);
  if (action === 'deny') return undefined;
  if (action !== undefined) {
    return column.type === 'string' ? writer.text(expression, action, rules.salt) : writer.empty(column);
  }
  const { type } = column;
  if (attributes.length === 0 || !holdsAttributes(type) || expression === writer.empty(column)) return expression;
  return writer.attributes(expression, type, { salt: rules.salt, attributes });
}

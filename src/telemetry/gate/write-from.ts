import type { TableName } from '../../contract/telemetry/index.ts';
import type { Output } from './output.ts';
import { reachOf } from './reach.ts';
import type { Scope } from './scope.ts';
import type { FromItem, Name, Select, Source } from './tree.ts';
import { writeTableFunction } from './write-call.ts';
import { writeItem } from './write-item.ts';

/** Items of one FROM: more become the engine's work before ours. */
const maxFromItems = 32;

/**
 * FROM and its joins. The only tables written are holes for telemetry, queries of WITH under names of ours, subqueries and
 * the policy's table functions.
 */
export function writeFrom(output: Output, scope: Scope, select: Select): void {
  if (select.from.length > maxFromItems) throw output.tooManyTables();
  output.text(' FROM ');
  for (const item of select.from) {
    if (item.join !== '') output.text(item.join === ',' ? ', ' : ` ${item.join} `);
    writeSource(output, scope, select, item);
    if (item.on !== undefined) {
      output.text(' ON ');
      output.expression(scope, item.on);
    }
    if (item.using.length > 0) {
      output.text(' USING (');
      output.list(item.using, (name) => output.name(name));
      output.text(')');
    }
  }
}

function writeSource(output: Output, scope: Scope, select: Select, { source }: FromItem): void {
  switch (source.kind) {
    case 'table':
      return writeTable(output, scope, select, source);
    case 'query':
      output.text('(');
      output.query(scope, source.query);
      output.text(')');
      return writeAlias(output, scope, source.alias);
    case 'function':
      writeTableFunction(output, scope, source.call);
      return writeAlias(output, scope, source.alias);
    case 'unnest':
      return writeUnnest(output, scope, source);
    case 'arrays':
      return output.list(source.items, (item) => writeItem(output, scope, item));
  }
}

function writeTable(
  output: Output,
  scope: Scope,
  select: Select,
  source: Extract<Source, { readonly kind: 'table' }>,
): void {
  const { helpers } = output.faults;
  const parts = unfolded(output, source.parts);
  const [first, second] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) throw helpers.unknownTable('');
  if (second === undefined) {
    const query = scope.query(first.text);
    if (query !== undefined) {
      output.read(query.reads);
      output.text(`\`${query.written}\``);
      return writeAlias(output, scope, source.alias ?? first);
    }
  }
  const table = parts.length === 2 && first.text.toLowerCase() === 'otel' ? telemetryTable(output, last) : undefined;
  if (table !== undefined) {
    output.read(1);
    const name = source.alias ?? { ...last, text: table };
    // In BigQuery a WHERE does not see the names of SELECT.
    const aliases = output.isBigQuery ? new Set<string>() : output.aliases;
    output.reaches.push(reachOf({ select, source, table, queries: output.queries, aliases }));
    output.table(table);
    return writeAlias(output, scope, name);
  }
  if (output.isBigQuery && second !== undefined && scope.hasItem(first.text)) {
    return writeUnnest(output, scope, { kind: 'unnest', value: { kind: 'name', parts }, alias: source.alias ?? last });
  }
  throw helpers.unknownTable(parts.map(({ text }) => text).join('.'), output.faults.at(first.start));
}

function telemetryTable(output: Output, { text }: Name): TableName | undefined {
  const name = text.toLowerCase();
  return Object.values(output.faults.helpers.tables).find((table) => table.name === name)?.name;
}

/** In BigQuery a whole path may stand in one pair of quotes. */
function unfolded(output: Output, parts: readonly Name[]): readonly Name[] {
  if (!output.isBigQuery) return parts;
  return parts.flatMap(({ text, quoted, start }) =>
    (quoted ? text.split('.') : [text]).map((part) => ({ text: part, quoted, start })),
  );
}

function writeUnnest(output: Output, scope: Scope, source: Extract<Source, { readonly kind: 'unnest' }>): void {
  output.text('UNNEST(');
  output.expression(scope, source.value);
  output.text(')');
  writeAlias(output, scope, source.alias);
  if (source.offset === undefined) return;
  output.text(' WITH OFFSET');
  writeAlias(output, scope, source.offset);
}

function writeAlias(output: Output, scope: Scope, alias: Name | undefined): void {
  if (alias === undefined) return;
  scope.addItem(alias.text);
  output.text(' AS ');
  output.name(alias);
}

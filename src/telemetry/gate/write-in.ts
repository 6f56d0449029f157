import type { Output } from './output.ts';
import type { Scope } from './scope.ts';
import type { Expression, In } from './tree.ts';
import { momentsBeside } from './time-text.ts';
import { writeOperand } from './write-item.ts';

/**
 * `x IN …`. To the right of IN ClickHouse takes a bare name for a table, so none is written there: the name of a WITH query
 * becomes a subquery, any other is refused.
 */
export function writeIn(output: Output, scope: Scope, { not, global, operand, among, start }: In): void {
  const query = output.isBigQuery ? undefined : namedQuery(output, scope, among);
  if (!output.isBigQuery && query === undefined) refuseNames(output, among, start);
  const moments = among.kind === 'list' ? momentsBeside(output, among.items, operand) : undefined;
  if (moments !== undefined) {
    // A set takes only what has the operand's own type.
    output.text(`${not ? 'NOT ' : ''}has([${moments.join(', ')}], `);
    output.expression(scope, operand);
    return output.text(')');
  }
  writeOperand(output, scope, operand);
  output.text(` ${global ? 'GLOBAL ' : ''}${not ? 'NOT ' : ''}IN `);
  if (query !== undefined) return output.text(`(SELECT * FROM \`${query}\`)`);
  if (among.kind === 'value') {
    if (output.isBigQuery)
      throw output.faults.refuse('sql_syntax', 'IN needs a list.', start, 'Write IN (…) or IN UNNEST(…).');
    return writeOperand(output, scope, among.value);
  }
  output.text(among.kind === 'unnest' ? 'UNNEST(' : '(');
  if (among.kind === 'query') output.query(scope, among.query);
  if (among.kind === 'unnest') output.expression(scope, among.value);
  if (among.kind === 'list') output.list(among.items, (item) => output.expression(scope, item));
  output.text(')');
}

function namedQuery(output: Output, scope: Scope, among: In['among']): string | undefined {
  const items = among.kind === 'list' ? among.items : among.kind === 'value' ? [among.value] : [];
  const [only] = items;
  if (items.length !== 1 || only?.kind !== 'name' || only.parts.length !== 1) return undefined;
  const query = scope.query(only.parts[0]?.text ?? '');
  if (query !== undefined) output.read(query.reads);
  return query?.written;
}

function refuseNames(output: Output, among: In['among'], start: number): void {
  const items = among.kind === 'list' ? among.items : among.kind === 'value' ? [among.value] : [];
  for (const item of items) {
    if (isValue(item, among.kind === 'value')) continue;
    const hint = 'List values, write IN (SELECT …), or has(array, x) for an array.';
    throw output.faults.refuse('sql_refused', 'What stands right of IN must be values or a subquery.', start, hint);
  }
}

/** Kinds of which the engine never makes a bare name. */
const values: ReadonlySet<Expression['kind']> = new Set([
  ...([
    'number',
    'string',
    'constant',
    'typed',
    'call',
    'unary',
    'binary',
    'between',
    'in',
    'is',
    'case',
    'cast',
  ] as const),
  ...(['interval', 'extract', 'array', 'subscript', 'field', 'conditional', 'subquery'] as const),
]);

/** No name, however many brackets and aliases are around it. */
function isValue(item: Expression, isWhole: boolean): boolean {
  if (item.kind === 'alias') return isValue(item.operand, isWhole);
  if (item.kind === 'tuple') return item.items.every((inner) => isValue(inner, false));
  if (isWhole)
    return (
      /^(?:number|string|array)$/.test(item.kind) || (item.kind === 'call' && /^(?:array|tuple)$/i.test(item.name))
    );
  return values.has(item.kind);
}

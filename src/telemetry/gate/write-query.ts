import type { Output } from './output.ts';
import type { Scope } from './scope.ts';
import { shown } from './fault.ts';
import type { Expression, Grouping, Limit, Name, Query, Select, Source, WithItem } from './tree.ts';
import { writeOrder, writeWindow } from './write-call.ts';
import { writeItem } from './write-item.ts';
import { writeFrom } from './write-from.ts';

export function writeQuery(output: Output, outer: Scope, query: Query): void {
  const scope = writeWith(output, outer, query.with).inner();
  const { body } = query;
  if (body.kind === 'select') writeSelect(output, scope, body);
  else {
    for (const side of [body.left, body.right]) {
      if (side === body.right) output.text(` ${body.operator} `);
      output.text('(');
      writeQuery(output, scope, side);
      output.text(')');
    }
  }
  if (query.order.length > 0) {
    output.text(' ORDER BY ');
    writeOrder(output, scope, query.order);
  }
  if (query.interpolate !== undefined) {
    output.text(' INTERPOLATE');
    if (query.interpolate.length > 0) {
      output.text(' (');
      output.list(query.interpolate, (item) => writeInterpolated(output, scope, item));
      output.text(')');
    }
  }
  if (query.limitBy !== undefined) {
    writeLimit(output, scope, query.limitBy);
    output.text(' BY ');
    output.list(query.limitBy.by, (item) => output.expression(scope, item));
  }
  if (query.limit !== undefined) writeLimit(output, scope, query.limit);
}

/** `column AS expression`: the other way round than anywhere else. */
function writeInterpolated(output: Output, scope: Scope, item: Expression): void {
  if (item.kind !== 'alias') return output.expression(scope, item);
  output.name(item.name);
  output.text(' AS ');
  output.expression(scope, item.operand);
}

function writeWith(output: Output, outer: Scope, items: readonly WithItem[]): Scope {
  let scope = outer;
  const names = new Set<string>();
  const first = items.some((item) => readsItself(scope, item)) ? 'WITH RECURSIVE ' : 'WITH ';
  for (const [index, item] of items.entries()) {
    output.text(index === 0 ? first : ', ');
    if (names.has(item.name.text.toLowerCase())) {
      const hint = 'Give each its own name.';
      throw output.faults.refuse('sql_refused', 'Two items of WITH have one name.', item.name.start, hint);
    }
    names.add(item.name.text.toLowerCase());
    if (item.kind === 'value') {
      writeItem(output, scope, { kind: 'alias', operand: item.value, name: item.name });
      continue;
    }
    const written = output.nextQueryName();
    const before = output.reads;
    output.quote(item.name);
    output.text(`\`${written}\` AS (`);
    if (readsItself(scope, item)) writeRecursive(output, scope, item, written);
    else writeQuery(output, scope, item.query);
    output.text(')');
    scope = scope.withQuery({ name: item.name.text, written, reads: output.reads - before });
  }
  if (items.length > 0) output.text(' ');
  return scope;
}

type CommonTable = Extract<WithItem, { readonly kind: 'table' }>;

function readsItself(scope: Scope, item: WithItem): boolean {
  return item.kind === 'table' && item.recursive && readsOf(item.query, item.name, scope) > 0;
}

/**
 * A first query, and one that reads what came before once, in its FROM. The engines bound the steps: ClickHouse 1,000,
 * BigQuery 500. Beside itself a step reads one table, so that rows come of rows and not of a series.
 */
function writeRecursive(output: Output, scope: Scope, { name, query }: CommonTable, written: string): void {
  const { body } = query;
  const isPlain = query.with.length === 0 && query.order.length === 0 && !query.limit && !query.limitBy;
  const steps = body.kind === 'set' && body.operator === 'UNION ALL' && isPlain ? body.right : undefined;
  const step = steps?.body.kind === 'select' && steps.with.length === 0 ? steps.body : undefined;
  const isOnce = step?.from.filter(({ source }) => isRead(source, name, scope)).length === 1;
  if (body.kind !== 'set' || !step || !steps || !isOnce || readsOf(query, name, scope) !== 1) {
    const hint = `Write ${shown(name.text)} AS (SELECT … UNION ALL SELECT … JOIN ${name.text} AS before ON …), which reads itself once, in FROM of the last SELECT.`;
    throw output.faults.refuse('sql_refused', 'A recursive query has another form here.', name.start, hint);
  }
  if (step.from.length !== 2 || step.from.some(({ source }) => source.kind !== 'table')) {
    const hint = `Join otel.spans, otel.metrics or otel.logs to it, and nothing else. A series is ${output.isBigQuery ? 'UNNEST(GENERATE_ARRAY(1, 10))' : 'numbers(10)'}.`;
    throw output.faults.refuse('sql_refused', 'A recursive query joins one table to itself here.', name.start, hint);
  }
  output.text('(');
  writeQuery(output, scope, body.left);
  output.text(`) ${body.operator} (`);
  writeQuery(output, scope.withQuery({ name: name.text, written, reads: 1 }), steps);
  output.text(')');
}

function readsOf(value: unknown, name: Name, scope: Scope): number {
  let reads = 0;
  const open: unknown[] = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue;
    if (isTable(part) && isRead(part, name, scope)) reads += 1;
    for (const child of Object.values(part)) if (child !== undefined) open.push(child);
  }
  return reads;
}

function isTable(part: object): part is Extract<Source, { readonly kind: 'table' }> {
  return 'kind' in part && part.kind === 'table' && 'parts' in part;
}

function isRead(source: Source, name: Name, scope: Scope): boolean {
  const [first, second] = source.kind === 'table' ? source.parts : [];
  return first !== undefined && second === undefined && scope.fold(first.text) === scope.fold(name.text);
}

function writeSelect(output: Output, scope: Scope, select: Select): void {
  // A column may read a FROM item before that is written; an item of FROM only those before it.
  const seen = scope.inner();
  for (const { source } of select.from) {
    if (source.kind !== 'arrays' && source.alias !== undefined) seen.addItem(source.alias.text);
  }
  output.text('SELECT ');
  if (select.distinct) output.text('DISTINCT ');
  if (select.distinctOn.length > 0) {
    output.text('ON (');
    output.list(select.distinctOn, (item) => output.expression(seen, item));
    output.text(') ');
  }
  if (select.asStruct) output.text('AS STRUCT ');
  output.list(select.items, (item) => writeItem(output, seen, item));
  if (select.from.length > 0) writeFrom(output, scope, select);
  const clause = (word: string, value: Expression | undefined): void => {
    if (value === undefined) return;
    output.text(` ${word} `);
    output.expression(scope, value);
  };
  clause('PREWHERE', select.prewhere);
  clause('WHERE', select.where);
  if (select.group !== undefined) writeGroup(output, scope, select.group);
  clause('HAVING', select.having);
  if (!output.isBigQuery) writeWindows(output, scope, select);
  clause('QUALIFY', select.qualify);
  if (output.isBigQuery) writeWindows(output, scope, select);
}

function writeWindows(output: Output, scope: Scope, { windows }: Select): void {
  if (windows.length === 0) return;
  output.text(' WINDOW ');
  output.list(windows, ({ name, specification }) => {
    output.name(name);
    output.text(' AS ');
    writeWindow(output, scope, specification);
  });
}

function writeGroup(output: Output, scope: Scope, group: Grouping): void {
  output.text(' GROUP BY ');
  if (group.all) output.text('ALL');
  else if (group.form === undefined) output.list(group.items, (item) => output.expression(scope, item));
  else {
    output.text(`${group.form} (`);
    output.list(group.items, (item) => {
      const isSet = group.form === 'GROUPING SETS';
      const members = isSet ? (item.kind === 'tuple' ? item.items : [item]) : undefined;
      if (members === undefined) return output.expression(scope, item);
      output.text('(');
      output.list(members, (member) => output.expression(scope, member));
      output.text(')');
    });
    output.text(')');
  }
  if (group.totals) output.text(' WITH TOTALS');
}

function writeLimit(output: Output, scope: Scope, { count, offset, ties }: Limit): void {
  if (count !== undefined) {
    output.text(' LIMIT ');
    output.expression(scope, count);
  }
  if (offset !== undefined) {
    output.text(' OFFSET ');
    output.expression(scope, offset);
  }
  if (ties) output.text(' WITH TIES');
}

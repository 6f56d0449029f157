import type { Output } from './output.ts';
import type { Scope } from './scope.ts';
import type { Expression, Grouping, Limit, Query, Select, WithItem } from './tree.ts';
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
  for (const [index, item] of items.entries()) {
    output.text(index === 0 ? 'WITH ' : ', ');
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
    writeQuery(output, scope, item.query);
    output.text(')');
    scope = scope.withQuery({ name: item.name.text, written, reads: output.reads - before });
  }
  if (items.length > 0) output.text(' ');
  return scope;
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

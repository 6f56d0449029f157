import { shown } from './fault.ts';
import { expectNamed, writeItem, writeOperand } from './write-item.ts';
import type { Output } from './output.ts';
import type { Scope } from './scope.ts';
import type { Call, Expression, Ordering, WindowSpecification } from './tree.ts';
import { dateParts } from './words.ts';

/** A call of a function that the policy lists, in the policy's spelling. */
export function writeCall(output: Output, scope: Scope, call: Call, name = allowed(output, call)): void {
  const list = (items: readonly Expression[]): void => output.list(items, (item) => output.expression(scope, item));
  if (!output.isBigQuery) expectNamed(output, name, call);
  output.text(`${name}(`);
  if (call.parameters !== undefined) {
    list(call.parameters);
    output.text(')(');
  }
  if (call.distinct) output.text('DISTINCT ');
  const takesParts = datePartArguments(output, name);
  output.list(call.arguments, (argument) => {
    const part = takesParts === 'none' ? undefined : datePart(argument);
    const isPlace = (argument === call.arguments[0]) === (takesParts === 'first');
    if (part !== undefined && isPlace) output.text(part);
    else if (argument.kind === 'lambda') writeLambda(output, scope, argument);
    else output.expression(scope, argument);
  });
  if (output.isBigQuery) writeNulls(output, call);
  if (call.having !== undefined) {
    output.text(` HAVING ${call.having.side} `);
    output.expression(scope, call.having.value);
  }
  if (call.order.length > 0) {
    output.text(' ORDER BY ');
    writeOrder(output, scope, call.order);
  }
  if (call.limit !== undefined) {
    output.text(' LIMIT ');
    output.expression(scope, call.limit);
  }
  output.text(')');
  if (!output.isBigQuery) writeNulls(output, call);
  if (call.filter !== undefined) {
    output.text(' FILTER (WHERE ');
    output.expression(scope, call.filter);
    output.text(')');
  }
  if (call.over === undefined) return;
  output.text(' OVER ');
  if ('text' in call.over) output.name(call.over);
  else writeWindow(output, scope, call.over);
}

function writeLambda(
  output: Output,
  scope: Scope,
  { parameters, body }: Extract<Expression, { readonly kind: 'lambda' }>,
): void {
  output.text('(');
  output.list(parameters, (parameter) => output.name(parameter));
  output.text(') -> ');
  writeOperand(output, scope, body);
}

function allowed(output: Output, call: Call): string {
  const isSafe = output.isBigQuery && /^safe\./i.test(call.name);
  const name = output.functions.find(isSafe ? call.name.slice(5) : call.name);
  if (name !== undefined) return isSafe ? `SAFE.${name}` : name;
  const { functionHints = {} } = output.policy;
  const lower = call.name.toLowerCase();
  const hint = [call.name, lower].map((key) => (Object.hasOwn(functionHints, key) ? functionHints[key] : undefined));
  const found = hint.find((text) => text !== undefined);
  throw output.faults.helpers.unknownFunction(call.name.slice(0, 200), output.functions.near(call.name), {
    ...output.faults.at(call.start),
    ...(found === undefined ? {} : { hint: found }),
  });
}

/** A function of the policy that may stand in FROM. Its arguments are fixed before any row is read. */
export function writeTableFunction(output: Output, scope: Scope, call: Call): void {
  const lower = call.name.toLowerCase();
  const name = [...output.policy.tableFunctions].find((candidate) => candidate.toLowerCase() === lower);
  if (name === undefined) {
    const message = `The table function ${shown(call.name)} is not available.`;
    const hint = `Table functions: ${[...output.policy.tableFunctions].join(', ')}. Tables: otel.spans, otel.metrics, otel.logs.`;
    throw output.faults.refuse('sql_refused', message, call.start, hint);
  }
  const { kind: _kind, name: _name, start, arguments: list, distinct, order, ...more } = call;
  if (distinct || order.length > 0 || Object.keys(more).length > 0 || !list.every((item) => isFixed(item))) {
    const hint = `Write ${name}(…) with numbers.`;
    throw output.faults.refuse('sql_refused', `${name} takes only constants here.`, start, hint);
  }
  writeCall(output, scope, call, name);
}

function isFixed(item: Expression): boolean {
  switch (item.kind) {
    case 'number':
    case 'constant':
    case 'typed':
      return true;
    case 'unary':
      return isFixed(item.operand);
    case 'binary':
      return isFixed(item.left) && isFixed(item.right);
    case 'call':
      return item.arguments.every((inner) => inner.kind === 'string' || isFixed(inner));
    default:
      return false;
  }
}

/** Which arguments may be a bare HOUR, DAY, …: only there is it a word and not a column. */
function datePartArguments(output: Output, name: string): 'none' | 'first' | 'later' {
  if (output.isBigQuery) return /(?:_trunc|_diff|_bucket|^last_day)$/i.test(name) ? 'later' : 'none';
  return /^(?:date|timestamp)_?(?:diff|add|sub)$/i.test(name) ? 'first' : 'none';
}

function datePart(argument: Expression): string | undefined {
  if (argument.kind === 'call' && /^week$/i.test(argument.name) && argument.arguments.length === 1) {
    const [day] = argument.arguments;
    const part = day === undefined ? undefined : datePart(day);
    return part?.endsWith('DAY') === true && part !== 'DAY' ? `WEEK(${part})` : undefined;
  }
  if (argument.kind !== 'name' || argument.parts.length !== 1 || argument.parts[0]?.quoted !== false) return undefined;
  const part = argument.parts[0].text.toUpperCase();
  return dateParts.has(part) ? part : undefined;
}

function writeNulls(output: Output, { nulls }: Call): void {
  if (nulls !== undefined) output.text(` ${nulls} NULLS`);
}

export function writeOrder(output: Output, scope: Scope, order: readonly Ordering[]): void {
  output.list(order, ({ value, direction, nulls, fill }) => {
    writeItem(output, scope, value);
    if (direction !== undefined) output.text(` ${direction}`);
    if (nulls !== undefined) output.text(` NULLS ${nulls}`);
    if (fill === undefined) return;
    output.text(' WITH FILL');
    for (const word of ['from', 'to', 'step'] as const) {
      const bound = fill[word];
      if (bound === undefined) continue;
      output.text(` ${word.toUpperCase()} `);
      output.expression(scope, bound);
    }
  });
}

export function writeWindow(output: Output, scope: Scope, window: WindowSpecification): void {
  const parts: (() => void)[] = [];
  const { base, partition, order, frame } = window;
  if (base !== undefined) parts.push(() => output.name(base));
  if (partition.length > 0) {
    parts.push(() => {
      output.text('PARTITION BY ');
      output.list(partition, (item) => output.expression(scope, item));
    });
  }
  if (order.length > 0) {
    parts.push(() => {
      output.text('ORDER BY ');
      writeOrder(output, scope, order);
    });
  }
  if (frame !== undefined) {
    parts.push(() => {
      output.text(`${frame.unit} ${frame.end === undefined ? '' : 'BETWEEN '}`);
      for (const bound of frame.end === undefined ? [frame.start] : [frame.start, frame.end]) {
        if (bound !== frame.start) output.text(' AND ');
        if (bound.side === 'CURRENT ROW') output.text(bound.side);
        else {
          if (bound.distance === undefined) output.text('UNBOUNDED');
          else output.expression(scope, bound.distance);
          output.text(` ${bound.side}`);
        }
      }
    });
  }
  output.text('(');
  for (const [index, part] of parts.entries()) {
    if (index > 0) output.text(' ');
    part();
  }
  output.text(')');
}

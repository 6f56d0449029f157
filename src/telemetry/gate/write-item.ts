import type { Output } from './output.ts';
import { writeString } from './quoted.ts';
import type { Scope } from './scope.ts';
import type { Call, Expression, Type } from './tree.ts';
import { shown } from './fault.ts';

/** Take an aggregate function by its name as text, with its parameters: `'quantile(0.9)'`. */
const takers: ReadonlySet<string> = new Set(['arrayReduce', 'arrayReduceInRanges']);

/** Refuses a function named by text that could not be called by name. */
export function expectNamed(output: Output, name: string, { arguments: [first], start }: Call): void {
  if (!takers.has(name)) return;
  const text = first?.kind === 'string' ? first.value : '';
  const named = /^(\w+)(?:\([\d\s.,eE+-]*\))?$/.exec(text)?.[1];
  if (named !== undefined && output.policy.functions.has(named)) return;
  const message = `${name} takes no ${text === '' ? 'name but a text' : shown(text)}.`;
  throw output.faults.refuse('sql_refused', message, start, `Write ${name}('max', …), with an aggregate function.`);
}

/** A column of SELECT, or a member of a struct: the one place where an alias needs no brackets. */
export function writeItem(output: Output, scope: Scope, item: Expression): void {
  if (item.kind !== 'alias') return output.expression(scope, item);
  output.expression(scope, item.operand);
  output.text(' AS ');
  output.name(item.name);
}

const alone: ReadonlySet<Expression['kind']> = new Set([
  ...(['number', 'string', 'constant', 'typed', 'name', 'call', 'case', 'extract', 'array', 'tuple'] as const),
  ...(['struct', 'subscript', 'field', 'conditional', 'subquery', 'alias', 'star'] as const),
]);

export function writeOperand(output: Output, scope: Scope, expression: Expression): void {
  const isAlone = alone.has(expression.kind) && !(expression.kind === 'call' && expression.over !== undefined);
  if (isAlone) output.expression(scope, expression);
  else writeBracketed(output, scope, expression);
}

export function writeBracketed(output: Output, scope: Scope, expression: Expression): void {
  output.text('(');
  writeItem(output, scope, expression);
  output.text(')');
}

/** A type whose every name the policy lists. */
export function writeType(output: Output, type: Type): void {
  if (!/^\w+$/.test(type.name) || !output.policy.types.has(type.name.toLowerCase())) {
    const hint = `Types: ${[...output.policy.types].slice(0, 30).join(', ')}.`;
    throw output.faults.refuse('sql_refused', `The type ${shown(type.name)} is not available.`, type.start, hint);
  }
  output.text(type.name);
  if (type.arguments.length === 0) return;
  const isAngled = output.isBigQuery && type.arguments.every(({ kind }) => kind === 'type');
  output.text(isAngled ? '<' : '(');
  output.list(type.arguments, (argument) => {
    if (argument.kind === 'number') return output.text(argument.text);
    if (argument.kind === 'string') return output.text(writeString(argument.value));
    if (argument.name !== undefined) {
      output.name(argument.name);
      output.text(' ');
    }
    writeType(output, argument.type);
  });
  output.text(isAngled ? '>' : ')');
}

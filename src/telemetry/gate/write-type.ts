import type { Type } from './tree.ts';
import { shown } from './fault.ts';
import type { Output } from './output.ts';
import { writeString } from './quoted.ts';

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

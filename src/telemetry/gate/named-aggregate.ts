import { shown } from './fault.ts';
import type { Output } from './output.ts';
import type { Call } from './tree.ts';

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

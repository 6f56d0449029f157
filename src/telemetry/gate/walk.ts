import type { Faults } from './fault.ts';
import type { Query } from './tree.ts';

/** Of nodes below nodes: a row of operators nests as deep as it is long. */
const maxHeight = 1_500;

/**
 * The names that expressions are given anywhere in the statement, lower case. Refuses trees so tall that walking them could
 * overflow the stack; walks without one itself.
 */
export function surveyed(query: Query, faults: Faults): ReadonlySet<string> {
  const names = new Set<string>();
  const open: { readonly value: object; readonly height: number }[] = [{ value: query, height: 0 }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, height } = item;
    if (height > maxHeight) {
      const hint = 'Use IN (…) for a long row of OR, and ask in several smaller statements.';
      throw faults.refuse('sql_refused', 'The statement is nested too deeply.', undefined, hint);
    }
    if ('kind' in value && (value.kind === 'alias' || value.kind === 'value') && 'name' in value)
      addName(names, value.name);
    const inner: readonly unknown[] = Object.values(value);
    for (const child of inner)
      if (typeof child === 'object' && child !== null) open.push({ value: child, height: height + 1 });
  }
  return names;
}

function addName(names: Set<string>, name: unknown): void {
  if (typeof name !== 'object' || name === null || !('text' in name) || typeof name.text !== 'string') return;
  names.add(name.text.toLowerCase());
}

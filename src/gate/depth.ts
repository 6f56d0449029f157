import type { Faults } from './fault.ts';
import type { Query } from './tree.ts';

/** Of nodes below nodes: a row of operators nests as deep as it is long. */
const maxHeight = 1_500;

/** Refuses trees so tall that walking them could overflow the stack. Itself walks without one. */
export function checkHeight(query: Query, faults: Faults): void {
  const open: { readonly value: object; readonly height: number }[] = [{ value: query, height: 0 }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (item.height > maxHeight) {
      const hint = 'Use IN (…) for a long row of OR, and ask in several smaller statements.';
      throw faults.refuse('sql_refused', 'The statement is nested too deeply.', undefined, hint);
    }
    const values: readonly unknown[] = Object.values(item.value);
    for (const value of values)
      if (typeof value === 'object' && value !== null) open.push({ value, height: item.height + 1 });
  }
}

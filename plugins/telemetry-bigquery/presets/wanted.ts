/** An expression, and the physical columns that it reads. */
export type Wanted = readonly [expression: string, ...reads: string[]];

/** Those whose columns are all there; the others are served as empties. */
export function present(
  wanted: Readonly<Record<string, Wanted>>,
  there: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([, [, ...reads]]) => reads.every((column) => there.has(column)))
      .map(([name, [expression]]) => [name, expression]),
  );
}

export const text = (column: string): Wanted => [`IFNULL(${column}, '')`, column];
export const json = (column: string): Wanted => [`IFNULL(${column}, JSON '{}')`, column];
export const plain = (column: string): Wanted => [`\`${column}\``, column];

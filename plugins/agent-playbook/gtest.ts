import type { DialectWriter } from '../../src/contract/index.ts';

/**
 * G of a 2 × 2 table as SQL: `k` of `n` now against `k0` of `n0` before, all column names. Under chance it is distributed as
 * chi-squared with one degree of freedom, and unlike a difference of rates it is not misled by small counts.
 */
export function gStatistic(write: DialectWriter, table: Readonly<Record<'k' | 'n' | 'k0' | 'n0', string>>): string {
  const { k, n, k0, n0 } = table;
  const cell = (count: string, side: string, both: string): string =>
    `CASE WHEN ${count} > 0 THEN ${count} * ln(${write.ratio(`(${count}) * (${n} + ${n0})`, `(${side}) * (${both})`)}) ELSE 0 END`;
  return `2 * (${cell(k, n, `${k} + ${k0}`)} + ${cell(k0, n0, `${k} + ${k0}`)} + ${cell(`(${n} - ${k})`, n, `${n} + ${n0} - ${k} - ${k0}`)} + ${cell(`(${n0} - ${k0})`, n0, `${n} + ${n0} - ${k} - ${k0}`)})`;
}

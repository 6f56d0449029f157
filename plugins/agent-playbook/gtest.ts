import type { DialectWriter } from '../../src/contract/telemetry/index.ts';
import { thresholds } from './thresholds.ts';

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

/**
 * How many times more a series of proportions scatters from chunk to chunk than independent draws would, as SQL: Pearson's
 * chi-squared over its degrees of freedom, at least 1. Requests come in bursts that are alike, and G counts each as news of
 * its own; divided by this it is a quasi-likelihood ratio. `squares` is the sum of k² / n over the chunks,
 * in whole thousandths: a sum of fractions would depend on the order in which they are added. All column names.
 */
export function overdispersion(
  write: DialectWriter,
  { k, n, squares, chunks }: Readonly<Record<'k' | 'n' | 'squares' | 'chunks', string>>,
): string {
  const pearson = write.ratio(
    `(${write.ratio(squares, '1000')} - ${write.ratio(`${k} * ${k}`, n)}) * ${n} * ${n}`,
    `${k} * (${n} - ${k}) * (${chunks} - 1)`,
  );
  // What always or never came does not scatter.
  return `CASE WHEN ${k} > 0 AND ${k} < ${n} AND ${chunks} >= ${thresholds.fewestChunks} AND ${pearson} > 1 THEN ${pearson} ELSE 1 END`;
}

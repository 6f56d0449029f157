import type { EvalCase, EvalResult } from './case.ts';
import { prepareDataSet } from './data-set.ts';
import type { DataSetOptions, Prepared } from './data-set.ts';
import { runCase } from './run-case.ts';
import { score } from './score.ts';
import type { Report } from './score.ts';
import { prepareShop } from './shop.ts';
import type { ShopOptions } from './shop.ts';

export type { EvalResult } from './case.ts';
export type { Report, Score } from './score.ts';

/** Investigates every fault of a data set. Throws `invalid_argument` where the folder is not laid out as one. */
export async function evaluateDataSet(options: DataSetOptions, onProgress?: OnProgress): Promise<Report> {
  onProgress?.(0, 'loading');
  return await evaluate(await prepareDataSet(options), onProgress);
}

/** Investigates every scenario of the demo shop, for each seed. */
export async function evaluateShop(options: Pick<ShopOptions, 'seeds'>, onProgress?: OnProgress): Promise<Report> {
  const onGenerated = (progress: number): void => onProgress?.(progress, 'generating');
  return await evaluate(await prepareShop({ ...options, onProgress: onGenerated }), onProgress);
}

export type OnProgress = (progress: number, what: string) => void;

/** One after the other, so that the seconds are those of an investigation that has the machine to itself. */
async function evaluate({ laboratory, cases }: Prepared, onProgress: OnProgress | undefined): Promise<Report> {
  try {
    onProgress?.(0, 'investigating');
    await warmUp(laboratory.agent, cases);
    const results: EvalResult[] = [];
    for (const each of cases) {
      results.push(await runCase(laboratory.agent, each));
      onProgress?.(results.length / cases.length, 'investigating');
    }
    return score(results);
  } finally {
    await laboratory.close();
  }
}

/** The first question pays for the start of the engine, which in a gateway runs already. */
async function warmUp(agent: Prepared['laboratory']['agent'], [first]: readonly EvalCase[]): Promise<void> {
  if (first) await runCase(agent, first);
}

import { score, type Report } from './score.ts';
import type { EvalCase, EvalResult } from './case.ts';
import { prepareDataSet, type DataSetOptions, type Prepared } from './data-set.ts';
import { prepareShop, type ShopOptions } from './shop.ts';
import { newId } from '../../contract/core/index.ts';
import type { Agent, Assignment } from '../../contract/agent/index.ts';
import type { Conclusion } from '../../contract/storage/index.ts';

const limitMs = 120_000;

/** Puts the question to the agent as a person would, in a new chat. */
export async function runCase(agent: Agent, { onset, ...asked }: EvalCase): Promise<EvalResult> {
  const { name, type, service, organizationId, question, askedAt } = asked;
  const author = { kind: 'operator', id: 'eval', name: 'eval' } as const;
  const assignment: Assignment = {
    organizationId,
    messages: [{ id: newId('msg'), seq: 1, role: 'user', author, time: askedAt, content: question, parts: [] }],
    steps: [],
    askedAt,
  };
  const begun = performance.now();
  let queries = 0;
  let conclusion: Conclusion | undefined;
  let failure: string | undefined;
  try {
    for await (const event of agent.investigate(assignment, AbortSignal.timeout(limitMs))) {
      if (event.type === 'step') {
        queries += 1;
        if (event.step.error !== undefined) failure = `${event.step.question} ${event.step.observation}`;
      }
      if (event.type === 'conclusion') conclusion = event.conclusion;
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const found = conclusion?.onset === undefined ? undefined : new Date(conclusion.onset);
  return {
    name,
    type,
    service,
    named: [...new Set([conclusion?.service ?? '', ...(conclusion?.suspects ?? [])])].filter((each) => each !== ''),
    blames: conclusion !== undefined && conclusion.service !== '',
    seconds: (performance.now() - begun) / 1_000,
    queries,
    onsetErrorSeconds: found && Math.abs(found.getTime() - onset.getTime()) / 1_000,
    ...(failure !== undefined && { failure }),
  };
}

export type { Report, Score } from './score.ts';

/** Investigates every fault of a data set. Throws `invalid_argument` where the folder is not laid out as one. */
export async function evaluateDataSet(options: DataSetOptions, onProgress?: OnProgress): Promise<Report> {
  onProgress?.(0, 'loading');
  return await evaluate(await prepareDataSet(options), onProgress);
}

/** Investigates every scenario of a generated system, for each seed. */
export async function evaluateShop(options: Omit<ShopOptions, 'onProgress'>, onProgress?: OnProgress): Promise<Report> {
  const onGenerated = (progress: number): void => onProgress?.(progress, 'generating');
  return await evaluate(await prepareShop({ ...options, onProgress: onGenerated }), onProgress);
}

export type OnProgress = (progress: number, what: string) => void;

/** Sequential, so that each investigation is timed with the machine to itself. */
async function evaluate({ laboratory, cases }: Prepared, onProgress: OnProgress | undefined): Promise<Report> {
  try {
    onProgress?.(0, 'investigating');
    const [first] = cases;
    // The first question pays for the start of the engine, which in a gateway runs already.
    if (first) await runCase(laboratory.agent, first);
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

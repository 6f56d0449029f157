import { score, type Report } from './score.ts';
import { type DataSetOptions, type EvalCase, type EvalResult, type Prepared, prepareDataSet } from './data-set.ts';
import { prepareShop, type ShopOptions } from './shop.ts';
import { newId } from '../../contract/core/index.ts';
import { contradicts, type Agent, type Assignment, type Evidence } from '../../contract/agent/index.ts';
import type { Conclusion } from '../../contract/storage/index.ts';

const limitMs = 120_000;
/** Longer names of services are cut in answers. */
const longestShown = 50;

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
  const steps: Evidence[] = [];
  let answer = '';
  let conclusion: Conclusion | undefined;
  let failure: string | undefined;
  try {
    for await (const event of agent.investigate(assignment, AbortSignal.timeout(limitMs))) {
      if (event.type === 'step') {
        steps.push({ ...event.step, evidence_id: event.step.evidence_id ?? `E${steps.length + 1}` });
        if (event.step.error !== undefined) failure = `${event.step.question} ${event.step.observation}`;
      }
      if (event.type === 'conclusion') ({ conclusion, answer } = event);
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const found = conclusion?.onset === undefined ? undefined : new Date(conclusion.onset);
  const named = [...new Set([conclusion?.service ?? '', ...(conclusion?.suspects ?? [])])].filter(
    (each) => each !== '',
  );
  const [findings = ''] = answer.split('\n\nEvidence:');
  const blames = conclusion !== undefined && conclusion.service !== '';
  return {
    name,
    type,
    service,
    named,
    blames,
    // Who is only looked at first is not blamed, so stands second at best.
    shown: [...(blames ? [] : ['']), ...named.filter((each) => findings.includes(`\`${each.slice(0, longestShown)}`))],
    saysNothingWrong: /^\*\*Nothing is wrong/m.test(answer),
    // Asserted or not: what the playbook noticed itself is a hypothesis by now.
    contradictions:
      conclusion?.claims
        .filter((claim) => contradicts({ ...claim, status: 'supported' }, steps))
        .map(({ text }) => text) ?? [],
    seconds: (performance.now() - begun) / 1_000,
    queries: steps.length,
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

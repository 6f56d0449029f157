import { parseArgs } from 'node:util';
import { createPlaybook } from '../plugins/agent-playbook/playbook.ts';
import { thresholds } from '../plugins/agent-playbook/statistics.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from '../test/contract/host.ts';
import type { AgentRows } from '../src/contract/agent/index.ts';
import { type EvalCase, type Prepared, prepareDataSet } from '../src/lab/eval/data-set.ts';
import { runCase } from '../src/lab/eval/index.ts';
import { prepareShop } from '../src/lab/eval/shop.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';

/*
 * What the playbook's thresholds are worth on faults that they were not chosen by. For each part of the faults left out (a
 * day; a type of fault; a faulty service; a single fault) they are chosen on the rest, those with the best AC@1, then AC@3,
 * and of equals the middle ones, and counted on the part. Times of injection are given, or with --window the windows of two
 * seeds, of which both are left out together. Without DIR: which of the same settings are best on the demo shop, whose faults are our own; of those
 * that name as many rightly, those that find the beginnings best.
 * Usage: node bench/cross-validate.ts [DIR] [--window]
 */

type Values = typeof thresholds;
type Grid = Readonly<Partial<Record<keyof Values, readonly [number, number, number]>>>;

/** Half, once and twice what is shipped. */
const timeGiven: Grid = {
  exhausted: [15, 30, 60],
  changedIfSaid: [4, 8, 16],
  changedAlike: [0.15, 0.3, 0.6],
  noticed: [0.05, 0.1, 0.2],
};
/** What was chosen with the windows of TrainTicket in view. Beyond 48 there are no chunks: G is not divided. */
const windowGiven: Grid = {
  aftermath: [150, 300, 600],
  beginnings: [1, 3, 6],
  fewestChunks: [2, 4, 100],
  changedIfSaid: [4, 8, 16],
};

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { window: { type: 'boolean' } } });
const [folder] = positionals;
const { window = false } = flags;
const grid = window ? windowGiven : timeGiven;
const names = (
  ['exhausted', 'changedIfSaid', 'changedAlike', 'noticed', 'aftermath', 'beginnings', 'fewestChunks'] as const
).filter((name) => grid[name] !== undefined);

const { laboratory, cases } =
  folder === undefined ? await prepareShop({ system: 'shop', seeds: [1] }) : await prepareFaults(folder);
const { telemetry } = laboratory;
const ask = agentQuery(createQueryPipeline({ telemetry, logger: silentLogger, now: () => new Date() }));
// Thresholds change what is made of the answers and hardly what is asked.
const answered = new Map<string, Promise<AgentRows>>();
const agent = createPlaybook({
  ...testHost('.'),
  dialect: telemetry.dialect,
  query(organizationId, sql, options) {
    const key = `${organizationId} ${sql}`;
    const known = answered.get(key) ?? ask(organizationId, sql, options);
    answered.set(key, known);
    return known;
  },
});
await agent.start(AbortSignal.timeout(30_000));

/** With --window the windows of two seeds. */
async function prepareFaults(from: string): Promise<Prepared> {
  const own = { folder: from, window, seed: 1 };
  if (!window) return prepareDataSet(own);
  const other = await prepareDataSet({ ...own, seed: 2 });
  await other.laboratory.close();
  const prepared = await prepareDataSet(own);
  return { ...prepared, cases: [...other.cases, ...prepared.cases] };
}

interface Outcome {
  readonly values: Values;
  /** The place at which the service with the cause is named, by case; 1 where rightly nothing is blamed; else Infinity. */
  readonly places: ReadonlyMap<EvalCase, number>;
  /** By how many seconds the beginnings were missed, where one was named. */
  readonly onsetErrors: readonly number[];
}

async function outcomeOf(values: Values): Promise<Outcome> {
  Object.assign(thresholds, values);
  const places = new Map<EvalCase, number>();
  const onsetErrors: number[] = [];
  for (const each of cases) {
    const { named, blames, onsetErrorSeconds } = await runCase(agent, each);
    const place = each.service === undefined ? (blames ? -1 : 0) : named.indexOf(each.service);
    places.set(each, place < 0 ? Infinity : place + 1);
    if (each.service !== undefined && onsetErrorSeconds !== undefined) onsetErrors.push(onsetErrorSeconds);
  }
  return { values, places, onsetErrors };
}

const shipped = { ...thresholds };
const choices = names.reduce<readonly Values[]>(
  (all, name) =>
    all.flatMap((values) => (grid[name] ?? []).map((value) => Object.assign({}, values, { [name]: value }))),
  [shipped],
);
/** How many of the thresholds are not the middle of their three. */
const eccentricity = (values: Values): number => names.filter((name) => values[name] !== grid[name]?.[1]).length;
const outcomes: Outcome[] = [];
for (const values of choices.toSorted((a, b) => eccentricity(a) - eccentricity(b))) {
  outcomes.push(await outcomeOf(values));
  process.stderr.write(`\r${outcomes.length} of ${choices.length}`);
}
await laboratory.close();

function accuracy(of: ReadonlyMap<EvalCase, number>, among: readonly EvalCase[], k: number): number {
  return among.filter((each) => (of.get(each) ?? Infinity) <= k).length / among.length;
}

function report(title: string, groupOf: (each: EvalCase) => string): void {
  const counted = new Map<EvalCase, number>();
  for (const group of new Set(cases.map(groupOf))) {
    const rest = cases.filter((each) => groupOf(each) !== group);
    const [best] = outcomes.toSorted(
      (a, b) =>
        accuracy(b.places, rest, 1) - accuracy(a.places, rest, 1) ||
        accuracy(b.places, rest, 3) - accuracy(a.places, rest, 3),
    );
    if (best === undefined) continue;
    const out = cases.filter((each) => groupOf(each) === group);
    for (const each of out) counted.set(each, best.places.get(each) ?? Infinity);
    const chosen = names.map((name) => `${name} ${best.values[name]}`).join(', ');
    process.stdout.write(`${title}: without ${group} (${out.length}): ${chosen}; ${row(best.places, out)}\n`);
  }
  process.stdout.write(`${title}, all parts left out once: ${row(counted, cases)}\n`);
}

function row(of: ReadonlyMap<EvalCase, number>, among: readonly EvalCase[]): string {
  return [1, 3, 5].map((k) => `AC@${k} ${accuracy(of, among, k).toFixed(3)}`).join(', ');
}

const [first] = outcomes;
process.stderr.write('\n');
if (first) process.stdout.write(`The middle values: ${row(first.places, cases)}\n`);
const firsts = outcomes.map((outcome) => accuracy(outcome.places, cases, 1));
process.stdout.write(
  `All ${firsts.length}: AC@1 from ${Math.min(...firsts).toFixed(3)} to ${Math.max(...firsts).toFixed(3)}\n`,
);
reportAll();
if (folder !== undefined) {
  report('By day', ({ onset }) => onset.toISOString().slice(0, 10));
  report('By type', ({ type }) => type);
  report('By service', ({ service }) => service ?? '');
  report('By fault', ({ onset }) => onset.toISOString());
}

function reportAll(): void {
  const error = ({ onsetErrors }: Outcome) => onsetErrors.reduce((sum, each) => sum + each, 0) / onsetErrors.length;
  const ranked = outcomes.toSorted(
    (a, b) => accuracy(b.places, cases, 1) - accuracy(a.places, cases, 1) || error(a) - error(b),
  );
  const mean = firsts.reduce((sum, each) => sum + each, 0) / firsts.length;
  process.stdout.write(`Their mean: ${mean.toFixed(3)}; best first:\n`);
  for (const outcome of ranked) {
    const chosen = names.map((name) => `${name} ${outcome.values[name]}`).join(', ');
    const found = `${outcome.onsetErrors.length} beginnings named, missed by ${error(outcome).toFixed(1)} s`;
    process.stdout.write(`${chosen}: ${row(outcome.places, cases)}; ${found}\n`);
  }
}

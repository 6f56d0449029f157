import { mkdir } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { newId, type OrganizationId } from '../src/contract/core/index.ts';
import type { NewStep } from '../src/contract/agent/index.ts';
import { demoQuestion, groundTruth, type DemoOptions, type ScenarioName } from '../src/lab/demo/index.ts';
import { openLaboratory } from '../src/lab/eval/laboratory.ts';
import { removeDirectory, temporaryDirectory } from '../test/support/gateway.ts';
import { loadBusyShop } from './support/busy-shop.ts';
import { cpuSeconds, findProcesses } from './support/process.ts';

/*
 * The playbook on an hour of a busy shop in DuckDB: how long an investigation takes, and its slowest question.
 * Usage: node bench/investigation.ts [millions of spans in the hour, 2] [investigations of each fault, 2]
 */

const millions = Number(process.argv[2] ?? 2);
const rounds = Number(process.argv[3] ?? 2);
const end = new Date('2026-03-01T12:00:00Z');
const asked: readonly ScenarioName[] = ['payment-errors', 'third-party-slow', 'quiet'];
const bar = 5;

const loadAtStart = load();
const directory = await temporaryDirectory();
await mkdir(join(directory, 'shop'), { recursive: true });
const laboratory = await openLaboratory(join(directory, 'shop'));
try {
  const shown = [];
  for (const scenario of asked) {
    const options: DemoOptions = { scenario, seed: 1, minutes: 60, end };
    say(`${scenario}: loading`);
    const { organizationId, spans } = await loadBusyShop(laboratory, join(directory, 'shop'), options, millions * 1e6);
    say(`${scenario}: ${spans} spans are loaded`);
    // The first pays for the engine's start, which in a gateway runs already.
    await investigate(organizationId, options);
    for (let round = 1; round <= rounds; round += 1) {
      const cpuBefore = await engineCpuSeconds(organizationId);
      const { seconds, steps, blamed } = await investigate(organizationId, options);
      const cpu = (await engineCpuSeconds(organizationId)) - cpuBefore;
      say(`${scenario}: ${round} of ${rounds}, ${seconds.toFixed(2)} s, engine CPU ${cpu.toFixed(2)} s`);
      const slowest = steps.toSorted((a, b) => b.elapsed_ms - a.elapsed_ms)[0];
      shown.push({
        scenario,
        spans,
        seconds: Number(seconds.toFixed(2)),
        'engine CPU seconds': Number(cpu.toFixed(2)),
        'load average': load(),
        blames: blamed || 'none',
        'the cause': groundTruth(options).service ?? 'none',
        queries: steps.length,
        unanswered: steps.filter(({ error }) => error !== undefined).length,
        'slowest, ms': slowest?.elapsed_ms,
        'slowest question': slowest?.question.slice(0, 60),
      });
    }
  }
  console.table(shown);
  const wall = median(shown.map(({ seconds }) => seconds));
  const cpu = median(shown.map((each) => each['engine CPU seconds']));
  console.log(`Median of ${shown.length}: ${wall} s (bar: under ${bar} s on two idle cores), engine CPU ${cpu} s.`);
  const cores = cpus().length;
  const busy = loadAtStart > cores / 2 ? 'the seconds were measured under load' : 'the machine was idle';
  console.log(`Load average before the start: ${loadAtStart} on ${cores} cores: ${busy}.`);
} finally {
  await laboratory.close();
  await removeDirectory(directory);
}

async function investigate(
  organizationId: OrganizationId,
  options: DemoOptions,
): Promise<{ seconds: number; steps: readonly NewStep[]; blamed: string | undefined }> {
  const author = { kind: 'operator', id: 'bench', name: 'bench' } as const;
  const content = demoQuestion(options);
  const messages = [{ id: newId('msg'), seq: 1, role: 'user' as const, author, time: end, content, parts: [] }];
  const steps: NewStep[] = [];
  let blamed: string | undefined;
  const began = performance.now();
  const assignment = { organizationId, messages, steps: [], askedAt: end };
  for await (const event of laboratory.agent.investigate(assignment, AbortSignal.timeout(300_000))) {
    if (event.type === 'step') steps.push(event.step);
    if (event.type === 'conclusion') blamed = event.conclusion.service;
  }
  return { seconds: (performance.now() - began) / 1_000, steps, blamed };
}

async function engineCpuSeconds(organizationId: OrganizationId): Promise<number> {
  const [engine] = await findProcesses('engine/main', organizationId);
  if (engine === undefined) throw new Error('there is no engine');
  return await cpuSeconds(engine);
}

/** Of the last minute. */
function load(): number {
  return Number(loadavg()[0]?.toFixed(1));
}

/** The higher one of the two in the middle. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function say(what: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);
}

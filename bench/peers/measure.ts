import { treeCpuSeconds, treeResidentMb } from '../support/process.ts';
import type { Contender } from './contender.ts';
import { answerOf, requestOf, type Line } from './lines.ts';
import type { Generator, Load } from './load.ts';

export interface Sample {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
  /** Microseconds a request, of the server's processes and of the database's. */
  readonly cpu: number;
  readonly databaseCpu: number;
  readonly residentMb: number;
}

/** Medians of all rounds, and each round; or why there are none. */
export type Measured = (Sample & { readonly rounds: readonly Sample[] }) | { readonly wrong: string };

export interface Course {
  readonly generator: Generator;
  /** Of the database server's first process. */
  readonly database: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** All servers on one line in turns, A B C A B C …; each answers rightly once before it is measured. */
export async function race(
  line: Line,
  contenders: readonly Contender[],
  { generator, database, rounds, seconds }: Course,
): Promise<ReadonlyMap<Contender, Measured>> {
  const samples = new Map<Contender, Sample[]>();
  const results = new Map<Contender, Measured>();
  for (const contender of contenders) {
    const { url, speech, token } = contender;
    const request = requestOf(line, speech, token);
    try {
      await answerOf(url, request, line, speech);
      await warm(contender.pid, () => generator.load(url, request, line.connections, 1));
      samples.set(contender, []);
    } catch (error) {
      results.set(contender, { wrong: error instanceof Error ? error.message : 'unknown' });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [contender, taken] of samples) {
      const { url, speech, token, pid } = contender;
      const cpu = async () => [await treeCpuSeconds(pid), await treeCpuSeconds(database)] as const;
      const before = await cpu();
      const load = await generator.load(url, requestOf(line, speech, token), line.connections, seconds);
      const after = await cpu();
      const each = (index: 0 | 1) => ((after[index] - before[index]) * 1e6) / load.answers;
      taken.push({ ...load, cpu: each(0), databaseCpu: each(1), residentMb: await treeResidentMb(pid) });
    }
  }
  for (const [contender, taken] of samples) results.set(contender, { ...medians(taken), rounds: taken });
  return results;
}

/** Until an answer costs no less than before: the compiler has seen enough. Fifteen seconds at most. */
async function warm(pid: number, load: () => Promise<Load>): Promise<void> {
  let least = Infinity;
  let level = 0;
  for (let turn = 0; turn < 15 && level < 3; turn += 1) {
    const before = await treeCpuSeconds(pid);
    const { answers } = await load();
    const cost = ((await treeCpuSeconds(pid)) - before) / answers;
    level = cost < least * 0.97 ? 0 : level + 1;
    least = Math.min(least, cost);
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function medians(samples: readonly Sample[]): Sample {
  const of = (figure: keyof Sample) => median(samples.map((sample) => sample[figure]));
  return {
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    bytes: of('bytes'),
    cpu: of('cpu'),
    databaseCpu: of('databaseCpu'),
    residentMb: of('residentMb'),
  };
}

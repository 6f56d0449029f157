import type { Contender } from './contender.ts';
import { titleOf, type Line } from './lines.ts';
import { median, type Measured, type Sample } from './measure.ts';
import type { Roles } from './table.ts';

type Others = Readonly<Record<keyof Roles, Sample>>;

/** What must hold of one line's figures: the median of what each round says, whose servers found the machine alike. */
interface Bar {
  readonly of: Pick<Line, 'name' | 'connections'>;
  readonly what: string;
  readonly value: (own: Sample, others: Others) => number;
  readonly bar: { readonly least: number } | { readonly most: number };
}

const one = { name: 'select 1', connections: 16 };

const bars: readonly Bar[] = [
  ...(
    [
      ['tools/list', 1.5],
      ['select 1', 1],
    ] as const
  ).map(([name, least]): Bar => ({
    of: { name, connections: 16 },
    what: 'requests/s, times Toolbox',
    value: ({ rate }, { toolbox }) => rate / toolbox.rate,
    bar: { least },
  })),
  { of: one, what: 'requests/s, times DBHub', value: ({ rate }, { dbhub }) => rate / dbhub.rate, bar: { least: 4 } },
  { of: one, what: 'CPU µs, less bare', value: ({ cpu }, { limit }) => cpu - limit.cpu, bar: { most: 60 } },
  ...(
    [
      ['1,000 rows', 2.3],
      ['10,000 rows', 2.8],
    ] as const
  ).map(([name, least]): Bar => ({
    of: { name, connections: 16 },
    what: 'requests/s, times the better peer',
    value: ({ rate }, { toolbox, dbhub }) => rate / Math.max(toolbox.rate, dbhub.rate),
    bar: { least },
  })),
  ...['select 1', '1,000 rows'].map((name): Bar => ({
    of: { name, connections: 64 },
    what: 'p99, of the better peer',
    value: ({ p99 }, { toolbox, dbhub }) => p99 / Math.min(toolbox.p99, dbhub.p99),
    bar: { most: 1 },
  })),
];

/** A line of text for each bar of the line, with the figure of each of ours. */
export function judge(
  line: Line,
  results: ReadonlyMap<Contender, Measured>,
  { toolbox, dbhub, limit }: Roles,
  ours: readonly Contender[],
  rounds: number,
): readonly string[] {
  const sampleOf = (contender: Contender, round: number): Sample => {
    const result = results.get(contender);
    // What did not answer rightly has no figures, and what is compared with it neither.
    return (result === undefined || 'wrong' in result ? undefined : result.rounds[round]) ?? nothing;
  };
  const othersOf = (round: number): Others => ({
    toolbox: sampleOf(toolbox, round),
    dbhub: sampleOf(dbhub, round),
    limit: sampleOf(limit, round),
  });
  return bars
    .filter(({ of }) => of.name === line.name && of.connections === line.connections)
    .map(({ what, value, bar }) => {
      const figures = ours
        .filter((contender) => results.has(contender))
        .map((contender) => {
          const figure = median(
            Array.from({ length: rounds }, (_, round) => value(sampleOf(contender, round), othersOf(round))),
          );
          const holds = 'least' in bar ? figure >= bar.least : figure <= bar.most;
          return `${contender.name} ${figure.toFixed(2)} ${holds ? 'holds' : 'DOES NOT HOLD'}`;
        });
      const wanted = 'least' in bar ? `at least ${bar.least}` : `at most ${bar.most}`;
      return `${titleOf(line)}: ${what} (${wanted}): ${figures.join('; ')}`;
    });
}

const nothing: Sample = {
  rate: Number.NaN,
  p50: Number.NaN,
  p99: Number.NaN,
  bytes: Number.NaN,
  cpu: Number.NaN,
  databaseCpu: Number.NaN,
  residentMb: Number.NaN,
};

import { z } from 'zod';
import type { Report, Score } from '../lab/eval/index.ts';
import { act, wholeNumber, type Register } from './command.ts';
import { table, type Output } from './output.ts';
import { textBar } from '../web/graphics/sparkline.ts';

const shape = z.object({
  data: z.string().optional(),
  window: z.boolean().optional(),
  seed: z.number(),
  seeds: z.number().min(1).max(100),
  after: z.number().max(1_440),
  system: z.enum(['shop', 'parcels']),
  rate: z.number().min(1).max(1_000).optional(),
  only: z.enum(['traces', 'logs', 'metrics']).optional(),
});

export const register: Register = (program, output, summary) => {
  const command = program
    .command('eval')
    .description(
      `${summary}. --data names a folder with spans.parquet, logs.parquet, metrics.parquet and faults.json; without it a generated system is investigated, every scenario once for each seed`,
    )
    .option('--window', 'tell the agent a window around each fault, not when it began')
    .option('--seed <n>', 'moves the windows; the first seed of the system', wholeNumber, 1)
    .option('--after <minutes>', 'how long after the last span it is asked', wholeNumber, 0)
    .option('--seeds <n>', 'how many seeds, up to 100', wholeNumber, 5)
    .option('--system <name>', "the demo `shop`, or `parcels`: a carrier's queues, jobs and shared database", 'shop')
    .option('--rate <n>', 'requests a minute, to 1,000', wholeNumber)
    .option('--only <signal>', 'send traces, logs or metrics alone');
  act(command, output, shape, async ({ options: { data, window = false, seed, seeds: count, ...generated } }) => {
    const { evaluateDataSet, evaluateShop } = await import('../lab/eval/index.ts');
    const onProgress = (progress: number, what: string): void => output.progress(progress, what);
    const seeds = Array.from({ length: count }, (_, index) => seed + index);
    const report =
      data === undefined
        ? await evaluateShop({ ...generated, seeds }, onProgress)
        : await evaluateDataSet({ folder: data, window, seed }, onProgress);
    output.result(report, () => describe(output, report));
  });
};

function describe(output: Output, report: Report): string {
  const row = (name: string, { cases, ac1, ac3, ac5, visible_ac1, visible_ac3 }: Score): string[] => [
    name,
    String(cases),
    ac1 === null ? '–' : `${textBar(ac1)} ${shown(ac1)}`,
    ...[ac3, ac5, visible_ac1, visible_ac3].map(shown),
  ];
  const rows = [...Object.entries(report.by_type).map(([type, score]) => row(type, score)), row('all', report)];
  const { by_type: quietByType, ...quiet } = report.quiet;
  const quietRows = [...Object.entries(quietByType), ['all', quiet] as const].map(
    ([type, { cases, nothing_wrong }]) => [type, String(cases), shown(nothing_wrong)],
  );
  return [
    table(output, ['fault', 'cases', 'AC@1', 'AC@3', 'AC@5', 'shown @1', 'shown @3'], rows, 'No faults.'),
    ...(quiet.cases === 0 ? [] : [table(output, ['nothing wrong', 'cases', 'said'], quietRows, '')]),
    `Median: ${report.median_seconds ?? '–'} s, ${report.median_queries ?? '–'} queries, onset off by ${report.median_onset_error_seconds ?? '–'} s. Failed: ${report.failed}. Nothing wrong said of a fault: ${report.nothing_wrong_of_faults}. Claims against their evidence: ${report.contradictions}.`,
  ].join('\n');
}

function shown(share: number | null): string {
  return share === null ? '–' : share.toFixed(3);
}

import { pictureColumns, type Conclusion, type InvestigationStep } from '../../../contract/storage/index.ts';
import { histogram } from '../../graphics/bars.ts';
import type { Picture } from '../../graphics/picture.ts';
import { series, type Mark, type Series } from '../../graphics/series.ts';
import { serviceMap, type MapNode } from '../../graphics/service-map.ts';
import { waterfall } from '../../graphics/waterfall.ts';
import {
  asMilliseconds,
  cellsOf,
  has,
  percentOf,
  worseOperations,
  type Cells,
  type DrawnStep,
  type Rows,
} from './rows.ts';

/** What the steps of an investigation hold, so that it is drawn as it was found, without a query. */
export interface Drawn {
  readonly steps: readonly DrawnStep[];
  readonly conclusion: Pick<Conclusion, 'service' | 'suspicions'> | undefined;
  readonly marks: readonly Mark[];
}

export interface Shown extends Drawn {
  readonly steps: readonly InvestigationStep[];
  readonly conclusion: Conclusion | undefined;
}

const fewest = 5;

/** How the operation fared by which the trouble is felt. */
export function coursePictures({ steps, marks }: Drawn): readonly Picture[] {
  const step = steps.find((one) => has(one, pictureColumns.course));
  const rows = step === undefined ? [] : cellsOf(step);
  const times = rows.map((row) => row.time('bucket'));
  if (step === undefined || rows.length < 2) return [];
  const width = Math.min(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  const over = {
    from: Math.min(Date.parse(step.window.start), ...times),
    to: Math.max(Date.parse(step.window.end), (times.at(-1) ?? 0) + width),
    width,
    marks,
  };
  // Of fewer requests a share or a percentile says nothing.
  const enough = (value: number, row: Cells): number | undefined =>
    row.number('requests') < fewest ? undefined : value;
  const line = (name: string, value: (row: Cells) => number | undefined): Series['lines'][number] => ({
    name,
    points: rows.map((row) => [row.time('bucket'), value(row)] as const),
  });
  return [
    series({
      ...over,
      id: 'errors',
      title: 'Failing requests',
      unit: 'percent',
      lines: [line('failing', (row) => enough(percentOf(row.number('failed'), row.number('requests')), row))],
    }),
    series({
      ...over,
      id: 'latency',
      title: 'Latency',
      unit: 'ms',
      lines: [
        line('median', (row) => enough(asMilliseconds(row.number('median_nano')), row)),
        line('95th percentile', (row) => enough(asMilliseconds(row.number('p95_nano')), row)),
      ],
    }),
    series({
      ...over,
      id: 'requests',
      title: 'Requests',
      unit: 'count',
      shape: 'bars',
      lines: [line('requests', (row) => row.number('requests')), line('failed', (row) => row.number('failed'))],
    }),
  ];
}

/** Of which service and operation that is. */
export function courseOf({ steps }: Drawn): { readonly service: string; readonly operation: string } | undefined {
  const step = steps.find((one) => has(one, pictureColumns.course));
  const [row] = step === undefined ? [] : cellsOf(step);
  return row && { service: row.text('service_name'), operation: row.text('name') };
}

export function spreadPicture({ steps }: Drawn): Picture | undefined {
  const step = steps.find((one) => has(one, pictureColumns.spread));
  if (step === undefined || step.rows.length === 0) return undefined;
  const buckets = cellsOf(step).map((row) => ({
    upTo: row.number('up_to_ms'),
    now: row.number('requests_now'),
    before: row.number('requests_before'),
  }));
  return histogram({ id: 'spread', title: 'Latency distribution', buckets });
}

/** Service map, and which of them is to blame. */
export function mapPicture(shown: Drawn): Picture | undefined {
  const { steps, conclusion } = shown;
  const calls = steps
    .filter((step) => has(step, pictureColumns.calls))
    .flatMap(cellsOf)
    .map((row) => ({ caller: row.text('caller'), callee: row.text('callee'), count: row.number('count') }));
  if (calls.length === 0) return undefined;
  const worse = worseOperations(steps);
  const rivals = new Set(conclusion?.suspicions?.map(({ service }) => service));
  const shares = Map.groupBy(worse, ({ service }) => service);
  const share = (service: string): number | undefined => {
    const failed =
      shares.get(service)?.flatMap((one) => (one.failed ? [percentOf(one.failed.now, one.failed.of)] : [])) ?? [];
    return failed.length === 0 ? undefined : Math.max(...failed);
  };
  const role = (service: string): MapNode['role'] => {
    if (service === conclusion?.service) return 'cause';
    if (shares.has(service)) return 'affected';
    return rivals.has(service) ? 'suspect' : 'well';
  };
  const names = [
    ...new Set([
      ...calls.flatMap(({ caller, callee }) => [caller, callee]),
      ...(conclusion?.service ? [conclusion.service] : []),
    ]),
  ];
  return serviceMap({
    id: 'map',
    title: 'Service map',
    nodes: names.map((service) => ({ service, role: role(service), failing: share(service) })),
    calls,
  });
}

const spanColumns = ['time', 'span_id', 'parent_span_id', 'duration_nano', 'service_name', 'name'];

/** Whether it holds the spans of one trace. */
export function isTrace(step: Rows): boolean {
  return has(step, spanColumns) && step.rows.length > 0;
}

/** Undefined where the step holds no spans of one trace. `most` rows are drawn. */
export function tracePicture(step: Rows, id: string, most = 100): Picture | undefined {
  if (!isTrace(step)) return undefined;
  const spans = cellsOf(step).map((row) => ({
    id: row.text('span_id'),
    parentId: row.text('parent_span_id'),
    service: row.text('service_name'),
    operation: row.text('name'),
    consumer: row.text('kind') === 'CONSUMER',
    start: row.time('time'),
    duration: asMilliseconds(row.number('duration_nano')),
    failed: row.text('status_code') === 'ERROR',
    message: row.text('status_message'),
  }));
  return waterfall({ id, title: 'A trace', spans, most });
}

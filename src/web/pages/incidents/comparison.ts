import { pictureColumns } from '../../../contract/storage/index.ts';
import { bars } from '../../graphics/bars.ts';
import type { Picture } from '../../graphics/picture.ts';
import type { Unit } from '../../graphics/scale.ts';
import { series, type Mark } from '../../graphics/series.ts';
import { tracePicture } from './pictures.ts';
import { asMilliseconds, cellsOf, has, percentOf, type Cells, type DrawnStep } from './rows.ts';

interface Comparison {
  readonly needs: readonly string[];
  readonly title: string;
  readonly unit: Unit;
  readonly sides?: readonly [now: string, before: string];
  read(row: Cells): { readonly label: string; readonly now: number; readonly before: number };
}

const place = (row: Cells): string =>
  [row.text('service_name'), row.text('operation') || row.text('name')].filter(Boolean).join(' ');

/** Steps whose rows are figures of now beside those of before; the first that fits. */
const comparisons: readonly Comparison[] = [
  {
    needs: pictureColumns.slow,
    title: '95th percentile',
    unit: 'ms',
    read: (row) => ({
      label: place(row),
      now: asMilliseconds(row.number('p95_nano')),
      before: asMilliseconds(row.number('p95_before_nano')),
    }),
  },
  {
    needs: ['own_nano', 'own_before_nano', 'service_name'],
    title: 'Time of its own',
    unit: 'ms',
    read: (row) => ({
      label: place(row),
      now: asMilliseconds(row.number('own_nano')),
      before: asMilliseconds(row.number('own_before_nano')),
    }),
  },
  {
    needs: ['errors', 'errors_before', 'spans', 'spans_before'],
    title: 'Failing',
    unit: 'percent',
    read: (row) => ({
      label: [place(row), row.text('message')].filter(Boolean).join(': '),
      now: percentOf(row.number('errors'), row.number('spans')),
      before: percentOf(row.number('errors_before'), row.number('spans_before')),
    }),
  },
  {
    needs: ['hits', 'hits_before', 'spans', 'spans_before', 'pattern'],
    title: 'Share with it',
    unit: 'percent',
    read: (row) => ({
      label: `${row.text('service_name')}: ${row.text('pattern')}`,
      now: percentOf(row.number('hits'), row.number('spans')),
      before: percentOf(row.number('hits_before'), row.number('spans_before')),
    }),
  },
  {
    needs: ['attribute', 'attribute_value', 'bad', 'bad_total', 'rest', 'rest_total'],
    title: 'Share with it',
    unit: 'percent',
    sides: ['of the bad ones', 'of the rest'],
    read: (row) => ({
      label: `${row.text('attribute')}=${row.text('attribute_value')}`,
      now: percentOf(row.number('bad'), row.number('bad_total')),
      before: percentOf(row.number('rest'), row.number('rest_total')),
    }),
  },
  {
    needs: ['records', 'records_before', 'pattern'],
    title: 'Log lines',
    unit: 'count',
    read: (row) => ({
      label: `${row.text('service_name')}: ${row.text('pattern')}`,
      now: row.number('records'),
      before: row.number('records_before'),
    }),
  },
  {
    needs: ['value_now', 'value_before', 'name'],
    title: 'Value',
    unit: 'count',
    read: (row) => ({ label: place(row), now: row.number('value_now'), before: row.number('value_before') }),
  },
  {
    needs: ['caller', 'callee', 'median_nano', 'median_before_nano'],
    title: 'Time on the way',
    unit: 'ms',
    read: (row) => ({
      label: `${row.text('caller')} to ${row.text('callee')}`,
      now: asMilliseconds(row.number('median_nano')),
      before: asMilliseconds(row.number('median_before_nano')),
    }),
  },
];

const fewBars = 3;

interface Drawn {
  readonly id: string;
  readonly marks?: readonly Mark[];
  /** The finding that the picture is for: only rows of services that it names are drawn, where there are some. */
  readonly about?: string;
}

/** The rows of a step as bars, a course or a trace, where they are of that shape. */
export function stepPicture(step: DrawnStep, { id, marks = [], about = '' }: Drawn): Picture | undefined {
  if (step.rows.length === 0 || step.error !== undefined) return undefined;
  const trace = tracePicture(step, id, 12);
  if (trace) return trace;
  if (has(step, ['bucket', 'bad'])) return onsetPicture(step, id, marks);
  const found = comparisons.find(({ needs }) => has(step, needs));
  if (found === undefined) return undefined;
  const named = (row: Cells): boolean =>
    about.includes(`\`${row.text('service_name')}\``) &&
    (row.text('pattern') === '' || about.includes(row.text('pattern').slice(0, 20)));
  const all = cellsOf(step);
  const own = all.filter(named);
  const [now, before] = found.sides ?? ['now', 'before'];
  return bars({
    id,
    title: found.title,
    unit: found.unit,
    now,
    before,
    rows: (own.length > 0 ? own : all).slice(0, fewBars).map((row) => found.read(row)),
  });
}

function onsetPicture(step: DrawnStep, id: string, marks: readonly Mark[]): Picture | undefined {
  const rows = cellsOf(step);
  const total = (row: Cells): number => Math.max(row.number('spans'), row.number('total'), row.number('times'));
  return series({
    id,
    title: 'Share that is bad',
    unit: 'percent',
    from: Date.parse(step.window.start),
    to: Date.parse(step.window.end),
    lines: [
      {
        name: 'bad',
        points: rows.map((row) => [
          row.time('bucket'),
          total(row) === 0 ? undefined : percentOf(row.number('bad'), total(row)),
        ]),
      },
    ],
    marks,
  });
}

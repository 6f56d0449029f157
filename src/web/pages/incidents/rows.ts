import {
  pictureColumns,
  type Alert,
  type Conclusion,
  type InvestigationStep,
} from '../../../contract/storage/index.ts';
import { amount } from '../../graphics/scale.ts';
import type { Mark } from '../../graphics/series.ts';

/** What is drawn of a step. */
export type DrawnStep = Pick<InvestigationStep, 'columns' | 'rows' | 'window' | 'error'>;

/** A row of a step, whatever it holds. */
export interface Cells {
  text(column: string): string;
  /** 64-bit integers come as strings. */
  number(column: string): number;
  /** Milliseconds since 1970; NaN for none. */
  time(column: string): number;
}

/** What of a step holds rows. */
export type Rows = Pick<InvestigationStep, 'columns' | 'rows'>;

export function cellsOf({ columns, rows }: Rows): readonly Cells[] {
  return rows.map((row) => {
    const cell = (column: string): unknown => row[columns.indexOf(column)];
    return {
      text: (column) => {
        const value = cell(column);
        return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
      },
      number: (column) => amount(Number(cell(column) ?? 0)),
      time: (column) => {
        const value = cell(column);
        return typeof value === 'string' || typeof value === 'number' ? new Date(value).getTime() : Number.NaN;
      },
    };
  });
}

export function has({ columns }: Rows, wanted: readonly string[]): boolean {
  return wanted.every((column) => columns.includes(column));
}

export const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100);
export const asMilliseconds = (nanoseconds: number): number => nanoseconds / 1e6;

export interface Worse {
  readonly service: string;
  readonly operation: string;
  /** Of all requests; undefined where they are slow. */
  readonly failed?: { readonly now: number; readonly of: number; readonly before: number };
  /** 95th percentile, milliseconds. */
  readonly slow?: { readonly now: number; readonly before: number };
}

/** Operations that fail or are slow far more than before: the roughest of the agent's own measures. */
export function worseOperations(steps: readonly DrawnStep[]): readonly Worse[] {
  const rows = (wanted: readonly string[]): readonly Cells[] =>
    steps.filter((step) => has(step, wanted)).flatMap(cellsOf);
  const named = (row: Cells) => ({ service: row.text('service_name'), operation: row.text('name') });
  const found: readonly Worse[] = [
    ...rows(pictureColumns.failing).flatMap((row) => {
      const failed = {
        now: row.number('errors'),
        of: row.number('spans'),
        before: percentOf(row.number('errors_before'), row.number('spans_before')),
      };
      return failed.now >= 5 && percentOf(failed.now, failed.of) >= 2 * failed.before + 1
        ? [{ ...named(row), failed }]
        : [];
    }),
    ...rows(pictureColumns.slow).flatMap((row) => {
      const p95 = {
        now: asMilliseconds(row.number('p95_nano')),
        before: asMilliseconds(row.number('p95_before_nano')),
      };
      return p95.now >= 1.4 * p95.before && percentOf(row.number('slow_spans'), row.number('spans')) >= 12
        ? [{ ...named(row), slow: p95 }]
        : [];
    }),
  ];
  return found.filter(
    (one, index) =>
      found.findIndex((other) => other.service === one.service && other.operation === one.operation) === index,
  );
}

export interface MarkedAlert extends Pick<Alert, 'title' | 'startsAt'> {
  readonly endsAt?: Date | undefined;
}

/** What is marked on every course: the beginning, deploys and flags, alerts. */
export function marksOf(
  steps: readonly DrawnStep[],
  conclusion: Pick<Conclusion, 'onset'> | undefined,
  { listed }: { readonly listed: readonly MarkedAlert[] },
): readonly Mark[] {
  const changes = steps.filter((step) => has(step, pictureColumns.changes)).flatMap(cellsOf);
  const onset =
    conclusion?.onset === undefined
      ? []
      : [{ at: Date.parse(conclusion.onset), kind: 'onset', label: 'it begins' } as const];
  const alerts = listed.slice(0, 8);
  const marks: readonly Mark[] = [
    ...onset,
    ...changes
      .filter((row) => row.text('kind') !== 'evaluation')
      .slice(0, 8)
      .map((row) => ({ at: row.time('first_seen'), kind: 'change', label: changeText(row) }) as const),
    ...alerts.map(
      ({ title, startsAt }) => ({ at: startsAt.getTime(), kind: 'alert', label: `alert “${title}”` }) as const,
    ),
    ...alerts.flatMap(({ title, endsAt }) =>
      endsAt === undefined ? [] : ({ at: endsAt.getTime(), kind: 'end', label: `alert “${title}” ended` } as const),
    ),
  ];
  return marks.filter(({ at }) => Number.isFinite(at)).toSorted((a, b) => a.at - b.at);
}

function changeText(row: Cells): string {
  if (row.text('kind') === 'deploy')
    return `${row.text('service')} ${row.text('version')} ${row.text('status') === 'failed' ? 'failed to deploy' : 'deployed'}`;
  return `flag ${row.text('flag')} set to ${row.text('flag_value')}`;
}

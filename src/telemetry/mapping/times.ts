import type { MomentForm, Unit } from '../../contract/telemetry/index.ts';
import { givenOf, median, type Fit, type Seen, type SeenColumns, type Sql } from './seen.ts';

const nanosIn: Readonly<Record<Unit, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** Of a time, which kind of number or text it is; `time` where it is one already. */
export function momentForm({ holds, cells }: Seen): MomentForm | 'time' | undefined {
  if (holds === 'time' || holds === 'local') return holds;
  const given = givenOf(cells);
  if (holds === 'text')
    return given.length > 0 && given.every((cell) => /^\d{4}-\d\d-\d\d/.test(cell)) ? 'text' : undefined;
  if (holds !== 'integer' && holds !== 'float') return undefined;
  const seconds = median(given.map(Number));
  // From 2001 to 2096, by the unit that puts it there.
  return (['s', 'ms', 'us', 'ns'] as const).find((unit) => {
    const at = (seconds * nanosIn[unit]) / 1e9;
    return at > 1e9 && at < 4e9;
  });
}

/** A time in nanoseconds, row by row. */
function momentsOf(seen: Seen): readonly number[] {
  const form = momentForm(seen);
  const factor =
    form === undefined || form === 'text' ? Number.NaN : form === 'time' || form === 'local' ? 1 : nanosIn[form];
  return seen.cells.map((cell) => (cell === null ? Number.NaN : Number(cell) * factor));
}

export function momentFit(seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const form = momentForm(seen);
  if (form === 'time') return undefined;
  if (form === undefined) return given.length === 0 ? undefined : { found: 'no time in a form that is known' };
  const mend = sql.moment(seen.sql, form);
  if (form === 'local') return { found: 'times without a zone, taken for UTC', mend };
  return { found: form === 'text' ? 'times as text' : `times as numbers, in ${unitNames[form]} since 1970`, mend };
}

const unitNames: Readonly<Record<Unit, string>> = {
  ns: 'nanoseconds',
  us: 'microseconds',
  ms: 'milliseconds',
  s: 'seconds',
};

/** By its end and its beginning where both are there, else by its name, else by its size. */
export function durationFit(seen: Seen, { time, end_time: end }: SeenColumns, sql: Sql): Fit | undefined {
  if (seen.holds === 'interval') return { found: 'intervals', mend: sql.nanos(seen.sql, 'interval') };
  const known = (time && end && unitBetween(seen, time, end)) ?? unitOfName(seen.name);
  const given = seen.cells.map(Number).filter((cell) => cell > 0);
  if (known === undefined) {
    if (given.length === 0) return undefined;
    const unit = unitOfSize(median(given));
    const mend = unit === 'ns' && seen.holds === 'integer' ? seen.sql : sql.nanos(seen.sql, unit);
    return { found: `durations without a unit, by their size taken for ${unitNames[unit]}`, mend };
  }
  if (known !== 'ns') return { found: unitNames[known], mend: sql.nanos(seen.sql, known) };
  if (seen.holds === 'float') return { found: 'fractions', mend: sql.nanos(seen.sql, 'ns') };
  return seen.cells.includes(null) ? { found: 'NULL in some rows', mend: `coalesce(${seen.sql}, 0)` } : undefined;
}

/** The unit in which half of all spans take nearest to ten milliseconds. */
function unitOfSize(middle: number): Unit {
  const far = (unit: Unit) => Math.abs(Math.log10((middle * nanosIn[unit]) / 1e7));
  return (['ns', 'us', 'ms', 's'] as const).toSorted((one, other) => far(one) - far(other)).at(0) ?? 'ns';
}

function unitOfName(name: string): Unit | undefined {
  const found = /(nano|(?:^|[^a-z])ns$)|(micro|(?:^|[^a-z])us$)|(milli|(?:^|[^a-z])ms$)|(sec|(?:^|[^a-z])s$)/i.exec(
    name
      .replaceAll(/["`]/g, '')
      .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase(),
  );
  const at = found?.slice(1).findIndex((group) => group !== undefined);
  return at === undefined ? undefined : (['ns', 'us', 'ms', 's'] as const)[at];
}

function unitBetween(seen: Seen, time: Seen, end: Seen): Unit | undefined {
  const [starts, ends] = [momentsOf(time), momentsOf(end)];
  const ratios = seen.cells.flatMap((cell, row) => {
    const took = (ends[row] ?? Number.NaN) - (starts[row] ?? Number.NaN);
    return took > 0 && Number(cell) > 0 ? [took / Number(cell)] : [];
  });
  if (ratios.length === 0) return undefined;
  const ratio = median(ratios);
  return (['ns', 'us', 'ms', 's'] as const).find((unit) => ratio > nanosIn[unit] / 2 && ratio < nanosIn[unit] * 2);
}

import { bars, mostBars } from '../../graphics/bars.ts';
import type { Picture } from '../../graphics/picture.ts';
import { isAmount, type Unit } from '../../graphics/scale.ts';
import { mostLines, series, type Line } from '../../graphics/series.ts';
import type { QueryResult } from '../../services.ts';

interface Column {
  readonly name: string;
  readonly at: number;
}

interface Shape {
  readonly id: string;
  readonly rows: QueryResult['rows'];
  readonly time: Column | undefined;
  /** What a row is of. */
  readonly texts: readonly Column[];
  readonly numbers: readonly Column[];
}

const numberType = /int|float|double|dec|num|real/i;
const timeText = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** More columns of text than these do not fit on one label. */
const mostTexts = 2;

/** A time and numbers as a course, by text where there is one; text and a number as bars; else no picture. */
export function chartOf({ columns, rows }: Pick<QueryResult, 'columns' | 'rows'>, id = 'chart'): Picture | undefined {
  if (rows.length < 2) return undefined;
  const all = columns.map(({ name, type }, at) => ({ name, type, at }));
  const time = all.find(({ at }) => rows.every((row) => typeof row[at] === 'string' && timeText.test(row[at])));
  const numbers = all.filter(
    ({ type, at }) => numberType.test(type) && rows.every((row) => row[at] === null || isAmount(numberIn(row[at]))),
  );
  const texts = all.filter((one) => one !== time && !numbers.includes(one));
  const [first] = numbers;
  // All of them say what a row is of: a picture by the first alone would say something else.
  if (first === undefined || texts.length > mostTexts) return undefined;
  const shape: Shape = {
    id,
    rows,
    time,
    texts,
    numbers: numbers.filter(({ name }) => unitOf(name) === unitOf(first.name)),
  };
  return time === undefined ? barsOf(shape) : courseOf(shape);
}

function courseOf({ id, rows, time, texts, numbers }: Shape): Picture | undefined {
  const [first] = numbers;
  if (time === undefined || first === undefined) return undefined;
  const at = (row: readonly unknown[]): number => Date.parse(String(row[time.at]));
  const times = [...new Set(rows.map(at))].filter((one) => Number.isFinite(one)).toSorted((a, b) => a - b);
  const [from, to] = [times[0], times.at(-1)];
  if (from === undefined || to === undefined || from === to) return undefined;
  const line = (name: string, of: QueryResult['rows'], number: Column): Line => {
    const known = new Map(of.map((row) => [at(row), valueIn(row, number)]));
    return { name, points: times.map((one) => [one, known.get(one)] as const) };
  };
  const lines =
    texts.length === 0
      ? numbers.map((number) => line(number.name, rows, number))
      : [...Map.groupBy(rows, (row) => labelOf(row, texts))].map(([name, of]) => line(name, of, first));
  const title = texts.length === 0 ? numbers.map(({ name }) => name).join(', ') : by(first, texts);
  return series({
    id,
    title: titled(title, lines.length, mostLines),
    unit: unitOf(first.name),
    from,
    to,
    lines: largest(lines),
    marks: [],
  });
}

function barsOf({ id, rows, texts, numbers: [first] }: Shape): Picture | undefined {
  if (texts.length === 0 || first === undefined) return undefined;
  return bars({
    id,
    title: titled(by(first, texts), rows.length, mostBars),
    unit: unitOf(first.name),
    now: first.name,
    rows: rows.map((row) => ({ label: labelOf(row, texts), now: valueIn(row, first) ?? 0 })),
  });
}

function by({ name }: Column, texts: readonly Column[]): string {
  return `${name} by ${texts.map((text) => text.name).join(' and ')}`;
}

function labelOf(row: readonly unknown[], texts: readonly Column[]): string {
  return texts.map(({ at }) => textIn(row[at])).join(' · ');
}

/** A picture has room for so many. */
function titled(title: string, count: number, most: number): string {
  return count > most ? `${title} (${most} of ${count})` : title;
}

/** Those with the most first. */
function largest(lines: readonly Line[]): readonly Line[] {
  const total = ({ points }: Line): number => points.reduce((sum, [, value]) => sum + (value ?? 0), 0);
  return lines.toSorted((a, b) => total(b) - total(a));
}

/** 64-bit integers and decimals come as text. */
function numberIn(cell: unknown): number | undefined {
  if (typeof cell === 'number') return cell;
  return typeof cell === 'string' && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : undefined;
}

function textIn(cell: unknown): string {
  return typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
}

function unitOf(name: string): Unit {
  if (/_nano$|_ms$/i.test(name)) return 'ms';
  return /percent/i.test(name) ? 'percent' : 'count';
}

/** In the unit that a picture has. */
function valueIn(row: readonly unknown[], { name, at }: Column): number | undefined {
  const value = numberIn(row[at]);
  return value !== undefined && /_nano$/i.test(name) ? value / 1e6 : value;
}

import { html, type Html } from '../html.ts';
import { picture, tip, type Picture } from './picture.ts';
import { across, clock, isAmount, isTime, label, niceAxis, quantity, shareOf, timeTicks, type Unit } from './scale.ts';

export interface Mark {
  /** Milliseconds since 1970, as all times here. */
  readonly at: number;
  readonly kind: 'onset' | 'change' | 'alert' | 'end';
  readonly label: string;
}

export interface Line {
  readonly name: string;
  /** By time; undefined where nothing is known, which is not 0. */
  readonly points: readonly (readonly [at: number, value: number | undefined])[];
}

export interface Series {
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly Line[];
  readonly marks: readonly Mark[];
  /** Milliseconds that a point stands for; it is drawn in their middle. */
  readonly width?: number;
  readonly shape?: 'line' | 'bars';
}

const tall = 110;
/** Three lanes of marks, one for each kind. */
const lanes = 32;
const legendHeight = 16;
/** More vertices than pixels across are drawn as the least and the most of each column. */
const mostColumns = 400;
/** Points with a text of their own under the pointer. */
const mostTips = 80;
export const mostLines = 6;
const mostMarks = 40;

/** Values over time from a baseline of 0, with what happened. At most six lines. */
export function series(input: Series): Picture {
  const { id, title, unit, from, to, shape = 'line', width = 0 } = input;
  const lines = input.lines
    .slice(0, mostLines)
    .map(({ name, points }) => ({ name, points: points.filter(([at]) => isTime(at)) }));
  const marks = input.marks.filter(({ at }) => at >= from && at <= to).slice(0, mostMarks);
  const top = lanes + (lines.length > 1 ? legendHeight : 0);
  const values = lines.flatMap(({ points }) => points.flatMap(([, value]) => (isAmount(value) ? [value] : [])));
  const highest = values.reduce((most, value) => Math.max(most, value), 0);
  const axis = niceAxis(highest);
  const x = (at: number): number => shareOf(at, from, to);
  const onset = marks.find(({ kind }) => kind === 'onset');
  const drawn = lines.map(({ points }) =>
    columnsOf(
      points.map(([at, value]) => [at + width / 2, value]),
      from,
      to,
    ),
  );
  const body = [
    onset &&
      html`<rect
        class="after"
        x="${across(x(onset.at))}"
        width="${across(1 - x(onset.at))}"
        y="${top}"
        height="${tall}"
      />`,
    axis.ticks.map((tick) => gridLine(top + (1 - tick / axis.top) * tall, quantity(tick, unit))),
    timeAxis(from, to, top + tall + 16),
    shape === 'bars'
      ? lines.map(({ points }, index) =>
          points.map(([at, value]) => bar({ x: x(at), end: x(at + width), index, base: top + tall }, value, axis.top)),
        )
      : html`<svg
          x="0"
          y="${top}"
          width="100%"
          height="${tall}"
          viewBox="0 0 1000 100"
          preserveAspectRatio="none"
          class="stretched"
        >
          ${drawn.map((points, index) => html`${index === 0 && html`<path class="area" d="${areaOf(points, axis.top)}" />`}<path class="line line-${index}" d="${pathOf(points, axis.top)}" />`)}
        </svg>`,
    marks.map((mark) => markHtml(mark, x(mark.at), top)),
    lines.length > 1 &&
      legend(
        lines.map(({ name }) => name),
        shape,
      ),
    ...(lines[0] !== undefined && lines[0].points.length <= mostTips ? tips(lines, { x, width, unit, top }) : []),
  ];
  return picture({ id, height: top + tall + 22, kind: 'plot', timed: true, body, title, ...told(input, lines) });
}

function told(
  { unit, from, to, marks, width }: Series,
  lines: readonly Line[],
): Pick<Picture, 'description' | 'columns' | 'rows'> {
  const spoken = lines.map(({ name, points }) => {
    const known = points.flatMap(([at, value]) => (isAmount(value) ? [{ at, value }] : []));
    const most = known.reduce<(typeof known)[number] | undefined>(
      (a, b) => (a === undefined || b.value > a.value ? b : a),
      undefined,
    );
    return most === undefined
      ? `${name}: nothing is known`
      : `${name}: at most ${quantity(most.value, unit)}, at ${clock(most.at)}`;
  });
  const happened = marks.map(({ at, label: text }) => `${clock(at)} ${text}`);
  const times = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].toSorted((a, b) => a - b);
  const byLine = lines.map(({ points }) => new Map(points));
  const shown = (value: number | undefined): string => (isAmount(value) ? quantity(value, unit) : '–');
  return {
    description: `From ${clock(from, true)} to ${clock(to)} UTC. ${[...spoken, ...happened].join('; ')}.`,
    columns: [width === undefined ? 'Time (UTC)' : 'From (UTC)', ...lines.map(({ name }) => name)],
    rows: times.map((at) => [clock(at, true)].concat(byLine.map((points) => shown(points.get(at))))),
  };
}

type Vertex = readonly [x: number, value: number | undefined];

/** In thousandths of the width; of many points in one column the least and the most. */
function columnsOf(points: Line['points'], from: number, to: number): readonly Vertex[] {
  const inside = points.filter(([at]) => at >= from && at <= to);
  const placed = inside.map(([at, value]): Vertex => [shareOf(at, from, to) * 1_000, value]);
  if (placed.length <= 2 * mostColumns) return placed;
  const columns = Map.groupBy(placed, ([x]) => Math.min(mostColumns - 1, Math.floor((x / 1_000) * mostColumns)));
  return [...columns.values()].flatMap((column) => {
    const known = column.filter(([, value]) => isAmount(value)).toSorted(([, a = 0], [, b = 0]) => a - b);
    const [least, most] = [known[0], known.at(-1)];
    if (least === undefined || most === undefined) return column.slice(0, 1);
    return least[0] <= most[0] ? [least, most] : [most, least];
  });
}

/** Stretches without a gap; a value alone is a short dash. */
function stretches(points: readonly Vertex[]): readonly (readonly (readonly [number, number])[])[] {
  const found: [number, number][][] = [[]];
  for (const [x, value] of points) {
    if (isAmount(value)) found.at(-1)?.push([x, value]);
    else if (found.at(-1)?.length !== 0) found.push([]);
  }
  return found
    .filter(({ length }) => length > 0)
    .map((run) =>
      run.length === 1
        ? run.flatMap(([x, value]): [number, number][] => [
            [x - 3, value],
            [x + 3, value],
          ])
        : run,
    );
}

function pathOf(points: readonly Vertex[], highest: number): string {
  return stretches(points)
    .map((run) => `M${run.map(([x, value]) => `${short(x)} ${short(100 - (value / highest) * 100)}`).join('L')}`)
    .join('');
}

function areaOf(points: readonly Vertex[], highest: number): string {
  return stretches(points)
    .map(
      (run) =>
        `M${short(run[0]?.[0] ?? 0)} 100L${run.map(([x, value]) => `${short(x)} ${short(100 - (value / highest) * 100)}`).join('L')}L${short(run.at(-1)?.[0] ?? 0)} 100Z`,
    )
    .join('');
}

function bar(
  { x, end, index, base }: Readonly<Record<'x' | 'end' | 'index' | 'base', number>>,
  value: number | undefined,
  highest: number,
): Html | false {
  if (!isAmount(value) || value <= 0) return false;
  const size = (value / highest) * tall;
  return html`<rect
    class="bar bar-${index}"
    x="${across(x)}"
    width="${across(Math.max(0.003, (end - x) * 0.9))}"
    y="${short(base - size)}"
    height="${short(size)}"
  />`;
}

function gridLine(down: number, text: string): Html {
  const y = short(down);
  return html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}" /><text class="y" x="-6" y="${y}" dy=".35em"
      >${text}</text
    >`;
}

export function timeAxis(from: number, to: number, y: number): readonly Html[] {
  return timeTicks(from, to).map((tick, index) => {
    const at = shareOf(tick, from, to);
    const anchor = at > 0.95 ? 'end' : at < 0.05 ? 'start' : 'middle';
    return html`<text class="x${index % 2 === 1 ? ' minor' : ''}" x="${across(at)}" y="${y}" text-anchor="${anchor}"
      >${clock(tick)}</text
    >`;
  });
}

const laneOf = { change: 20, onset: 10, alert: 0, end: 0 } as const satisfies Record<Mark['kind'], number>;

function markHtml({ at, kind, label: text }: Mark, x: number, top: number): Html {
  const y = top - lanes + laneOf[kind];
  return html`<g class="mark ${kind}"
    >${tip(`${clock(at)} UTC: ${label(text, 200)}`)}
    <line x1="${across(x)}" x2="${across(x)}" y1="${y + 8}" y2="${top + tall}" />
    <svg x="${across(x)}" y="${y}" class="glyph">${glyph(kind)}</svg></g
  >`;
}

/** A shape for each kind, around 0: none is known by its colour alone. */
export function glyph(kind: Mark['kind']): Html {
  switch (kind) {
    case 'onset':
      return html`<path d="M-6 0H6L0 9Z" />`;
    case 'change':
      return html`<path d="M0-1L6 5 0 11-6 5Z" />`;
    case 'alert':
      return html`<path d="M0-1L6 9H-6Z" />`;
    case 'end':
      return html`<path d="M-5 0H5V10H-5Z" />`;
  }
}

function legend(names: readonly string[], shape: 'line' | 'bars'): Html {
  let x = 0;
  return html`<g class="legend">
    ${names.map((name, index) => {
      const text = label(name, 24);
      const at = x;
      x += 34 + text.length * 7;
      const sample =
        shape === 'bars'
          ? html`<rect class="bar bar-${index}" x="${at}" width="12" y="1" height="10" />`
          : html`<line class="line line-${index}" x1="${at}" x2="${at + 20}" y1="6" y2="6" />`;
      return html`${sample}<text x="${at + (shape === 'bars' ? 17 : 25)}" y="10">${text}</text>`;
    })}
  </g>`;
}

function tips(
  lines: readonly Line[],
  {
    x,
    width,
    unit,
    top,
  }: Pick<Series, 'unit'> & { readonly x: (at: number) => number; readonly width: number; readonly top: number },
): readonly Html[] {
  const [first] = lines;
  return (first?.points ?? []).map(([at], index) => {
    const said = lines.map(
      ({ name, points }) => `${name} ${isAmount(points[index]?.[1]) ? quantity(points[index][1], unit) : '–'}`,
    );
    const until = width > 0 ? ` to ${clock(at + width)}` : '';
    return html`<rect
      class="hit"
      x="${across(x(at))}"
      width="${across(Math.max(0.01, x(at + width) - x(at)))}"
      y="${top}"
      height="${tall}"
      >${tip(`${clock(at)}${until} UTC: ${said.join(', ')}`)}</rect
    >`;
  });
}

function short(value: number): string {
  return String(Number(value.toFixed(1)));
}

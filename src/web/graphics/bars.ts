import { html, type Html } from '../html.ts';
import { picture, type Picture } from './picture.ts';
import { across, amount, isAmount, label, niceAxis, quantity, shareOf, type Unit } from './scale.ts';

export interface Compared {
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  /** What the two bars of a row stand for; without `before` there is one. */
  readonly now: string;
  readonly before?: string;
  readonly rows: readonly { readonly label: string; readonly now: number; readonly before?: number | undefined }[];
}

export const mostBars = 8;
/** Room for the figure behind the longest bar. */
const widest = 0.8;

/** Two bars a row from 0: solid now, hollow before. At most eight rows. */
export function bars({ id, title, unit, now, before, rows: all }: Compared): Picture {
  const rows = all.slice(0, mostBars).map((row) => ({
    label: row.label,
    now: amount(row.now),
    before: isAmount(row.before) ? row.before : undefined,
  }));
  const highest = Math.max(0, ...rows.flatMap((row) => [row.now, row.before ?? 0]));
  const tallRow = before === undefined ? 32 : 44;
  const length = (value: number): number => widest * shareOf(value, 0, highest);
  const one = (value: number, y: number, kind: string): Html =>
    html`<rect class="bar ${kind}" x="0" width="${across(Math.max(0.002, length(value)))}" y="${y}" height="9" />
      <text class="value" x="${across(length(value))}" dx="5" y="${y + 8}">${quantity(value, unit)}</text>`;
  const names = distinct(rows.map((row) => row.label));
  const body = [
    html`<rect class="bar now" x="0" y="1" width="12" height="9" /><text x="17" y="10">${label(now, 60)}</text> ${
        before !== undefined &&
        html`<rect class="bar before" x="${30 + now.length * 7}" y="1" width="12" height="9" /><text
            x="${47 + now.length * 7}"
            y="10"
            >${before}</text
          >`
      }`,
    rows.map((row, index) => {
      const y = 22 + index * tallRow;
      return html`<text class="name" x="0" y="${y + 10}">${names[index]}</text
        >${one(row.now, y + 15, 'now')}${row.before !== undefined && one(row.before, y + 27, 'before')}`;
    }),
  ];
  const said = rows.map(
    (row) =>
      `${label(row.label, 80)}: ${quantity(row.now, unit)}${row.before === undefined ? '' : ` (${quantity(row.before, unit)})`}`,
  );
  return picture({
    id,
    title,
    kind: 'rows',
    height: 22 + rows.length * tallRow,
    body,
    description: `${now}${before === undefined ? '' : `, in brackets ${before}`}. ${said.join('; ')}.`,
    columns: ['What', now, ...(before === undefined ? [] : [before])],
    rows: rows.map((row) =>
      [row.label, quantity(row.now, unit)].concat(
        before === undefined ? [] : row.before === undefined ? '–' : quantity(row.before, unit),
      ),
    ),
  });
}

const widestName = 44;

/** What would be cut to the same is cut in the middle. */
function distinct(labels: readonly string[]): readonly string[] {
  const cut = labels.map((text) => label(text, widestName));
  const half = Math.floor(widestName / 2);
  return cut.map((text, at) => {
    const whole = label(labels[at] ?? '', Infinity);
    return whole.length > widestName && cut.indexOf(text) !== cut.lastIndexOf(text)
      ? `${whole.slice(0, half)}…${whole.slice(-half + 1)}`.toWellFormed()
      : text;
  });
}

export interface Histogram {
  readonly id: string;
  readonly title: string;
  /** Ascending; `upTo` in milliseconds. */
  readonly buckets: readonly { readonly upTo: number; readonly now: number; readonly before: number }[];
}

const [top, tall] = [24, 96];

/** How long requests take, now beside before, each as shares of its own total. */
export function histogram({ id, title, buckets: all }: Histogram): Picture {
  const used = (bucket: Histogram['buckets'][number]): boolean => bucket.now > 0 || bucket.before > 0;
  const known = all.map(({ upTo, now, before }) => ({ upTo: amount(upTo), now: amount(now), before: amount(before) }));
  const buckets = known.slice(Math.max(0, known.findIndex(used)), known.findLastIndex(used) + 1).slice(0, 40);
  const total = (side: 'now' | 'before'): number =>
    Math.max(
      1,
      buckets.reduce((sum, bucket) => sum + bucket[side], 0),
    );
  const [now, before] = [total('now'), total('before')];
  const shares = buckets.map((bucket) => ({
    upTo: bucket.upTo,
    now: (bucket.now / now) * 100,
    before: (bucket.before / before) * 100,
  }));
  const axis = niceAxis(Math.max(0, ...shares.flatMap((bucket) => [bucket.now, bucket.before])));
  const step = 1 / Math.max(1, shares.length);
  const column = (value: number, x: number, kind: string): Html => {
    const size = (value / axis.top) * tall;
    return html`<rect
      class="bar ${kind}"
      x="${across(x)}"
      width="${across(step * 0.4)}"
      y="${(top + tall - size).toFixed(1)}"
      height="${size.toFixed(1)}"
    />`;
  };
  const body = [
    html`<rect class="bar before" x="0" y="1" width="12" height="9" /><text x="17" y="10">before</text
      ><rect class="bar now" x="72" y="1" width="12" height="9" /><text x="89" y="10">now</text>`,
    axis.ticks.map((tick) => {
      const y = (top + tall - (tick / axis.top) * tall).toFixed(1);
      return html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}" /><text class="y" x="-6" y="${y}" dy=".35em"
          >${quantity(tick, 'percent')}</text
        >`;
    }),
    shares.map((bucket, index) => {
      const x = index * step;
      return html`${column(bucket.before, x + step * 0.08, 'before')}${column(bucket.now, x + step * 0.5, 'now')}
        <text
          class="x${index % 2 === 1 ? ' minor' : ''}"
          x="${across(x + step)}"
          y="${top + tall + 15}"
          text-anchor="end"
          >${quantity(bucket.upTo, 'ms')}</text
        >`;
    }),
  ];
  const peak = (side: 'now' | 'before'): string => {
    const found = shares.toSorted((a, b) => b[side] - a[side])[0];
    return found === undefined
      ? 'no requests'
      : `most end within ${quantity(found.upTo, 'ms')} (${quantity(found[side], 'percent')})`;
  };
  return picture({
    id,
    title,
    kind: 'plot',
    height: top + tall + 20,
    body,
    description: `Now, ${peak('now')}; before, ${peak('before')}.`,
    columns: ['Up to', 'Now', 'Before'],
    rows: shares.map((bucket) => [
      quantity(bucket.upTo, 'ms'),
      quantity(bucket.now, 'percent'),
      quantity(bucket.before, 'percent'),
    ]),
  });
}

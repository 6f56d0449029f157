import { html } from '../html.ts';
import { picture, tip, type Picture } from './picture.ts';
import { across, clock, isTime, label, shareOf } from './scale.ts';
import { glyph, timeAxis, type Mark } from './series.ts';

export interface Timeline {
  readonly id: string;
  readonly title: string;
  readonly events: readonly Mark[];
}

const most = 30;
/** Closer than this, of the width, two marks would cover each other. */
const apart = 0.06;

/** What happened when, on one axis; each mark has the number of its row in the table. */
export function timeline({ id, title, events: all }: Timeline): Picture {
  const events = all
    .filter(({ at }) => isTime(at))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, most);
  const [first, last] = [events[0]?.at ?? 0, events.at(-1)?.at ?? 0];
  const room = Math.max(60_000, (last - first) * 0.05);
  const [from, to] = [first - room, last + room];
  const lanes: number[] = [];
  const placed = events.map((event) => {
    const x = shareOf(event.at, from, to);
    const free = lanes.findIndex((end) => x - end >= apart);
    const lane = free === -1 ? lanes.length : free;
    lanes[lane] = x;
    return { event, x, lane };
  });
  const base = Math.max(1, lanes.length) * 18 + 4;
  const body = [
    html`<line class="axis" x1="0" x2="100%" y1="${base}" y2="${base}" />`,
    timeAxis(from, to, base + 16),
    placed.map(({ event, x, lane }, index) => {
      const y = base - (lane + 1) * 18;
      return html`<g class="mark ${event.kind}"
        >${tip(`${clock(event.at)} UTC: ${label(event.label, 200)}`)}
        <line x1="${across(x)}" x2="${across(x)}" y1="${y + 8}" y2="${base}" />
        <svg x="${across(x)}" y="${y}" class="glyph">
          ${glyph(event.kind)}
          <text x="9" y="10">${index + 1}</text>
        </svg></g
      >`;
    }),
  ];
  return picture({
    id,
    title,
    kind: 'rows',
    timed: true,
    height: base + 22,
    body,
    description: `${events.map(({ at, label: text }) => `${clock(at)} ${text}`).join('; ')}.`,
    columns: ['Number', 'Time (UTC)', 'What happened'],
    rows: events.map(({ at, label: text }, index) => [String(index + 1), clock(at, true), text]),
  });
}

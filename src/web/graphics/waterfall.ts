import { criticalPath } from '../../contract/telemetry/critical-path.ts';
import type { TimedSpan } from '../../contract/telemetry/critical-path.ts';
import { html, type Html } from '../html.ts';
import { picture, tip, type Picture } from './picture.ts';
import { across, amount, label, quantity, shareOf } from './scale.ts';

export interface DrawnSpan extends TimedSpan {
  readonly failed: boolean;
  /** What a failed one says. */
  readonly message: string;
}

export interface Waterfall {
  readonly id: string;
  readonly title: string;
  readonly spans: readonly DrawnSpan[];
  /** Rows that are drawn; the rest of a larger trace is counted. */
  readonly most?: number;
}

const row = 20;
const head = 22;
/** Of the width, for the names. */
const names = 0.42;
const deepest = 10;

/** A trace span by span, with its critical path underlined. Of many spans those that tell most, under their callers. */
export function waterfall({ id, title, spans: received, most = 100 }: Waterfall): Picture {
  const byId = new Map(
    received.map((span) => [span.id, { ...span, start: amount(span.start), duration: amount(span.duration) }]),
  );
  const spans = [...byId.values()];
  const path = Map.groupBy(criticalPath(spans), (link) => link.id);
  const shown = choose(spans, byId, new Set(path.keys()), most);
  const ordered = inOrder(shown);
  const from = spans.reduce((least, { start }) => Math.min(least, start), spans[0]?.start ?? 0);
  const to = spans.reduce((last, { start, duration }) => Math.max(last, start + duration), from);
  const x = (at: number): number => shareOf(at, from, to);
  const services = [...new Set(ordered.map(({ span }) => span.service))];
  const body = [
    [0, 0.5, 1].map(
      (share) =>
        html`<text
          class="x"
          x="${across(names + share * (1 - names))}"
          y="12"
          text-anchor="${share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}"
          >${quantity((to - from) * share, 'ms')}</text
        >`,
    ),
    ordered.map(({ span, depth }, index) => {
      const y = head + index * row;
      const end = x(span.start + span.duration);
      const time = quantity(span.duration, 'ms');
      const said = `${span.service} ${span.operation}: ${time}${span.failed ? `, failed${span.message === '' ? '' : `: ${span.message}`}` : ''}`;
      return html`<g class="span${span.failed ? ' failed' : ''}"
        >${tip(label(said, 300))}
        <svg x="0" y="${y}" width="${across(names - 0.02)}" height="${row}">
          <text x="${Math.min(depth, deepest) * 8}" y="14">
            ${span.failed && '✕ '}
            <tspan class="name">${label(span.service, 40)}</tspan>
            ${label(span.operation, 80)}
          </text>
        </svg>
        <svg x="${across(names)}" y="${y}" width="${across(1 - names)}" height="${row}" class="lane">
          <rect
            class="bar s${services.indexOf(span.service) % 6}"
            x="${across(x(span.start))}"
            width="${across(Math.max(0.004, end - x(span.start)))}"
            y="4"
            height="11"
          />
          ${path.get(span.id)?.map((link) => html`<rect class="critical" x="${across(x(link.start))}" width="${across(Math.max(0.004, x(link.end) - x(link.start)))}" y="15" height="3" />`)}
          ${durationText(time, x(span.start), end)}
        </svg></g
      >`;
    }),
  ];
  const failed = spans.filter((span) => span.failed).length;
  const left = spans.length - ordered.length;
  return picture({
    id,
    title,
    kind: 'rows',
    height: head + ordered.length * row + 2,
    body,
    description: `${spans.length} spans of ${new Set(spans.map(({ service }) => service)).size} services in ${quantity(to - from, 'ms')}; ${failed} failed.${left > 0 ? ` Shown are ${ordered.length}: the critical path, failures and the longest.` : ''} The underlined ones determine when it ends.`,
    columns: ['Service', 'Operation', 'Starts', 'Takes', 'Result', 'On the critical path'],
    rows: ordered.map(({ span }) => [
      span.service,
      span.operation,
      quantity(span.start - from, 'ms'),
      quantity(span.duration, 'ms'),
      span.failed ? `failed${span.message === '' ? '' : `: ${span.message}`}` : 'ok',
      path.has(span.id) ? 'yes' : '',
    ]),
  });
}

/** Behind the bar, else before it. */
function durationText(time: string, start: number, end: number): Html {
  if (end <= 0.78) return html`<text x="${across(end)}" dx="4" y="14">${time}</text>`;
  if (start >= 0.22) return html`<text x="${across(start)}" dx="-4" y="14" text-anchor="end">${time}</text>`;
  return html`<text class="inside" x="${across(end)}" dx="-4" y="14" text-anchor="end">${time}</text>`;
}

/** With those that a chosen one stands under, so that the tree holds. */
function choose(
  spans: readonly DrawnSpan[],
  byId: ReadonlyMap<string, DrawnSpan>,
  critical: ReadonlySet<string>,
  most: number,
): readonly DrawnSpan[] {
  if (spans.length <= most) return spans;
  const weight = ({ id, failed }: DrawnSpan): number => (critical.has(id) ? 2 : 0) + (failed ? 3 : 0);
  const chosen = new Set<string>();
  for (const span of spans.toSorted((a, b) => weight(b) - weight(a) || b.duration - a.duration)) {
    if (chosen.size >= most) break;
    const line: string[] = [];
    for (
      let at: DrawnSpan | undefined = span;
      at !== undefined && !chosen.has(at.id) && !line.includes(at.id);
      at = byId.get(at.parentId)
    ) {
      line.push(at.id);
      if (line.length > most) break;
    }
    if (chosen.size + line.length <= most) for (const id of line) chosen.add(id);
  }
  return spans.filter(({ id }) => chosen.has(id));
}

/** Children below their parents, by their start; spans whose parent is missing, or that are below each other, stand at the top. */
function inOrder(spans: readonly DrawnSpan[]): readonly { readonly span: DrawnSpan; readonly depth: number }[] {
  const ids = new Set(spans.map(({ id }) => id));
  const children = Map.groupBy(spans, ({ parentId }) => (ids.has(parentId) ? parentId : ''));
  const byStart = (a: DrawnSpan, b: DrawnSpan): number => b.start - a.start || a.duration - b.duration;
  const ordered: { readonly span: DrawnSpan; readonly depth: number }[] = [];
  const seen = new Set<string>();
  const walk = (roots: readonly DrawnSpan[]): void => {
    const stack = roots.toSorted(byStart).map((span) => ({ span, depth: 0 }));
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (seen.has(next.span.id)) continue;
      seen.add(next.span.id);
      ordered.push(next);
      const { depth } = next;
      stack.push(...(children.get(next.span.id) ?? []).toSorted(byStart).map((span) => ({ span, depth: depth + 1 })));
    }
  };
  walk(children.get('') ?? []);
  walk(spans.filter(({ id }) => !seen.has(id)));
  return ordered;
}

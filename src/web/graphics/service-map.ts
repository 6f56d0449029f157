import { html, type Html } from '../html.ts';
import { picture, tip, type Picture } from './picture.ts';
import { across, isAmount, label, quantity } from './scale.ts';

export interface MapNode {
  readonly service: string;
  readonly role: 'cause' | 'suspect' | 'affected' | 'well';
  /** Of its requests, in percent, where that is known. */
  readonly failing?: number | undefined;
}

export interface ServiceMap {
  readonly id: string;
  readonly title: string;
  readonly nodes: readonly MapNode[];
  readonly calls: readonly { readonly caller: string; readonly callee: string; readonly count?: number | undefined }[];
}

const most = 16;
const mostCalls = 60;
const rowHeight = 56;
const words = {
  cause: 'likeliest cause',
  suspect: 'suspect',
  affected: 'affected',
  well: '',
} as const satisfies Record<MapNode['role'], string>;
const weight = { cause: 0, suspect: 1, affected: 2, well: 3 } as const satisfies Record<MapNode['role'], number>;

/** Services and their calls, left to right, with the likeliest cause and its rivals. Of many services those that matter, and who is beside them. */
export function serviceMap({ id, title, nodes: all, calls: known }: ServiceMap): Picture {
  const byName = new Map(all.map((node) => [node.service, node]));
  const beside = new Set(
    known.flatMap(({ caller, callee }) =>
      [caller, callee].some((name) => (byName.get(name)?.role ?? 'well') !== 'well') ? [caller, callee] : [],
    ),
  );
  const nodes = [...byName.values()]
    .toSorted(
      (a, b) => weight[a.role] - weight[b.role] || Number(beside.has(b.service)) - Number(beside.has(a.service)),
    )
    .slice(0, most);
  const drawn = new Set(nodes.map(({ service }) => service));
  const calls = known
    .filter(({ caller, callee }) => caller !== callee && drawn.has(caller) && drawn.has(callee))
    .slice(0, mostCalls);
  const layers = layersOf(nodes, calls);
  const tallest = Math.max(1, ...layers.map(({ length }) => length));
  const height = tallest * rowHeight + 6;
  const place = new Map(
    layers.flatMap((layer, column) =>
      layer.map(
        (node, index) =>
          [
            node.service,
            { x: (column + 0.5) / layers.length, y: ((index + 0.5) / layer.length) * tallest * rowHeight - 10 },
          ] as const,
      ),
    ),
  );
  const bad = (name: string): boolean => byName.get(name)?.role === 'cause' || byName.get(name)?.role === 'affected';
  const body = [
    html`<defs
      >${['well', 'bad'].map((kind) => html`<marker id="${id}-${kind}" class="${kind}" viewBox="0 0 8 8" refX="8" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto"><path class="arrow" d="M0 0L8 4 0 8Z" /></marker>`)}</defs
    >`,
    calls.map(({ caller, callee, count }) => {
      const [a, b] = [place.get(caller), place.get(callee)];
      if (a === undefined || b === undefined) return false;
      const text = `${caller} calls ${callee}${count === undefined ? '' : `: ${quantity(count, 'count')} times`}`;
      const isBad = bad(caller) && bad(callee);
      // A call back is drawn beneath, so that it is not taken for the other direction.
      const dip = a.x >= b.x ? 6 : 0;
      const middle = { x: a.x + (b.x - a.x) * 0.62, y: a.y + (b.y - a.y) * 0.62 + dip };
      return html`<g class="call${isBad && ' bad'}"
        >${tip(label(text, 200))}
        <line
          x1="${across(a.x)}"
          y1="${(a.y + dip).toFixed(0)}"
          x2="${across(middle.x)}"
          y2="${middle.y.toFixed(0)}"
          marker-end="url(#${id}-${isBad ? 'bad' : 'well'})" />
        <line x1="${across(middle.x)}" y1="${middle.y.toFixed(0)}" x2="${across(b.x)}" y2="${(b.y + dip).toFixed(0)}"
      /></g>`;
    }),
    nodes.map((node) => nodeHtml(node, place.get(node.service) ?? { x: 0.5, y: 30 })),
  ];
  const named = nodes.filter(({ role }) => role !== 'well').map(({ service, role }) => `${service}: ${words[role]}`);
  const left = byName.size - nodes.length;
  return picture({
    id,
    title,
    kind: 'map',
    height,
    body,
    description: `${nodes.length} services and ${calls.length} calls between them${left > 0 ? `; ${left} services are left out` : ''}. ${named.join('; ')}.`,
    columns: ['Service', 'Part in it', 'Failing', 'Calls'],
    rows: nodes.map(({ service, role, failing }) => [
      service,
      words[role],
      !isAmount(failing) ? '–' : quantity(failing, 'percent'),
      calls
        .filter(({ caller }) => caller === service)
        .map(({ callee }) => callee)
        .join(', '),
    ]),
  });
}

function nodeHtml({ service, role, failing }: MapNode, { x, y }: { readonly x: number; readonly y: number }): Html {
  const lines = wrapped(service);
  const share = isAmount(failing) && failing > 0 ? quantity(failing, 'percent') : '';
  const said = [service, words[role], share && `${share} fail`].filter(Boolean).join(', ');
  return html`<svg x="${across(x)}" y="${y.toFixed(0)}" class="node ${role}">
    ${tip(label(said, 200))} ${role === 'cause' && html`<circle class="ring" r="18" />`}
    <circle r="14" />
    <text class="share" y="4">${share === '' ? (role === 'well' ? '' : role === 'suspect' ? '?' : '!') : share}</text>
    ${lines.map((line, index) => html`<text y="${28 + index * 11}">${line}</text>`)}
  </svg>`;
}

/** In two lines at most, of twelve characters: so wide is a column on a phone. */
function wrapped(name: string): readonly string[] {
  const text = label(name, 60);
  if (text.length <= 14) return [text];
  const cut = Math.max(...['-', '.', '_', ' ', '/'].map((mark) => text.lastIndexOf(mark, 12)));
  const at = cut > 2 ? cut + 1 : 12;
  return [text.slice(0, at).toWellFormed(), label(text.slice(at).toWellFormed(), 13)];
}

/** By the longest way from who calls but is not called; within a circle, as it was met first. At most six columns. */
function layersOf(nodes: readonly MapNode[], calls: ServiceMap['calls']): readonly (readonly MapNode[])[] {
  const depth = new Map(nodes.map(({ service }) => [service, 0]));
  for (let pass = 0; pass < 5; pass += 1) {
    let moved = false;
    for (const { caller, callee } of calls) {
      const next = (depth.get(caller) ?? 0) + 1;
      const back = reaches(calls, callee, caller);
      if (next <= 5 && !back && next > (depth.get(callee) ?? 0)) {
        depth.set(callee, next);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const layers = Map.groupBy(nodes, ({ service }) => depth.get(service) ?? 0);
  return [...layers.keys()].toSorted((a, b) => a - b).map((key) => layers.get(key) ?? []);
}

function reaches(calls: ServiceMap['calls'], from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const service of seen) {
    for (const { caller, callee } of calls) if (caller === service) seen.add(callee);
  }
  return seen.has(to);
}

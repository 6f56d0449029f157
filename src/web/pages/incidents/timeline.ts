import type { Incident, TimelineEntry } from '../../../contract/storage/index.ts';
import { moment, table } from '../../components.ts';
import { glyph, type Mark } from '../../graphics/series.ts';
import { timeline } from '../../graphics/timeline.ts';
import { html, type Html } from '../../html.ts';

const mostEntries = 200;
const mostEvents = 20;

/** What happened to the system, as far as senders and the investigation tell. */
export function timelineSection({ detectedAt, mitigatedAt, resolvedAt }: Incident, marks: readonly Mark[]): Html {
  const ended = (at: Date | undefined, label: string): readonly Mark[] =>
    at === undefined ? [] : [{ at: at.getTime(), kind: 'end', label }];
  const noticed: readonly Mark[] = marks.some(({ kind }) => kind === 'alert')
    ? []
    : [{ at: detectedAt.getTime(), kind: 'alert', label: 'it was noticed' }];
  const events = [...marks, ...noticed, ...ended(mitigatedAt, 'mitigated'), ...ended(resolvedAt, 'resolved')]
    .toSorted((a, b) => a.at - b.at)
    .slice(0, mostEvents);
  const { svg } = timeline({ id: 'timeline-picture', title: 'When what happened', events });
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <div class="card">
      <figure>${svg}</figure>
      <ol class="events">
        ${events.map(({ at, kind, label }) => html`<li>${moment(new Date(at))} ${sign(kind)} <bdi>${label}</bdi></li>`)}
      </ol>
    </div>
  </section>`;
}

/** The shape by which a kind of event is known in the pictures, in a line of text. */
export function sign(kind: Mark['kind']): Html {
  return html`<svg class="gfx sign" width="14" height="14" viewBox="-7 -2 14 14" aria-hidden="true">
    <g class="mark ${kind}">${glyph(kind)}</g>
  </svg>`;
}

/** Who changed the incident, and how. */
export function historySection(entries: readonly TimelineEntry[]): Html {
  const shown = entries.slice(-mostEntries);
  const rows = shown.map(({ at, actor, change, from, to }) => [
    moment(at),
    html`<bdi>${actor.name}</bdi>`,
    html`${change.replaceAll('_', ' ')}`,
    html`${from !== undefined && html`<bdi>${from}</bdi>`}${from !== undefined && to !== undefined && ' → '}${to !== undefined && html`<bdi>${to}</bdi>`}`,
  ]);
  return html`<details>
    <summary>Changes to this incident (${entries.length})</summary>
    ${entries.length > shown.length && html`<p class="soft">The newest ${mostEntries} of ${entries.length} changes are shown.</p>`}
    ${table({ label: 'Changes to this incident', columns: ['Time', 'Who', 'What', 'Change'], rows, empty: 'Nothing has changed yet.' })}
  </details>`;
}

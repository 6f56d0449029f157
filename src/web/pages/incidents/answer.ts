import type { Incident, IncidentDocument, Investigation } from '../../../contract/storage/index.ts';
import { parseSections } from '../../../contract/storage/index.ts';
import { shortened } from '../../../contract/core/index.ts';
import { facts, moment } from '../../components.ts';
import { quantity } from '../../graphics/scale.ts';
import { html, type Html } from '../../html.ts';
import { renderInline, renderMarkdown } from '../../markdown/render.ts';
import { courseOf, type Shown } from './pictures.ts';
import { worseOperations, type Worse } from './rows.ts';

const mostRivals = 2;
const mostNamed = 4;

interface Known {
  readonly incident: Incident;
  readonly chosen: Investigation | undefined;
  readonly document: IncidentDocument | undefined;
  readonly shown: Shown;
}

/** What fails, since when, who is affected, why, and what to do: for a person who was just woken. */
export function answerSection({ incident, chosen, document, shown }: Known): Html {
  const { conclusion } = shown;
  const course = courseOf(shown);
  const isFelt = (one: Worse): boolean => one.service === course?.service && one.operation === course.operation;
  const worse = worseOperations(shown.steps).toSorted((a, b) => Number(isFelt(b)) - Number(isFelt(a)));
  const next = sectionOf(document, 'Next steps');
  return html`<section class="card answer" aria-labelledby="answer">
    <h2 id="answer" class="hidden">In short</h2>
    ${facts([
      ['What is wrong', whatIsWrong(incident, worse)],
      ['Since', since(incident, shown)],
      ['Who is affected', affected(worse, shown)],
      ['Likeliest cause', cause(shown, chosen)],
      ['What to do', next !== undefined && renderMarkdown(next, 2)],
      ['Less likely', rivals(shown)],
    ])}
    ${conclusion === undefined && (chosen ? stateOf(chosen) : html`<p class="soft">Nothing has been investigated yet.</p>`)}
  </section>`;
}

function sectionOf(document: IncidentDocument | undefined, title: string): string | undefined {
  const found = parseSections(document?.markdown ?? '').sections.find((section) => section.title === title);
  return found === undefined || /^(?:_[^_\n]*_)?$/.test(found.body) ? undefined : found.body;
}

function whatIsWrong({ summary, title }: Incident, worse: readonly Worse[]): Html {
  const [felt] = worse;
  return html`${felt && html`<strong>${figures(felt)}</strong> `}${summary === '' ? felt === undefined && html`<bdi>${title}</bdi>` : html`<span dir="auto">${summary}</span>`}`;
}

function figures({ service, operation, failed, slow }: Worse): Html {
  const where = html`<bdi>${service}</bdi> <code>${operation}</code>`;
  if (failed) {
    const share = quantity((failed.now / Math.max(1, failed.of)) * 100, 'percent');
    return html`${where}: ${failed.now} of ${failed.of} requests fail (${share}; before
    ${quantity(failed.before, 'percent')}).`;
  }
  return html`${where}: one in twenty requests takes ${quantity(slow?.now ?? 0, 'ms')} or more (before
  ${quantity(slow?.before ?? 0, 'ms')}).`;
}

function since({ startedAt, detectedAt, resolvedAt }: Incident, { conclusion }: Shown): Html {
  const onset = conclusion?.onset === undefined ? undefined : new Date(conclusion.onset);
  const began = onset && !Number.isNaN(onset.getTime()) ? onset : startedAt;
  const minutes = Math.round((detectedAt.getTime() - began.getTime()) / 60_000);
  return html`<strong>${moment(began)}</strong
    >${minutes > 0 && `, noticed ${minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`} later`}${resolvedAt && html`, until ${moment(resolvedAt)}`}`;
}

/** Besides the operation that is named first: which others, and what the bad requests have in common. */
function affected(worse: readonly Worse[], { conclusion, steps }: Shown): Html | undefined {
  const contrast = new Set(
    steps.flatMap(({ columns, evidence_id: id }) => (columns.includes('attribute_value') ? [id] : [])),
  );
  const common = conclusion?.claims.find(
    ({ status, evidence_ids: ids }) => status === 'supported' && ids.some((id) => contrast.has(id)),
  );
  if (worse.length === 0 && common === undefined) return undefined;
  return html`${worse.length > 0 && html`Callers of ${worse.slice(0, mostNamed).map(({ service, operation }, index) => html`${index > 0 && ', '}<bdi>${service}</bdi> <code>${operation}</code>`)}${worse.length > mostNamed && ` and ${worse.length - mostNamed} more`}. `}${common && renderInline(common.text)}`;
}

function cause({ conclusion, marks }: Shown, chosen: Investigation | undefined): Html | undefined {
  if (conclusion === undefined) return undefined;
  if (conclusion.root_cause === '') return html`Not found.`;
  const onset = Date.parse(conclusion.onset ?? '');
  const change = marks.findLast(
    ({ kind, at, label }) =>
      kind === 'change' && at <= onset + 2 * 60_000 && label.startsWith(`${conclusion.service} `),
  );
  return html`${change && html`<strong><bdi>${change.label}</bdi></strong> at ${moment(new Date(change.at))}, as it began. `}${renderInline(conclusion.root_cause)}
    <span class="tag">${conclusion.confidence} confidence</span>
    <small>by <bdi>${chosen?.engine ?? ''}</bdi></small>`;
}

function rivals({ conclusion }: Shown): Html | undefined {
  const { service = '', suspects = [], suspicions = [] } = conclusion ?? {};
  const others = suspects.filter((name) => name !== service).slice(0, mostRivals);
  if (others.length === 0) return undefined;
  return html`<ul>
    ${others.map((name) => {
      const found = suspicions.find((one) => one.service === name);
      return html`<li>
        <bdi>${name}</bdi
        >${found && html`: ${renderInline(shortened(found.why, 110))}${found.why_not !== undefined && html` Against it: ${renderInline(shortened(found.why_not, 110))}`} <small>(${found.evidence_ids.join(', ')})</small>`}
      </li>`;
    })}
  </ul>`;
}

const words = {
  queued: 'An investigation waits for its turn.',
  running: 'The agent is at work.',
  waiting: 'The agent asked something and waits for the answer.',
  completed: 'The investigation found nothing to tell.',
  failed: 'The investigation failed.',
  cancelled: 'The investigation was cancelled.',
} as const satisfies Record<Investigation['status'], string>;

function stateOf({ status, failure, doing }: Investigation): Html {
  return html`<p ${status === 'running' && html` role="status"`}>
      ${words[status]} ${doing !== undefined && renderInline(doing)}
    </p>
    ${failure !== undefined && html`<p class="alert">${failure}</p>`}`;
}

import type { Investigation, InvestigationStep } from '../../../contract/storage/index.ts';
import { copyable, figure, moment, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderInline } from '../../markdown/render.ts';
import { definePage } from '../../page.ts';
import { exploreHref, traceHref, type PathTo } from '../../paths.ts';
import { stepPicture } from './comparison.ts';
import { findIncident } from './words.ts';

const mostInvestigations = 5;
const mostRows = 10;
const mostColumns = 20;
const longestCell = 300;

const verdicts = {
  supports: 'Supports it',
  refutes: 'Speaks against it',
  neutral: 'Says nothing either way',
} as const satisfies Record<InvestigationStep['verdict'], string>;

/** The steps behind an incident's investigations, the latest first; the incident's own page stays short and quick without them. */
export const evidencePage = definePage({
  path: '/incidents/:key/evidence',
  access: 'member',
  async get({ workspace, params, to }) {
    const incident = await findIncident(workspace, params['key'] ?? '');
    const all = await workspace.investigations.ofIncident(incident.id);
    const shown = await Promise.all(
      all
        .slice(0, mostInvestigations)
        .map(async (one, at) =>
          runHtml(one, await workspace.investigations.steps(one.id), at, { to, key: incident.key }),
        ),
    );
    const taken = shown.filter((run) => run !== undefined);
    return {
      title: `Evidence for ${incident.key}`,
      body: html`<p>
          <a href="${to(`/incidents/${incident.key}`)}"><bdi>${incident.title}</bdi></a>
        </p>
        ${taken.length === 0 ? html`<p class="soft">The agent has taken no step yet.</p>` : taken}
        ${all.length > mostInvestigations && html`<p class="soft">The latest ${mostInvestigations} investigations are shown.</p>`}`,
    };
  },
});

function runHtml(
  { askedAt, engine }: Investigation,
  steps: readonly InvestigationStep[],
  at: number,
  links: StepLinks,
): Html | undefined {
  if (steps.length === 0) return undefined;
  return html`<h2>Asked ${moment(askedAt)}, by <bdi>${engine}</bdi></h2>
    ${steps.map((step) => stepHtml(step, `${at}-${step.seq}`, links))}`;
}

function stepHtml(step: InvestigationStep, place: string, links: StepLinks): Html {
  const { evidence_id: id, question, observation, verdict, error } = step;
  const picture = stepPicture(step, { id: `step-${place}-picture` });
  const href = traceHref(links.to, step.window);
  return html`<section class="card" id="${id}" aria-labelledby="step-${place}">
    <h3 id="step-${place}">${id}: ${renderInline(question, href)}</h3>
    <p>${renderInline(observation, href)} <span class="tag">${verdicts[verdict]}</span></p>
    ${error !== undefined && html`<p class="alert">${error}</p>`} ${picture && figure(picture)}
    ${stepDetails(step, place, links)}
  </section>`;
}

export interface StepLinks {
  readonly to: PathTo;
  /** Of the incident; a chat has none. */
  readonly key?: string;
}

/** The link's address has no room for a statement that is very long. */
export function openQuery(href: string | undefined, id: string): Html | undefined {
  return href === undefined
    ? undefined
    : html`<p>
        <a href="${href}">Open this query<span class="hidden">: ${id}</span></a>
      </p>`;
}

/** The statement of a step and the first of its rows. */
export function stepDetails(
  { evidence_id: id, sql, columns, rows, row_count: count }: InvestigationStep,
  place: string,
  { to, key }: StepLinks,
): Html {
  const shown = rows.slice(0, mostRows);
  return html`<details>
      <summary>SQL<span class="hidden"> of ${id}</span></summary>
      ${copyable(`sql-${place}`, sql)}
      ${openQuery(key === undefined ? exploreHref(to, { sql }) : `${to('/explore')}?incident=${key}&evidence=${id}`, id)}
    </details>
    ${
      shown.length > 0 &&
      html`<details>
        <summary>
          ${count} ${count === 1 ? 'row' : 'rows'}${shown.length < count && `, the first ${shown.length}`}<span
            class="hidden"
          >
            of ${id}</span
          >
        </summary>
        ${table({
          label: `Rows of ${id}`,
          columns: columns.slice(0, mostColumns),
          rows: shown.map((row) => row.slice(0, mostColumns).map((cell) => cellText(cell, longestCell))),
          empty: '',
        })}
      </details>`
    }`;
}

export function cellText(cell: unknown, longest: number): Html {
  const text = typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
  return html`<bdi>${text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text}</bdi>`;
}

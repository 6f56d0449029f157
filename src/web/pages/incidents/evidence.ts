import { chooseInvestigation, type InvestigationStep } from '../../../contract/storage/index.ts';
import { copyable, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderInline } from '../../markdown/render.ts';
import { definePage } from '../../page.ts';
import { findIncident } from './words.ts';

const mostRows = 10;
const mostColumns = 20;
const longestCell = 300;

const verdicts = {
  supports: 'Supports it',
  refutes: 'Speaks against it',
  neutral: 'Says nothing either way',
} as const satisfies Record<InvestigationStep['verdict'], string>;

/** The steps behind an incident's investigation; the incident's own page stays short and quick without them. */
export const evidencePage = definePage({
  path: '/incidents/:key/evidence',
  access: 'member',
  async get({ workspace, params, to }) {
    const incident = await findIncident(workspace, params['key'] ?? '');
    const chosen = chooseInvestigation(await workspace.investigations.ofIncident(incident.id));
    const steps = chosen === undefined ? [] : await workspace.investigations.steps(chosen.id);
    return {
      title: `Evidence for ${incident.key}`,
      body: html`<p>
          <a href="${to(`/incidents/${incident.key}`)}"><bdi>${incident.title}</bdi></a>
        </p>
        ${steps.length === 0 ? html`<p class="soft">The agent has taken no step yet.</p>` : steps.map(stepHtml)}`,
    };
  },
});

function stepHtml(step: InvestigationStep): Html {
  const { evidence_id: id, question, observation, verdict, sql, columns, rows, row_count: count, error } = step;
  const shown = rows.slice(0, mostRows);
  return html`<section class="card" aria-labelledby="step-${step.seq}">
    <h2 id="step-${step.seq}">${id}: ${renderInline(question)}</h2>
    <p>${renderInline(observation)} <span class="tag">${verdicts[verdict]}</span></p>
    ${error !== undefined && html`<p class="alert">${error}</p>`}
    <details>
      <summary>SQL</summary>
      ${copyable(`sql-${step.seq}`, sql)}
    </details>
    ${
      shown.length > 0 &&
      html`<details>
        <summary>
          ${count} ${count === 1 ? 'row' : 'rows'}${shown.length < count && `, the first ${shown.length}`}
        </summary>
        ${table({
          label: `Rows of ${id}`,
          columns: columns.slice(0, mostColumns),
          rows: shown.map((row) => row.slice(0, mostColumns).map(cellText)),
          empty: '',
        })}
      </details>`
    }
  </section>`;
}

function cellText(cell: unknown): Html {
  const text = typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? '');
  return html`<bdi>${text.length > longestCell ? `${text.slice(0, longestCell).toWellFormed()}…` : text}</bdi>`;
}

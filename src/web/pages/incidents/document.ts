import type { IncidentDocument } from '../../../contract/storage/index.ts';
import { moment, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderMarkdown, type TraceHref } from '../../markdown/render.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { fromDayBefore, traceHref } from '../../paths.ts';
import { findIncident } from './words.ts';

const mostVersions = 200;

/** An incident's document in any of its versions, and who wrote each. */
export const documentPage = definePage({
  path: '/incidents/:key/document',
  access: 'member',
  async get(visit) {
    const { workspace, params, search, to } = visit;
    const incident = await findIncident(workspace, params['key'] ?? '');
    const asked = Number(search.get('version') ?? Number.NaN);
    const [document, versions] = await Promise.all([
      workspace.incidents.document(incident.id, Number.isSafeInteger(asked) ? asked : undefined),
      workspace.incidents.documentVersions(incident.id),
    ]);
    return {
      title: `Document of ${incident.key}`,
      body: html`<p>
          <a href="${to(`/incidents/${incident.key}`)}"><bdi>${incident.title}</bdi></a>
        </p>
        <h2>Document</h2>
        ${document === undefined ? html`<p class="soft">There is no such version.</p>` : documentHtml(document, traceHref(to, fromDayBefore(incident.startedAt)))}
        <h2>Versions</h2>
        ${table({
          label: 'Versions, newest first',
          columns: ['Version', 'Written by', 'Time'],
          rows: versions
            .slice(0, mostVersions)
            .map(({ version, author, updatedAt }) => [
              versionLink(visit, incident.key, version),
              html`<bdi>${author.name}</bdi>`,
              moment(updatedAt),
            ]),
          empty: 'Nothing has been written yet.',
        })}`,
    };
  },
});

export function documentHtml({ markdown, version, author, updatedAt }: IncidentDocument, href: TraceHref): Html {
  return html`<p class="soft">Version ${version}, by <bdi>${author.name}</bdi>, ${moment(updatedAt)}</p>
    <div class="card">${renderMarkdown(markdown, 2, href)}</div>`;
}

function versionLink({ to }: MemberVisit, key: string, version: number): Html {
  return html`<a href="${to(`/incidents/${key}/document`)}?version=${version}">Version ${version}</a>`;
}

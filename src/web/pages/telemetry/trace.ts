import { errorStatus, SightlineError } from '../../../contract/core/index.ts';
import { figure } from '../../components.ts';
import { isLedHereByUs } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { exploreHref, isTraceId, traceHref } from '../../paths.ts';
import type { PageServices, QueryResult } from '../../services.ts';
import { tracePicture } from '../incidents/pictures.ts';
import { failureHtml, warnings } from './result.ts';

const mostSpans = 1_000;

/** The form of the page above sends an id here. */
export const traceOfIdPage = definePage({
  path: '/explore/traces',
  access: 'member',
  get: ({ search }) => ({ redirect: `/explore/traces/${traceId(search.get('id') ?? '')}` }),
});

export const tracePage = definePage({
  path: '/explore/traces/:id',
  access: 'member',
  get: (visit, services) => (isLedHereByUs(visit.request) ? traceView(visit, services) : asks(visit)),
  post: (visit, _form, services) => traceView(visit, services),
});

function asks({ csrf, params, to, search }: MemberVisit): View {
  const id = traceId(params['id'] ?? '');
  const here = traceHref(to, stretchOf(search))(id);
  return {
    title: 'Trace',
    body: html`<p><code>${id}</code></p>
      <form method="post" action="${here}">${csrf}<button>Show the trace</button></form>`,
  };
}

/** In every dialect. */
export function traceSql(id: string): string {
  return `SELECT time, span_id, parent_span_id, duration_nano, service_name, name, kind, status_code, status_message
FROM otel.spans
WHERE trace_id = '${id}'
ORDER BY time, span_id
LIMIT ${mostSpans}`;
}

async function traceView(visit: MemberVisit, { telemetry }: PageServices): Promise<View> {
  const id = traceId(visit.params['id'] ?? '');
  const { to, search } = visit;
  const stretch = stretchOf(search);
  const sql = traceSql(id);
  const answer = await telemetry.run(visit, { sql, ...stretch, max_rows: String(mostSpans), max_bytes: '1000000' });
  const logs = `SELECT time, service_name, severity_text, body FROM otel.logs WHERE trace_id = '${id}' ORDER BY time`;
  return {
    title: 'Trace',
    ...(!answer.ok && { status: errorStatus[answer.failure.code] }),
    body: html`<p><code>${id}</code></p>
      ${answer.ok ? spansHtml(visit, id, answer.result) : failureHtml(visit, answer.failure, { sql, ...stretch })}
      <p class="actions">
        <a class="button quiet small" href="${exploreHref(to, { sql, ...stretch }) ?? ''}">Open as a query</a>
        <a class="button quiet small" href="${exploreHref(to, { sql: logs, ...stretch }) ?? ''}">Its log lines</a>
      </p>`,
  };
}

function spansHtml({ to }: MemberVisit, id: string, result: QueryResult): Html {
  const picture = tracePicture({ columns: result.columns.map(({ name }) => name), rows: result.rows }, 'trace');
  if (picture === undefined) {
    const far = traceHref(to, { start: 'now-30d' })(id);
    return html`<p>No span of this trace was found in the time that was looked at.</p>
      ${warnings(result)}
      <p><a class="button quiet" href="${far}">Look thirty days back</a></p>`;
  }
  return html`<div class="card">
      ${figure({ ...picture, title: 'Spans' })}
      <p class="soft">${picture.description}</p>
    </div>
    ${warnings(result)}`;
}

function traceId(text: string): string {
  const id = text.trim().toLowerCase();
  if (isTraceId(id)) return id;
  throw new SightlineError('not_found', 'That is no trace id.', { hint: 'A trace id has 32 hexadecimal digits.' });
}

function stretchOf(search: URLSearchParams): { readonly start: string; readonly end: string } {
  return { start: search.get('start') ?? '', end: search.get('end') ?? '' };
}

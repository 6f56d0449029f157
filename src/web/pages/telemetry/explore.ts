import { errorStatus, SightlineError } from '../../../contract/core/index.ts';
import { tableNames } from '../../../contract/telemetry/index.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { exploreHref } from '../../paths.ts';
import type { PageServices, QueryAnswer } from '../../services.ts';
import { findIncident } from '../incidents/words.ts';
import { answerHtml, type Asked, pastOf, type Shown } from './result.ts';

const path = '/explore';

/**
 * `query_otel` for people. A statement runs by POST with the page's token alone: it costs, counts against the person's rate and
 * stands in the audit under their name, so no link may run one. A link fills it in.
 */
export const explorePage = definePage({
  path,
  access: 'member',
  async get(visit, services) {
    return view(visit, services, { ...(await prefilled(visit)), offset: 0, contains: '' });
  },
  async post(visit, form, services) {
    const text = (name: string): string => form.get(name) ?? '';
    const asked: Shown = {
      sql: form.has('table') ? attributesSql(text('table'), text('like')) : text('sql'),
      start: text('start'),
      end: text('end'),
      offset: Number.parseInt(text('offset'), 10) || 0,
      contains: text('contains'),
    };
    const resultId = text('result_id');
    const { sql, start, end, contains } = asked;
    const sent = resultId === '' ? { sql, start, end } : { result_id: resultId, offset: text('offset'), contains };
    const answer = await services.telemetry.run(visit, sent);
    if (answer.ok && resultId === '') pastOf(services).add(visit, asked);
    return view(visit, services, asked, answer);
  },
});

/** From an address, or from a step of an investigation. */
async function prefilled({ search, workspace }: MemberVisit): Promise<Asked> {
  const text = (name: string): string => search.get(name) ?? '';
  const [key, evidence] = [text('incident'), text('evidence')];
  if (key === '') return { sql: text('sql'), start: text('start'), end: text('end') };
  const incident = await findIncident(workspace, key);
  for (const { id } of await workspace.investigations.ofIncident(incident.id)) {
    const step = (await workspace.investigations.steps(id)).find((one) => one.evidence_id === evidence);
    if (step !== undefined) return { sql: step.sql, start: '', end: '' };
  }
  throw new SightlineError('not_found', `${incident.key} has no such piece of evidence.`);
}

function attributesSql(table: string, like: string): string {
  const pattern = like === '' || /[%_]/.test(like) ? like : `%${like}%`;
  const only = pattern === '' ? '' : ` LIKE '${pattern.replaceAll("'", "''")}'`;
  return `SHOW ATTRIBUTES FROM otel.${tableNames.find((name) => name === table) ?? 'spans'}${only}`;
}

function view(visit: MemberVisit, services: PageServices, asked: Shown, answer?: QueryAnswer): View {
  const link = asked.sql === '' ? undefined : exploreHref(visit.to, asked);
  return {
    title: 'Explore',
    ...(answer?.ok === false && { status: errorStatus[answer.failure.code] }),
    body: html`<div class="explore">
      <div>
        ${statementForm(visit, services, asked)} ${answer && answerHtml(visit, answer, asked)}
        ${answer && link !== undefined && html`<p><a href="${link}">Link to this query</a> <small>It fills the query in and runs nothing.</small></p>`}
      </div>
      <aside aria-label="Help with queries">
        ${past(visit, services)} ${traceForm(visit)} ${attributesForm(visit)} ${schema(services)}
        ${examples(visit, services)}
      </aside>
    </div>`,
  };
}

function statementForm({ to, csrf }: MemberVisit, { telemetry: { dialect } }: PageServices, asked: Asked): Html {
  const time = (name: 'start' | 'end', label: string): Html =>
    html`<div>
      <label class="label" for="${name}">${label}</label>
      <input id="${name}" name="${name}" value="${asked[name]}" maxlength="64" aria-describedby="times" />
    </div>`;
  return html`<form method="post" action="${to(`${path}#result`)}">
    ${csrf}
    <div class="field">
      <label for="sql">SQL</label>
      <small id="sql-hint"
        >One read-only ${dialect.name} ${dialect.version} statement over
        ${dialect.tables.map(({ name }, at) => html`${at > 0 && ', '}<code>otel.${name}</code>`)}.</small
      >
      <textarea
        id="sql"
        name="sql"
        rows="9"
        required
        spellcheck="false"
        autocapitalize="off"
        aria-describedby="sql-hint"
      >
${asked.sql}</textarea>
    </div>
    <div class="times">${time('start', 'From')} ${time('end', 'To')}</div>
    <p>
      <small id="times"
        >Such as now-1h, or 2026-01-31T12:00:00Z. Without them, and without a condition on time, only recent rows are
        read.</small
      >
    </p>
    <button>Run</button>
  </form>`;
}

function past(visit: MemberVisit, services: PageServices): Html | undefined {
  const entries = pastOf(services).list(visit);
  if (entries.length === 0) return undefined;
  return html`<section class="card" aria-labelledby="past">
    <h2 id="past">Asked before</h2>
    <p class="soft">In this browser, until you sign out.</p>
    <ul class="plain">
      ${entries.map(
        (one) =>
          html`<li>
            <a href="${exploreHref(visit.to, one) ?? visit.to(path)}"
              ><code>${one.sql.slice(0, 120).toWellFormed()}${one.sql.length > 120 && '…'}</code></a
            >
          </li>`,
      )}
    </ul>
  </section>`;
}

function traceForm({ to }: MemberVisit): Html {
  return html`<section class="card" aria-labelledby="trace">
    <h2 id="trace">A trace</h2>
    <form method="get" action="${to(`${path}/traces`)}">
      <div class="field">
        <label for="id">Trace id</label>
        <input
          id="id"
          name="id"
          required
          pattern=" *[0-9a-fA-F]{32} *"
          title="32 hexadecimal digits"
          autocomplete="off"
        />
      </div>
      <button class="quiet">Show the trace</button>
    </form>
  </section>`;
}

function attributesForm({ to, csrf }: MemberVisit): Html {
  return html`<section class="card" aria-labelledby="attributes">
    <h2 id="attributes">Attributes</h2>
    <form method="post" action="${to(`${path}#result`)}">
      ${csrf}
      <div class="field">
        <label for="table">Of</label>
        <select id="table" name="table">
          ${tableNames.map((name) => html`<option value="${name}">otel.${name}</option>`)}
        </select>
      </div>
      <div class="field">
        <label for="like">Whose key is like</label>
        <input id="like" name="like" maxlength="200" placeholder="http.%" autocomplete="off" />
      </div>
      <button class="quiet">Find attributes</button>
    </form>
  </section>`;
}

function schema({ telemetry: { dialect } }: PageServices): Html {
  return html`<section class="card" aria-labelledby="schema">
    <h2 id="schema">Tables</h2>
    <p class="soft">An attribute: <code>${dialect.attributeHint}</code></p>
    ${dialect.tables.map(
      ({ name, description, columns }) =>
        html`<details>
          <summary>otel.${name}</summary>
          <p class="soft">${description}</p>
          <ul class="plain columns">
            ${columns.map(
              (column) =>
                html`<li>
                  <code>${column.name}</code>
                  <small
                    >${dialect.typeName(column.type)}${column.empty ? '; empty in this warehouse' : column.description !== '' && `; ${column.description}`}</small
                  >
                </li>`,
            )}
          </ul>
        </details>`,
    )}
  </section>`;
}

function examples({ to }: MemberVisit, { telemetry: { dialect } }: PageServices): Html {
  return html`<section class="card" aria-labelledby="examples">
    <h2 id="examples">Examples</h2>
    <ul class="plain">
      ${dialect.examples.map(({ question, sql }) => html`<li><a href="${exploreHref(to, { sql }) ?? to(path)}">${question}</a></li>`)}
    </ul>
  </section>`;
}

import { z } from 'zod';
import { alert, facts, figure, moment, table } from '../../components.ts';
import { grouped } from '../../graphics/scale.ts';
import { html, type Html, type Renderable } from '../../html.ts';
import type { MemberVisit } from '../../page.ts';
import { isTraceId, traceHref } from '../../paths.ts';
import { sealedCookie } from '../../session.ts';
import type { PageServices, QueryAnswer, QueryColumn, QueryFailure, QueryResult } from '../../services.ts';
import { cellText } from '../incidents/evidence.ts';
import { chartOf } from './chart.ts';

const longestCell = 1_000;

/** What was asked, and which part of a kept result is shown. */
export interface Shown extends Asked {
  readonly offset: number;
  readonly contains: string;
}

/** A statement's answer as the tool gives it: warnings, what was cut and how to go on, or why there is none. */
export function answerHtml(visit: MemberVisit, answer: QueryAnswer, asked: Shown): Html {
  return html`<section aria-labelledby="result">
    <h2 id="result">${answer.ok ? 'Result' : 'No result'}</h2>
    ${answer.ok ? resultHtml(visit, answer.result, asked) : failureHtml(visit, answer.failure, asked)}
  </section>`;
}

function resultHtml(visit: MemberVisit, result: QueryResult, asked: Shown): Html {
  const { columns, rows, row_count: count, elapsed_ms: took } = result;
  const chart = chartOf(result);
  const stranger = columns.filter(({ untrusted }) => untrusted);
  return html`<p class="soft">
      ${count === 1 ? '1 row' : `${grouped(count)} rows`}${asked.offset > 0 && `, from row ${asked.offset + 1} on`}, in
      ${Math.round(took)} ms.${windowText(result)}
    </p>
    ${warnings(result)} ${chart && html`<div class="card">${figure({ ...chart, rows: [] })}</div>`}
    ${table({
      label: 'Rows',
      columns: columns.map(({ name, type }) => html`<bdi>${name}</bdi> <small>${type}</small>`),
      rows: rows.map((row) => row.map((cell, at) => cellHtml(visit, cell, columns[at], result))),
      empty: 'There are no such rows.',
    })}
    ${
      stranger.length > 0 &&
      html`<p class="soft">
        Written by senders of telemetry, so nobody vouches for it:
        ${stranger.map(({ name }, at) => html`${at > 0 && ', '}<code>${name}</code>`)}.
      </p>`
    }
    ${readOn(visit, result, asked)}`;
}

export function warnings({ warnings: all, truncation }: QueryResult): Html | undefined {
  const said = [
    ...(truncation === undefined ? [] : [`The result was cut (${truncation.reason}). ${truncation.hint}`]),
    ...all,
  ];
  return said.length === 0 ? undefined : html`<div class="warning">${said.map((text) => html`<p>${text}</p>`)}</div>`;
}

function windowText({ window }: QueryResult): Html | undefined {
  if (window?.start === undefined) return undefined;
  return html` Read from ${moment(new Date(window.start))}
  ${window.end === undefined ? 'on' : html`to ${moment(new Date(window.end))}`}.`;
}

function cellHtml(
  { to }: MemberVisit,
  cell: unknown,
  column: QueryColumn | undefined,
  { window }: QueryResult,
): Renderable {
  if (cell === null) return html`<span class="soft">NULL</span>`;
  if (typeof cell !== 'string' || !column?.name.endsWith('trace_id') || !isTraceId(cell))
    return cellText(cell, longestCell);
  return html`<a href="${traceHref(to, window)(cell)}"><bdi>${cell}</bdi></a>`;
}

/** The rows behind those that are shown, of a result that the tool keeps. */
function readOn({ to, csrf }: MemberVisit, result: QueryResult, asked: Shown): Html | undefined {
  const { result_id: id, truncation, row_count: count } = result;
  if (id === undefined) return undefined;
  return html`<form class="card" method="post" action="${to('/explore#result')}">
    ${csrf}${hidden({ sql: asked.sql, start: asked.start, end: asked.end, result_id: id })}
    <div class="field">
      <label for="contains">Only rows with this text</label>
      <input id="contains" name="contains" value="${asked.contains}" maxlength="256" />
    </div>
    <div class="actions">
      <button class="quiet" name="offset" value="0">
        ${asked.offset > 0 ? 'From the first row' : 'Filter the rows'}
      </button>
      ${truncation !== undefined && count > 0 && html`<button class="quiet" name="offset" value="${asked.offset + count}">Next rows</button>`}
    </div>
  </form>`;
}

export function failureHtml({ to, csrf }: MemberVisit, failure: QueryFailure, asked: Asked): Html {
  const { message, hint, retry, code, request_id: id } = failure;
  const texts = Object.entries(retry ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const fields = { ...(asked.sql && { sql: asked.sql }), ...Object.fromEntries(texts) };
  return html`${alert(hint === undefined ? message : `${message} ${hint}`)}
  ${code === 'internal' && id !== undefined && html`<p class="soft">Tell an operator this id: <code>${id}</code></p>`}
  ${
    texts.length > 0 &&
    html`<form class="card" method="post" action="${to('/explore#result')}">
      ${csrf}${hidden(fields)} ${fields.sql !== asked.sql && html`<pre tabindex="0"><code>${fields.sql}</code></pre>`}
      ${facts(texts.flatMap(([name, value]) => (name === 'sql' ? [] : [[name, html`<code>${value}</code>`] as const])))}
      <button>Run this instead</button>
    </form>`
  }`;
}

/** Fields that a form sends as they are. */
export function hidden(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

/** A statement, and the stretch that was asked for beside it. */
export interface Asked {
  readonly sql: string;
  readonly start: string;
  readonly end: string;
}

const kept = z.array(z.tuple([z.string(), z.string(), z.string(), z.string()]).readonly());

const most = 10;
/** Sealed and encoded that stays below the 4,096 bytes that a browser keeps of a cookie (RFC 6265 §6.1). */
const mostBytes = 2_400;

/**
 * What a person asked last, in their browser: it needs no table, nobody else can read it, and it ends with the session. The
 * audit has the record that lasts.
 */
export function pastOf(services: Pick<PageServices, 'authUrl' | 'vault'>) {
  const cookie = sealedCookie(services, 'queries', kept);
  const all = (visit: MemberVisit) => cookie.read(visit) ?? [];
  return {
    /** Of this organization, the newest first. */
    list: (visit: MemberVisit): readonly Asked[] =>
      all(visit)
        .filter(([id]) => id === visit.organization.id)
        .map(([, sql, start, end]) => ({ sql, start, end })),
    /** One that alone has no room is not kept. */
    add(visit: MemberVisit, { sql, start, end }: Asked): void {
      const id = visit.organization.id;
      const others = all(visit).filter(([of, text]) => of !== id || text !== sql);
      const entries = [[id, sql, start, end] as const, ...others].slice(0, most);
      while (Buffer.byteLength(JSON.stringify(entries)) > mostBytes) entries.pop();
      if (entries.length > 0) cookie.write(visit, entries);
    },
  };
}

import { defineTool, SightlineError, type Tool, type ToolContext } from '../contract/core/index.ts';
import type { Dialect, TelemetrySink } from '../contract/telemetry/index.ts';
import { askLimits, isEmpty, unsentWarnings } from '../telemetry/query/doubts.ts';
import type { KeptPage } from '../telemetry/query/kept-page.ts';
import type { KeptPages } from '../telemetry/query/kept-results.ts';
import type { QueryPipeline } from '../telemetry/query/pipeline.ts';
import type { QueryRequest } from '../telemetry/query/request.ts';
import type { QueryResult, ReadAhead, Truncation } from '../telemetry/query/result.ts';
import type { TimeBounds } from '../telemetry/query/window.ts';
import { describeQueryOtel, sqlManual, renderAnswer, type Answer } from './query-otel/render.ts';
import {
  defaultQueryOtelLimits,
  queryOtelInput,
  queryOtelOutput,
  type QueryOtelInput,
  type QueryOtelInputSchema,
  type QueryOtelLimits,
} from './query-otel/schema.ts';
import { parseTime } from './time.ts';

export interface QueryOtelParts {
  readonly pipeline: QueryPipeline;
  readonly keptResults: KeptPages;
  readonly dialect: Dialect;
  readonly now: () => Date;
  readonly limits?: QueryOtelLimits;
  /** What the receiver feeds: says of when its newest row is to one who finds nothing. */
  readonly sink?: Pick<TelemetrySink, 'newest'> | undefined;
}

/** `query_otel`: read-only SQL over the organization's telemetry, and paging in results that were cut. */
export function createQueryOtel(parts: QueryOtelParts): Tool<QueryOtelInputSchema> {
  const limits = parts.limits ?? defaultQueryOtelLimits;
  return defineTool({
    name: 'query_otel',
    title: 'Query telemetry with SQL',
    description: describeQueryOtel(parts.dialect),
    scope: 'telemetry:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: queryOtelInput(limits, sqlManual(parts.dialect)),
    maxResultChars: 500_000,
    aliases: { query: 'sql' },
    statement: 'sql',
    output: queryOtelOutput,
    run: async (input, context) =>
      renderAnswer(
        input.result_id === undefined
          ? await query(parts, limits, input, context)
          : await page(parts, limits, input.result_id, input, context),
      ),
  });
}

async function query(
  parts: QueryOtelParts,
  limits: QueryOtelLimits,
  input: QueryOtelInput,
  { principal, signal, requestId, traceId, operation, roomBytes }: ToolContext,
): Promise<Answer> {
  const { pipeline, keptResults, now } = parts;
  if (input.sql === undefined) {
    throw wrong('sql is missing.', 'Send sql, or result_id to read on in a result that was cut.');
  }
  refuseTogether(input, ['offset', 'contains'], 'result_id', 'Put LIMIT and filters into the sql instead.');
  const request: QueryRequest = {
    organizationId: principal.organizationId,
    sql: withoutFence(input.sql),
    reader: principal,
    label: { principal: principal.subject, tool: 'query_otel', traceId },
    window: askedWindow(input, now),
    limits: {
      maxRows: input.max_rows ?? limits.defaultRows,
      maxBytes: input.max_bytes ?? roomBytes ?? limits.defaultBytes,
    },
    readAhead: true,
    signal,
    requestId,
    operation,
  };
  const found = await pipeline.run(request);
  const empty = isEmpty(found);
  const told = await withUnsent(found, empty, request, parts);
  const result = empty ? await withNewest(told, request, parts) : told;
  const { readAhead } = result;
  return readAhead === undefined ? result : keep({ ...result, readAhead }, keptResults, principal);
}

/** SQL as models quote it in Markdown: within a fence, or within single backticks as a whole. */
function withoutFence(sql: string): string {
  const text = sql.trim();
  const [, fenced] = /^```(?:[a-z]*[ \t]*\r?\n|sql\s)?([\s\S]*?)(?:```)?$/i.exec(text) ?? [];
  const [, quoted] = /^`((?:select|with|show|describe)\s[^`]*)`$/i.exec(text) ?? [];
  return fenced ?? quoted ?? sql;
}

/** With what the statement asks for in a spelling that no row has. */
async function withUnsent(
  result: QueryResult,
  empty: boolean,
  request: QueryRequest,
  { pipeline, dialect }: QueryOtelParts,
): Promise<QueryResult> {
  const { window, rowCount, rowsJson } = result;
  if (window === undefined) return result;
  const { start, end } = window;
  const bounds = { ...(start && { start }), ...(end && { end }) };
  const warnings = await unsentWarnings(request.sql, dialect, { rowCount, rowsJson, empty }, async (sql) => {
    const asked = { ...request, sql, window: bounds, limits: askLimits, readAhead: false };
    const answer = await pipeline.run(asked);
    if (answer.truncation !== undefined) throw new SightlineError('payload_too_large', 'There are too many names.');
    const rows: readonly (readonly unknown[])[] = JSON.parse(`[${answer.rowsJson.toString()}]`);
    return rows;
  });
  return warnings.length === 0 ? result : { ...result, warnings: [...warnings, ...result.warnings] };
}

const newestMs = 2_000;

/** To one that is empty: that it looked ahead, and of when the newest telemetry is, or that there is none. */
async function withNewest(
  result: QueryResult,
  { organizationId, signal }: QueryRequest,
  { sink, now }: QueryOtelParts,
): Promise<QueryResult> {
  const [start, moment] = [result.window?.start, now()];
  const ahead =
    start !== undefined && start > moment
      ? [`The window starts at ${start.toISOString()}, in the future: it is ${moment.toISOString()} now.`]
      : [];
  const told = { ...result, warnings: [...ahead, ...result.warnings] };
  if (sink?.newest === undefined) return told;
  try {
    const newest = await sink.newest(organizationId, AbortSignal.any([signal, AbortSignal.timeout(newestMs)]));
    if (newest === undefined) return { ...result, warnings: [noTelemetry] };
    return { ...told, warnings: [...told.warnings, `The newest telemetry is of ${newest.toISOString()}.`] };
  } catch {
    return told;
  }
}

const noTelemetry =
  'No telemetry of this organization can be queried: none was received, or not yet loaded (a second or two), or all of it has expired. get_ingest_config says how to send.';

function askedWindow({ start, end }: QueryOtelInput, now: () => Date): TimeBounds | undefined {
  if (start === undefined && end === undefined) return undefined;
  const moment = now();
  return {
    ...(start === undefined ? {} : { start: parseTime(start, moment, 'start') }),
    ...(end === undefined ? {} : { end: parseTime(end, moment, 'end') }),
  };
}

/** Keeps what was read behind the returned rows, and says so. */
async function keep(
  { readAhead, ...result }: QueryResult & { readonly readAhead: ReadAhead },
  keptResults: KeptPages,
  principal: ToolContext['principal'],
): Promise<Answer> {
  if (result.truncation === undefined) return result;
  const resultId = await keptResults.keep(principal, {
    dialect: result.dialect,
    columns: result.columns,
    rows: readAhead.rows,
    ...(readAhead.cutBy === undefined ? {} : { cutBy: readAhead.cutBy }),
    ...(result.window === undefined ? {} : { window: result.window }),
  });
  if (resultId === undefined) return result;
  const { returned } = result.truncation;
  const total = `${readAhead.cutBy === undefined ? 'all' : 'the first'} ${readAhead.rows.ends.length} rows`;
  return {
    ...result,
    resultId,
    truncation: {
      ...result.truncation,
      hint: `${returned} rows are returned and ${total} are kept for ten minutes: send result_id "${resultId}" with offset ${returned}, or with contains to filter them. Or aggregate, select fewer columns, or narrow start and end.`,
    },
  };
}

async function page(
  { keptResults }: QueryOtelParts,
  limits: QueryOtelLimits,
  resultId: string,
  input: QueryOtelInput,
  { principal, roomBytes }: ToolContext,
): Promise<Answer> {
  const hint = 'A kept result is only read: send sql alone to run a query.';
  refuseTogether(input, ['sql', 'start', 'end'], undefined, hint);
  const started = performance.now();
  const offset = input.offset ?? 0;
  const { rows, stoppedBy, pagedIn, ...kept } = await keptResults.page(principal, resultId, {
    offset,
    ...(input.contains === undefined ? {} : { contains: input.contains }),
    maxRows: input.max_rows ?? limits.defaultRows,
    maxBytes: input.max_bytes ?? roomBytes ?? limits.defaultBytes,
  });
  const missed =
    rows.ends.length === 0 && stoppedBy === undefined ? missedText(pagedIn, offset, input.contains) : undefined;
  const more =
    input.contains === undefined ? 'narrow the query for the others' : 'put the text into the WHERE of the sql';
  const last =
    missed === undefined
      ? 'These are the last rows kept, not the last there are: narrow the query for the others.'
      : `${missed} Not all rows were kept: ${more}.`;
  const truncation = pageTruncation(stoppedBy, kept.cutBy, offset, rows.ends.length, last);
  return {
    dialect: kept.dialect,
    columns: kept.columns,
    rowsJson: rows.json,
    rowCount: rows.ends.length,
    truncated: truncation !== undefined,
    ...(truncation === undefined ? {} : { truncation }),
    ...(kept.window === undefined ? {} : { window: kept.window }),
    elapsedMs: Math.round((performance.now() - started) * 10) / 10,
    warnings: missed === undefined || truncation !== undefined ? [] : [missed],
    resultId,
  };
}

/** Why a page has no rows. */
function missedText({ kept, fitting }: KeptPage['pagedIn'], offset: number, contains: string | undefined): string {
  if (fitting === 0 && contains !== undefined) return `None of the ${kept} rows kept contains this text.`;
  const some =
    contains === undefined ? `${kept} rows are kept` : `${fitting} of the ${kept} rows kept contain this text`;
  return `The offset ${offset} is past the end: ${some}.`;
}

function pageTruncation(
  stoppedBy: 'rows' | 'bytes' | undefined,
  cutBy: 'rows' | 'bytes' | undefined,
  offset: number,
  returned: number,
  last: string,
): Truncation | undefined {
  if (stoppedBy !== undefined) {
    const hint =
      returned === 0
        ? `The row at offset ${offset} is larger than max_bytes: raise it, or send offset ${offset + 1}.`
        : `More rows are kept: send offset ${offset + returned}.`;
    return { reason: stoppedBy, returned, hint };
  }
  return cutBy && { reason: cutBy, returned, hint: last };
}

function refuseTogether(
  input: QueryOtelInput,
  names: readonly (keyof QueryOtelInput)[],
  needs: string | undefined,
  hint: string,
): void {
  for (const name of names) {
    if (input[name] === undefined) continue;
    throw wrong(needs === undefined ? `${name} cannot be sent with result_id.` : `${name} needs ${needs}.`, hint);
  }
}

function wrong(message: string, hint: string): SightlineError {
  return new SightlineError('invalid_argument', message, { hint });
}

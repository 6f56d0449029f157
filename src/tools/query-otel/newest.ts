import { otelTables } from '../../contract/telemetry/index.ts';
import type { QueryPipeline } from '../../telemetry/query/pipeline.ts';
import type { QueryRequest } from '../../telemetry/query/request.ts';
import type { QueryResult } from '../../telemetry/query/result.ts';

const newest = Object.keys(otelTables)
  .map(
    (table) =>
      `SELECT time, service_name FROM (SELECT time, service_name FROM otel.${table} ORDER BY time DESC LIMIT 1) AS ${table}`,
  )
  .join(' UNION ALL ');
const longestMs = 2_000;

interface Last {
  readonly time: string;
  readonly service: string;
}

/** To one that found nothing, also where it counted: when telemetry last came in, or that none did. */
export async function withNewest(
  result: QueryResult,
  request: QueryRequest,
  pipeline: QueryPipeline,
): Promise<QueryResult> {
  if (!foundNothing(result)) return result;
  const window = { start: new Date(0) };
  const limits = { maxRows: 3, timeoutMs: longestMs };
  try {
    const { rowsJson } = await pipeline.run({ ...request, sql: newest, window, limits, readAhead: false });
    const rows: readonly (readonly unknown[])[] = JSON.parse(`[${rowsJson.toString()}]`);
    const last = rows
      .map(([time, service]) => ({ time: String(time), service: String(service) }))
      .reduce<Last | undefined>((best, row) => (best === undefined || row.time > best.time ? row : best), undefined);
    if (last === undefined) return { ...result, warnings: [empty] };
    const { time, service } = last;
    // A name is a stranger's text: what is no plain name is left out.
    const from = /^[\w./-]{1,60}$/.test(service) ? `, from ${service}` : '';
    return { ...result, warnings: [...result.warnings, `The newest telemetry is of ${time}${from}.`] };
  } catch {
    return result;
  }
}

const empty =
  'No telemetry of this organization is stored: none was received, or all of it has expired. get_ingest_config says how to send.';

function foundNothing({ rowCount, rowsJson }: QueryResult): boolean {
  return rowCount === 0 || (rowCount === 1 && /^\[(?:"0"|0|null)(?:,(?:"0"|0|null))*\]$/.test(rowsJson.toString()));
}

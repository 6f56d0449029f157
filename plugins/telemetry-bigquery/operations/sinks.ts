import { z } from 'zod';
import type { PhysicalColumns, ValueNote } from '../../../src/contract/telemetry/index.ts';
import { ApiFailure, type Api } from '../api.ts';
import { tablePath } from '../literals.ts';
import { severityNumber } from '../presets/google-cloud.ts';
import { arrivedAround } from '../presets/otel-collector.ts';
import { plain, present, text, type Wanted } from '../writer.ts';

/** What a sink of Cloud Logging or Cloud Trace wrote, mapped by hand, with what does not fit. */
export interface SinkTable {
  readonly table: 'spans' | 'logs';
  readonly title: string;
  readonly source: {
    readonly from: string;
    readonly columns: Readonly<Record<string, string>>;
    readonly timeBounds?: readonly string[];
  };
  readonly notes: readonly ValueNote[];
}

const pageSize = 1_000;
const mostPages = 10;
const mostLooked = 20;
const listing = z.object({
  tables: z.array(z.object({ tableReference: z.object({ tableId: z.string() }) })).default([]),
  nextPageToken: z.string().optional(),
});

/** Looks at the first tables of a dataset; where one is made each day, at the newest. */
export async function sinkTables(
  dataset: string,
  api: Api,
  columns: PhysicalColumns,
  signal: AbortSignal,
): Promise<readonly SinkTable[]> {
  const days = new Map<string, string[]>();
  for (const name of await tableNamesIn(dataset, api, signal)) {
    const base = name.replace(/_\d{8}$/, '');
    days.set(base, [...(days.get(base) ?? []), name]);
  }
  const found: SinkTable[] = [];
  for (const [base, names] of [...days].slice(0, mostLooked)) {
    const newest = names.toSorted().at(-1) ?? base;
    const there = await columns(`${dataset}.${newest}`);
    const sink = there && (logSink(`${dataset}.${base}`, there) ?? traceSink(`${dataset}.${base}`, there));
    if (sink !== undefined)
      found.push(newest === base ? sink : { ...sink, notes: [daily(sink, names), ...sink.notes] });
  }
  return found;
}

/** A dry run has to name each table that a statement reads, and BigQuery names fifty. */
function daily({ table, source }: SinkTable, names: readonly string[]): ValueNote {
  const found = `${names.length} daily tables (${names.at(-1)}), which cannot be read as one; let the sink write a partitioned table, ${source.from.replaceAll('`', '')}`;
  return { what: `otel.${table}`, found };
}

async function tableNamesIn(dataset: string, api: Api, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  let pageToken: string | undefined;
  try {
    for (let page = 0; page < mostPages; page += 1) {
      const query = { maxResults: pageSize, ...(pageToken !== undefined && { pageToken }) };
      const path = `/datasets/${encodeURIComponent(dataset)}/tables`;
      const answer = listing.parse(await api.send({ method: 'GET', path, query, retry: true }, signal));
      names.push(...answer.tables.map(({ tableReference }) => tableReference.tableId));
      pageToken = answer.nextPageToken;
      if (pageToken === undefined) break;
    }
  } catch (error) {
    // A dataset that is not there, or whose tables may not be listed.
    if (!(error instanceof ApiFailure) || error.passing) throw error;
  }
  return names;
}

const object = (column: string, ...parts: readonly string[]): Wanted => [
  `IFNULL(TO_JSON(${column}), JSON '{}')`,
  ...(parts.length > 0 ? parts : [column]),
];

/** A LogEntry, as Cloud Logging's sinks write it. */
function logSink(path: string, there: ReadonlyMap<string, string>): SinkTable | undefined {
  if (!['logName', 'timestamp', 'severity'].every((name) => there.has(name))) return undefined;
  const bodies = [
    ...(there.has('textPayload') ? ['textPayload'] : []),
    ...['jsonPayload', 'protoPayload']
      .filter((name) => there.has(name))
      .map((name) => `IF(${name} IS NULL, NULL, TO_JSON_STRING(${name}))`),
  ];
  const services = ['service_name', 'container_name', 'module_id', 'function_name']
    .map((name) => `resource.labels.${name}`)
    .filter((name) => there.has(name));
  const columns = present(
    {
      time: plain('timestamp'),
      observed_time: ['IFNULL(receiveTimestamp, `timestamp`)', 'receiveTimestamp'],
      severity_number: [`CASE severity ${severityNumber} ELSE 0 END`, 'severity'],
      severity_text: text('severity'),
      body: [`COALESCE(${[...bodies, "''"].join(', ')})`],
      trace_id: [`IFNULL(REGEXP_EXTRACT(trace, r'[^/]+$'), '')`, 'trace'],
      span_id: text('spanId'),
      flags: ['IF(IFNULL(traceSampled, FALSE), 1, 0)', 'traceSampled'],
      service_name: [`COALESCE(${[...services, "''"].join(', ')})`],
      attributes: object('labels'),
      resource_attributes: object('resource.labels'),
    },
    there,
  );
  const notes: ValueNote[] = [
    ...(there.has('labels')
      ? [
          {
            what: 'otel.logs.attributes',
            found: 'the sink wrote other signs of a key as _: k8s_pod_app for k8s-pod/app',
          },
        ]
      : []),
    ...(services.length === 0 ? [noService('logs', 'resource.labels names none')] : []),
  ];
  return {
    table: 'logs',
    title: `A sink of Cloud Logging in ${path}`,
    source: { from: tablePath(path), columns },
    notes,
  };
}

/** A Span of the Trace API v2, as Cloud Trace's sinks write it. */
function traceSink(path: string, there: ReadonlyMap<string, string>): SinkTable | undefined {
  const prefix = ['span.', ''].find((each) => there.has(`${each}spanId`) && there.has(`${each}displayName.value`));
  if (prefix === undefined || !there.has(`${prefix}startTime`)) return undefined;
  const own = (name: string) => `${prefix}${name}`;
  const [start, end] = [own('startTime'), own('endTime')];
  const columns = present(
    {
      time: [start, start],
      end_time: [end, end],
      duration_nano: [`TIMESTAMP_DIFF(${end}, ${start}, MICROSECOND) * 1000`, end],
      trace_id: [`IFNULL(REGEXP_EXTRACT(${own('name')}, r'traces/([0-9a-f]+)'), '')`, own('name')],
      span_id: text(own('spanId')),
      parent_span_id: text(own('parentSpanId')),
      name: text(own('displayName.value')),
      kind: [
        `IFNULL(REPLACE(${own('spanKind')}, 'SPAN_KIND_UNSPECIFIED', 'UNSPECIFIED'), 'UNSPECIFIED')`,
        own('spanKind'),
      ],
      status_code: [`IF(IFNULL(${own('status.code')}, 0) = 0, 'UNSET', 'ERROR')`, own('status.code')],
      status_message: text(own('status.message')),
      attributes: object(own('attributes.attributeMap')),
    },
    there,
  );
  const notes = [
    noService('spans', 'a span of Cloud Trace has no resource'),
    { what: 'otel.spans.attributes', found: 'each value is an object of its type, and other signs of a key are _' },
  ];
  const timeBounds = there.has('_PARTITIONTIME') ? { timeBounds: arrivedAround('_PARTITIONTIME') } : {};
  return {
    table: 'spans',
    title: `A sink of Cloud Trace in ${path}`,
    source: { from: tablePath(path), columns, ...timeBounds },
    notes,
  };
}

function noService(table: SinkTable['table'], found: string): ValueNote {
  return { what: `otel.${table}.service_name`, found };
}

import { otelTables, tableNames, type LogicalColumn, type TableName } from '../../../src/contract/telemetry/index.ts';
import { identifier } from '../quote.ts';
import type { FoundTable } from './profile.ts';

export interface NamedPreset {
  readonly preset: string;
  readonly names: Readonly<Record<string, string>>;
}

/** The columns by which a table of the Collector's exporter is known, whatever it is called. */
const exporterSigns: Readonly<Record<string, (has: (...names: readonly string[]) => boolean) => boolean>> = {
  traces: (has) => has('Timestamp', 'TraceId', 'SpanName', 'SpanAttributes'),
  logs: (has) => has('Timestamp', 'Body', 'SeverityNumber', 'LogAttributes'),
  metrics_gauge: (has) => has('TimeUnix', 'MetricName', 'Value') && !has('IsMonotonic'),
  metrics_sum: (has) => has('TimeUnix', 'MetricName', 'Value', 'IsMonotonic'),
  metrics_histogram: (has) => has('TimeUnix', 'MetricName', 'BucketCounts'),
  metrics_exponential_histogram: (has) => has('TimeUnix', 'MetricName', 'PositiveBucketCounts'),
  metrics_summary: (has) => has('TimeUnix', 'MetricName', 'ValueAtQuantiles.Quantile'),
};

/** Where the exporter's tables are: one for each database that has one of them, ClickStack's told from the Collector's. */
export function exporters(tables: readonly FoundTable[]): readonly NamedPreset[] {
  return [...Map.groupBy(tables, ({ database }) => database)].flatMap(([database, there]) => {
    const names: Record<string, string> = {};
    for (const [key, sign] of Object.entries(exporterSigns)) {
      const like = there.filter(({ columns }) => sign((...wanted) => wanted.every((name) => columns.has(name))));
      const best = bestOf(like, `otel_${key}`);
      if (best !== undefined) names[key] = best.name;
    }
    if (Object.keys(names).length === 0) return [];
    const ofClickStack = there.some(
      ({ name, columns }) =>
        name === 'hyperdx_sessions' || [...columns.keys()].some((column) => column.startsWith('__hdx_')),
    );
    return [{ preset: ofClickStack ? 'clickstack' : 'otel-collector', names: { database, ...names } }];
  });
}

/** Tables of our own, in each database that has some. */
export function owns(tables: readonly FoundTable[]): readonly NamedPreset[] {
  const ours = tables.filter(({ columns }) =>
    ['organization', 'time', 'resource_attributes'].every((name) => columns.has(name)),
  );
  return [...Map.groupBy(ours, ({ database }) => database)].map(([database, there]) => {
    const named = (key: string, sign: string) => {
      const best = bestOf(
        there.filter(({ columns }) => columns.has(sign)),
        `sightline_${key}`,
      );
      return best === undefined ? {} : { [key]: best.name };
    };
    return {
      preset: 'sightline',
      names: {
        database,
        ...named('spans', 'span_id'),
        ...named('metrics', 'aggregation_temporality'),
        ...named('logs', 'body'),
      },
    };
  });
}

/** The usual name, then a Distributed table, which has the rows of all shards, then the fullest. */
function bestOf(tables: readonly FoundTable[], usual: string): FoundTable | undefined {
  return (
    tables.find(({ name }) => name === usual) ?? tables.find(({ engine }) => engine === 'Distributed') ?? tables.at(0)
  );
}

/** What else a logical column is called, in lower case and without underscores, likeliest first. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  time: ['timestamp', 'time', 'ts', 'starttime', 'startts', 'eventtime', 'datetime', 'timeunix', 'createdat'],
  end_time: ['endtime', 'endts', 'endtimestamp'],
  duration_nano: ['durationnano', 'durationns', 'durationnanos'],
  trace_id: ['traceid', 'trace'],
  span_id: ['spanid', 'span'],
  parent_span_id: ['parentspanid', 'parentid', 'parentspan'],
  name: ['spanname', 'operationname', 'operation', 'metricname', 'metric', 'name'],
  kind: ['spankind', 'kind'],
  status_code: ['statuscode', 'status'],
  status_message: ['statusmessage'],
  service_name: ['servicename', 'service', 'app', 'application'],
  service_version: ['serviceversion', 'version'],
  deployment_environment: ['deploymentenvironment', 'environment', 'env'],
  attributes: ['attributes', 'spanattributes', 'logattributes', 'tags', 'labels'],
  resource_attributes: ['resourceattributes', 'resource', 'resourcetags'],
  body: ['body', 'message', 'msg', 'log', 'line', 'text'],
  severity_text: ['severitytext', 'severity', 'level', 'loglevel'],
  severity_number: ['severitynumber'],
  event_name: ['eventname'],
  value: ['value', 'val'],
  unit: ['unit', 'metricunit'],
};

/** Without these a table is not of its kind. */
const signs = {
  spans: ['time', 'trace_id', 'span_id', 'name'],
  logs: ['time', 'body'],
  metrics: ['time', 'name', 'value'],
} as const satisfies Record<TableName, readonly string[]>;

export interface Guess {
  readonly table: TableName;
  readonly from: FoundTable;
  readonly columns: Readonly<Record<string, string>>;
}

/** For layouts that no preset knows: of each kind the table that looks most like it, with the columns that look like ours. */
export function guess(tables: readonly FoundTable[]): readonly Guess[] {
  return tableNames.flatMap((table) => {
    const [best] = tables
      .map((from) => ({ table, from, columns: columnsLike(table, from) }))
      .filter(({ columns }) => signs[table].every((name) => columns[name] !== undefined))
      .toSorted((one, two) => Object.keys(two.columns).length - Object.keys(one.columns).length);
    return best === undefined ? [] : [best];
  });
}

function columnsLike(table: TableName, { columns }: FoundTable): Readonly<Record<string, string>> {
  const byPlainName = new Map(
    [...columns].map(([name, type]) => [name.toLowerCase().replaceAll('_', ''), { name, type }]),
  );
  const logical: readonly LogicalColumn[] = otelTables[table].columns;
  const taken = new Set<string>();
  const found = logical.flatMap(({ name, type }) => {
    const plain = [...(otherNames[name] ?? []), name.replaceAll('_', '')];
    const like = plain
      .map((other) => byPlainName.get(other))
      .find((column) => column !== undefined && fits(type, column.type) && !taken.has(column.name));
    if (like === undefined) return [];
    taken.add(like.name);
    return [[name, /^[A-Za-z_]\w*$/.test(like.name) ? like.name : identifier(like.name)] as const];
  });
  return Object.fromEntries(found);
}

/** A column of another type would need an expression, which the operator writes. */
function fits(type: LogicalColumn['type'], physical: string): boolean {
  const plain = physical.replaceAll(/(LowCardinality|Nullable)\(/g, '');
  const wanted: Partial<Record<LogicalColumn['type'], RegExp>> = {
    timestamp: /^DateTime/,
    string: /^(String|FixedString|Enum|UUID)/,
    int64: /^U?Int/,
    float64: /^(Float|Decimal|U?Int)/,
    boolean: /^(Bool|UInt8)/,
    map: /^(Map\((LowCardinality\()?String|JSON)/,
  };
  return wanted[type]?.test(type === 'map' ? physical : plain) ?? false;
}

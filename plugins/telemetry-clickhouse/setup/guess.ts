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

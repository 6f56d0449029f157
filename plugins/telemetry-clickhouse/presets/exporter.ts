import { sourcesOf, type MappingPreset, type TableSource } from '../../../src/contract/telemetry/index.ts';
import { literal } from '../quote.ts';
import { logsSource, spansSource, service } from './exporter-spans-logs.ts';
import { quantile } from '../types.ts';
import { pick, present, tableOf, type Columns } from './columns.ts';

const metricTypes = ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const;
type MetricType = (typeof metricTypes)[number];

/** One of the exporter's five metrics tables. Their columns are cast, since the five are one UNION ALL. */
function metricsSource(type: MetricType, from: string, columns: Columns): TableSource {
  const int = (name: string) => cast(columns, name, 'Nullable(Int64)');
  const float = (name: string) => cast(columns, name, 'Nullable(Float64)');
  const ints = (name: string) => cast(columns, name, 'Array(Int64)');
  const start = pick(columns, 'StartTimeUnix');
  const temporality = pick(columns, 'AggregationTemporality');
  return {
    from,
    columns: present({
      time: pick(columns, 'TimeUnix'),
      // The exporter writes 1970 where the point has no start.
      start_time: start && `nullIf(toDateTime64(${start}, 9, 'UTC'), toDateTime64(0, 9, 'UTC'))`,
      name: pick(columns, 'MetricName'),
      type: literal(type),
      unit: pick(columns, 'MetricUnit'),
      description: pick(columns, 'MetricDescription'),
      aggregation_temporality: temporality && `transform(${temporality}, [1, 2], ['delta', 'cumulative'], '')`,
      is_monotonic: cast(columns, 'IsMonotonic', 'Bool'),
      value: float('Value'),
      count: int('Count'),
      sum: float('Sum'),
      min: float('Min'),
      max: float('Max'),
      bucket_counts: ints('BucketCounts'),
      explicit_bounds: pick(columns, 'ExplicitBounds'),
      scale: int('Scale'),
      zero_count: int('ZeroCount'),
      positive_offset: int('PositiveOffset'),
      positive_bucket_counts: ints('PositiveBucketCounts'),
      negative_offset: int('NegativeOffset'),
      negative_bucket_counts: ints('NegativeBucketCounts'),
      quantile_values: quantiles(columns),
      ...service(columns),
      attributes: pick(columns, 'Attributes'),
      flags: cast(columns, 'Flags', 'Int64'),
    }),
  };
}

function cast(columns: Columns, name: string, type: string): string | undefined {
  const column = pick(columns, name);
  return column && `CAST(${column}, ${literal(type)})`;
}

function quantiles(columns: Columns): string | undefined {
  if (!columns.has('ValueAtQuantiles.Quantile') || !columns.has('ValueAtQuantiles.Value')) return undefined;
  const one = `CAST((_quantile, _value), ${literal(quantile)})`;
  return `arrayMap((_quantile, _value) -> ${one}, ValueAtQuantiles.Quantile, ValueAtQuantiles.Value)`;
}

/** The exporter's table of exponential histograms changed its name. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  otel_metrics_exponential_histogram: ['otel_metrics_exp_histogram'],
};

/** A preset for tables of the Collector's exporter, created by it or by the operator. */
export function exporterPreset(name: string, title: string, database: string): MappingPreset {
  return {
    name,
    title,
    names: {
      database,
      traces: 'otel_traces',
      logs: 'otel_logs',
      ...Object.fromEntries(metricTypes.map((type) => [`metrics_${type}`, `otel_metrics_${type}`])),
    },
    async sources(names, columns) {
      const find = async (key: string) => {
        const usual = names[key] ?? '';
        return await tableOf(columns, names['database'], [usual, ...(otherNames[usual] ?? [])]);
      };
      const traces = await find('traces');
      const logs = await find('logs');
      const metrics: TableSource[] = [];
      for (const type of metricTypes) {
        const table = await find(`metrics_${type}`);
        if (table !== undefined) metrics.push(metricsSource(type, table.from, table.columns));
      }
      return sourcesOf({
        spans: traces && spansSource(traces.from, traces.columns),
        logs: logs && logsSource(logs.from, logs.columns),
        metrics,
      });
    },
  };
}

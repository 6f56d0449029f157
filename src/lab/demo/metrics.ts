import {
  keyValues,
  nanos,
  type Attributes,
  type HistogramPoint,
  type KeyValue,
  type NumberPoint,
  type OtlpMetric,
  type Resource,
  type Scope,
} from './otlp.ts';
import { distracted } from './distractions.ts';
import type { Random } from './random.ts';
import { gaugeMetrics, type GaugeMetric, type Reading } from './scenario.ts';
import { nodeResource, nodes, serviceNames, services, type Node, type Pod, type ServiceName } from './shop.ts';
import { podsAt, type Timeline } from './timeline.ts';
import { counterMetrics, durationMetrics, type CounterMetric, type DurationMetric, type Measured } from './world.ts';

/** The boundaries semantic conventions advise for durations in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;

interface Histogram {
  readonly pod: Pod;
  readonly metric: DurationMetric;
  readonly attributes: readonly KeyValue[];
  readonly buckets: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
  /** The slowest since the last report. */
  slowest?: Measured;
}

interface Counter {
  readonly pod: Pod;
  readonly metric: CounterMetric;
  readonly attributes: readonly KeyValue[];
  value: number;
}

export interface ResourceMetrics {
  readonly resource: Resource;
  readonly scopeMetrics: readonly { readonly scope: Scope; readonly metrics: readonly OtlpMetric[] }[];
}

/** Cumulative series as the SDKs keep them, and the gauges of pods and nodes. */
export class Meter {
  readonly #histograms = new Map<string, Histogram>();
  readonly #counters = new Map<string, Counter>();

  observe(pod: Pod, metric: DurationMetric, attributes: Attributes, measured: Measured): void {
    const { seconds } = measured;
    const key = seriesKey(pod, metric, attributes);
    let series = this.#histograms.get(key);
    if (series === undefined) {
      const buckets = Array.from({ length: bounds.length + 1 }, () => 0);
      series = { pod, metric, attributes: keyValues(attributes), buckets, count: 0, sum: 0, min: Infinity, max: 0 };
      this.#histograms.set(key, series);
    }
    const index = bounds.findIndex((bound) => seconds <= bound);
    const bucket = index === -1 ? bounds.length : index;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count += 1;
    series.sum += seconds;
    series.min = Math.min(series.min, seconds);
    series.max = Math.max(series.max, seconds);
    if (seconds > (series.slowest?.seconds ?? 0)) series.slowest = measured;
  }

  count(pod: Pod, metric: CounterMetric, attributes: Attributes, by: number): void {
    const key = seriesKey(pod, metric, attributes);
    let series = this.#counters.get(key);
    if (series === undefined) {
      series = { pod, metric, attributes: keyValues(attributes), value: 0 };
      this.#counters.set(key, series);
    }
    series.value += by;
  }

  /** What every pod and node reports at `at` (epoch milliseconds); `traffic` is 1 at usual load. */
  collect(
    timeline: Timeline,
    at: number,
    traffic: number,
    random: Random,
  ): { items: number; metrics: ResourceMetrics }[] {
    const reports: { items: number; metrics: ResourceMetrics }[] = [];
    for (const service of serviceNames) {
      for (const pod of podsAt(timeline, service, at)) {
        const own = this.#own(pod, at);
        const gauges = podGauges(timeline, pod, at, traffic, random);
        reports.push({
          items: own.points + gauges.length,
          metrics: {
            resource: pod.resource,
            scopeMetrics: [
              { scope: pod.scope, metrics: own.metrics },
              { scope: collectorScope, metrics: gauges },
            ],
          },
        });
      }
    }
    for (const node of nodes) {
      const gauges = nodeGauges(timeline, node, at, traffic, random);
      const scopeMetrics = [{ scope: collectorScope, metrics: gauges }];
      reports.push({ items: gauges.length, metrics: { resource: nodeResource(node), scopeMetrics } });
    }
    return reports;
  }

  #own(pod: Pod, at: number): { points: number; metrics: OtlpMetric[] } {
    const times = { startTimeUnixNano: nanos(pod.startedAt * 1000), timeUnixNano: nanos(at * 1000) };
    const histograms = [...this.#histograms.values()].filter((series) => series.pod === pod);
    const counters = [...this.#counters.values()].filter((series) => series.pod === pod);
    const durations = [...Map.groupBy(histograms, ({ metric }) => metric)].map(([name, list]): OtlpMetric => {
      const dataPoints = list.map((series) => pointOf(series, times, at));
      return {
        name,
        unit: 's',
        description: durationMetrics[name],
        histogram: { dataPoints, aggregationTemporality: 2 },
      };
    });
    const counts = [...Map.groupBy(counters, ({ metric }) => metric)].map(([name, list]): OtlpMetric => {
      const dataPoints = list.map(({ attributes, value }) => ({ attributes, ...times, asDouble: value }));
      const { unit, description } = counterMetrics[name];
      return { name, unit, description, sum: { dataPoints, aggregationTemporality: 2, isMonotonic: true } };
    });
    return { points: histograms.length + counters.length, metrics: [...durations, ...counts] };
  }
}

/** The series so far; its slowest is told once. */
function pointOf(
  series: Histogram,
  times: Pick<HistogramPoint, 'startTimeUnixNano' | 'timeUnixNano'>,
  at: number,
): HistogramPoint {
  const { attributes, count, sum, min, max, buckets } = series;
  const figures = { count: String(count), sum, min, max, bucketCounts: buckets.map(String), explicitBounds: bounds };
  const point = { attributes, ...times, ...figures, ...exemplarsOf(series, at) };
  delete series.slowest;
  return point;
}

/** Not of a span that is not sent yet. */
function exemplarsOf({ slowest }: Histogram, at: number): Pick<HistogramPoint, 'exemplars'> {
  if (slowest === undefined || slowest.at > at * 1000) return {};
  const { traceId, spanId, seconds } = slowest;
  return { exemplars: [{ timeUnixNano: nanos(slowest.at), asDouble: seconds, traceId, spanId }] };
}

const collectorScope: Scope = { name: 'github.com/open-telemetry/opentelemetry-collector-contrib', version: '0.142.0' };

const pools: Partial<Record<ServiceName, string>> = {
  inventory: 'pg-inventory',
  'product-catalog': 'pg-catalog',
  accounting: 'pg-ledger',
};

function podGauges(timeline: Timeline, pod: Pod, at: number, traffic: number, random: Random): OtlpMetric[] {
  const facts = services[pod.service];
  const read = (metric: GaugeMetric, value: number, attributes: Attributes = {}): OtlpMetric =>
    gauge(timeline, at, { metric, value, pod }, attributes);
  const list = [
    read('container.cpu.usage', Math.max(0.01, facts.cpu * (0.4 + 0.6 * traffic) * random.lognormal(1, 0.12))),
    read('container.memory.usage', Math.round(facts.memory * random.normal(1, 0.02))),
    read('k8s.container.restart_count', 0),
  ];
  const pool = pools[pod.service];
  if (pool !== undefined) {
    const used = random.poisson(1.5 * traffic);
    const name = { 'db.client.connection.pool.name': pool };
    list.push(
      read('db.client.connection.count', used, { ...name, 'db.client.connection.state': 'used' }),
      read('db.client.connection.pending_requests', random.chance(0.05) ? 1 : 0, name),
    );
  }
  if (pod.service === 'accounting' && pod.index === 0) {
    const attributes = { 'messaging.destination.name': 'orders', 'messaging.consumer.group.name': 'accounting' };
    list.push(read('kafka.consumer_group.lag', random.poisson(1.2), attributes));
  }
  return list;
}

function nodeGauges(timeline: Timeline, node: Node, at: number, traffic: number, random: Random): OtlpMetric[] {
  return [
    gauge(timeline, at, {
      metric: 'system.cpu.utilization',
      value: Math.min(0.95, random.normal(0.28, 0.03) * traffic),
      node,
    }),
    gauge(timeline, at, { metric: 'system.disk.io_time', value: random.between(0.02, 0.09), node }),
  ];
}

function gauge(timeline: Timeline, at: number, reading: Reading, attributes: Attributes = {}): OtlpMetric {
  const { scenario, onset, distractions } = timeline;
  const value = distracted(distractions, reading, at);
  const changed = at >= onset ? scenario.gauge?.({ ...reading, value }, (at - onset) / 60_000) : undefined;
  const point: NumberPoint = {
    attributes: keyValues(attributes),
    timeUnixNano: nanos(at * 1000),
    asDouble: changed ?? value,
  };
  return { name: reading.metric, ...gaugeMetrics[reading.metric], gauge: { dataPoints: [point] } };
}

function seriesKey(pod: Pod, metric: string, attributes: Attributes): string {
  return `${pod.name}|${metric}|${JSON.stringify(attributes)}`;
}

import { keyValues, nanos, spanKinds, type OtlpMetric, type OtlpSpan } from '../demo/otlp.ts';
import { services } from './topology.ts';

/** Who measures. */
interface Pod {
  readonly service: string;
  readonly name: string;
}

/** Calls of one kind by one pod: seconds so far, or since the last report. */
interface Series {
  readonly pod: Pod;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  count: number;
  sum: number;
}

const minute = 60_000;

/** Counters and durations as SDKs keep them. Every other service sends deltas of its durations. */
export class Meter {
  readonly #start: number;
  readonly #restarted = new Map<string, number>();
  readonly #counters = new Map<string, number>();
  readonly #durations = new Map<string, Series>();

  constructor(start: number) {
    this.#start = start;
  }

  /** What it counted so far is forgotten. */
  restart(service: string, at: number): void {
    this.#restarted.set(service, at);
    for (const key of this.#counters.keys()) if (key.startsWith(`${service}-`)) this.#counters.delete(key);
    for (const [key, { pod }] of this.#durations) if (pod.service === service) this.#durations.delete(key);
  }

  #since({ service }: Pod): number {
    return this.#restarted.get(service) ?? this.#start;
  }

  count(of: Pod, name: string, by: number, at: number): OtlpMetric {
    const { name: pod } = of;
    const value = (this.#counters.get(`${pod} ${name}`) ?? 0) + by;
    this.#counters.set(`${pod} ${name}`, value);
    const times = { startTimeUnixNano: nanos(this.#since(of) * 1_000), timeUnixNano: nanos(at * 1_000) };
    const dataPoints = [{ attributes: [], ...times, asDouble: value }];
    return { name, unit: '1', description: '', sum: { dataPoints, aggregationTemporality: 2, isMonotonic: true } };
  }

  /** After the spans of the minute up to `at`. */
  durations(pod: Pod, spans: readonly OtlpSpan[], at: number): readonly OtlpMetric[] {
    const isDelta = Object.keys(services).indexOf(pod.service) % 2 === 1;
    for (const span of spans) {
      const { name, attributes } = measured(span);
      const key = JSON.stringify([pod.name, name, attributes]);
      const series = this.#durations.get(key) ?? { pod, name, attributes, count: 0, sum: 0 };
      this.#durations.set(key, series);
      series.count += 1;
      series.sum += (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e9;
    }
    const since = nanos((isDelta ? at - minute : this.#since(pod)) * 1_000);
    const own = [...this.#durations].filter(([, { pod: of }]) => of === pod);
    if (isDelta) for (const [key] of own) this.#durations.delete(key);
    return own.map(([, { name, attributes, count, sum }]) => {
      const times = { startTimeUnixNano: since, timeUnixNano: nanos(at * 1_000) };
      const point = { attributes: keyValues(attributes), ...times, count: String(count), sum };
      const dataPoints = [{ ...point, bucketCounts: [], explicitBounds: [] }];
      const histogram = { dataPoints, aggregationTemporality: isDelta ? (1 as const) : (2 as const) };
      return { name, unit: 's', description: '', histogram };
    });
  }
}

/** The metric of semantic conventions that a span counts for, and the attributes of its series. */
function measured({ kind, name, attributes, status }: OtlpSpan): Pick<Series, 'name' | 'attributes'> {
  const failed = status.code === 2 ? { 'error.type': '_OTHER' } : {};
  if (kind === spanKinds.SERVER)
    return { name: 'rpc.server.call.duration', attributes: { 'rpc.method': name, ...failed } };
  if (kind === spanKinds.CLIENT) {
    const value = attributes.find(({ key }) => key === 'server.address')?.value;
    const address = value !== undefined && 'stringValue' in value ? value.stringValue : '';
    const what = address in services ? 'rpc.client.call' : 'db.client.operation';
    return { name: `${what}.duration`, attributes: { 'server.address': address, ...failed } };
  }
  return kind === spanKinds.CONSUMER
    ? { name: 'messaging.process.duration', attributes: { 'messaging.operation.name': name, ...failed } }
    : { name: 'job.run.duration', attributes: { 'code.function.name': name, ...failed } };
}

export function gaugeOf(name: string, value: number, at: number): OtlpMetric {
  const dataPoints = [{ attributes: [], timeUnixNano: nanos(at * 1_000), asDouble: value }];
  return { name, unit: '1', description: '', gauge: { dataPoints } };
}

import { during } from './distractions.ts';
import { runJob, visit } from './flows.ts';
import type { Chatter, World } from './scenario.ts';
import { Meter, type ResourceMetrics } from './metrics.ts';
import { bodyOf, logRecord, nanos, spanKinds, type OtlpLogRecord, type OtlpSpan, type Severity } from './otlp.ts';
import { Random } from './random.ts';
import { serviceNames, type Pod } from './shop.ts';
import { type DemoFigures, type DemoOptions, planTimeline, podsAt, Tally, type Timeline } from './timeline.ts';
import type { Site, Trouble } from './world.ts';

export type OtlpSignal = 'traces' | 'metrics' | 'logs';

/** A body for `/v1/<signal>`. */
export interface OtlpRequest {
  readonly signal: OtlpSignal;
  readonly body: string;
  /** Spans, data points or log records in it. */
  readonly items: number;
  /** How far the whole is done with it, 0 to 1. */
  readonly progress: number;
}

/** Spans, log records or data points a request has at most; a pod's report of metrics is never split. */
const batchSize = 512;
const minute = 60_000;
const hour = 60 * minute;

/** Oldest first; the same options give the same bytes. Throws `invalid_argument` for options out of range. */
export function* generate(options: DemoOptions): Generator<OtlpRequest, DemoFigures, undefined> {
  const timeline = planTimeline(options);
  const { start, end, onset, scenario } = timeline;
  const shop = new Shop(timeline, new Random(options.seed, 2));
  const { random } = shop;
  const { hourAtEnd = end / hour } = options;
  const hourOf = (at: number): number => hourAtEnd + (at - end) / hour;
  for (let from = start; from < end; from += minute) {
    const to = Math.min(from + minute, end);
    const surge = from >= onset ? (scenario.traffic?.((from - onset) / minute) ?? 1) : 1;
    const { peak } = timeline.distractions;
    const crowd = during(peak, from) ? peak.factor : 1;
    const traffic = surge * crowd * diurnal(hourOf(from)) * random.lognormal(1, 0.06);
    shop.startPods(from, to);
    shop.hum(from, to);
    shop.runBatch(from, to);
    const arrivals = Array.from({ length: random.poisson(timeline.rate * traffic) }, () => random.between(from, to));
    for (const at of arrivals.sort((a, b) => a - b)) {
      visit(shop, Math.floor(at * 1000));
      yield* shop.full((at - start) / (end - start));
    }
    yield* shop.rest(to, traffic, (to - start) / (end - start));
  }
  return shop.tally.figures();
}

const swing = 0.25;

/** Busiest in the early evening, quietest at night. */
function diurnal(hourOfDay: number): number {
  return 1 + swing * Math.sin(((hourOfDay - 11) / 24) * 2 * Math.PI);
}

class Shop implements World {
  readonly random: Random;
  readonly tally: Tally;
  readonly build: World['build'];
  readonly #timeline: Timeline;
  readonly #meter = new Meter();
  #spans: [Pod, OtlpSpan][] = [];
  #logs: [Pod, OtlpLogRecord][] = [];

  constructor(timeline: Timeline, random: Random) {
    this.#timeline = timeline;
    this.random = random;
    this.tally = new Tally(timeline);
    this.build = timeline.build;
  }

  pod(service: Pod['service'], at: number): Pod {
    return this.random.pick(podsAt(this.#timeline, service, at));
  }

  trouble(site: Site): Trouble | undefined {
    const { scenario, distractions } = this.#timeline;
    const { blip, steadyErrors } = distractions;
    const { service } = site.pod;
    const since = this.since(site.at);
    const trouble =
      (since && scenario.trouble?.(site, since.minutes, this.random)) ?? scenario.always?.(site, this.random);
    if (trouble !== undefined) return trouble;
    if (site.kind === 'consume' || site.kind === 'serve') {
      if (service === blip.service && during(blip, site.at) && this.random.chance(0.18)) {
        return {
          failure: { type: 'Unavailable', message: `${service}: connection reset by peer`, http: 503, grpc: 14 },
        };
      }
      if (service === steadyErrors.service && this.random.chance(steadyErrors.share)) {
        return { failure: { type: 'NotReady', message: `${service}: no data for this visitor`, http: 503, grpc: 9 } };
      }
      if (service !== 'frontend' && this.random.chance(0.0012)) {
        return {
          addMs: 40,
          failure: { type: 'DeadlineExceeded', message: 'context deadline exceeded', http: 504, grpc: 4 },
        };
      }
    }
    return;
  }

  since(at: number): ReturnType<World['since']> {
    const { onset, scenario } = this.#timeline;
    return at >= onset ? { scenario, minutes: (at - onset) / minute } : undefined;
  }

  /** What ended after the end of all was not sent yet. */
  span(pod: Pod, span: OtlpSpan): void {
    if (span.endTimeUnixNano > nanos(this.#timeline.end * 1000)) return;
    this.#spans.push([pod, span]);
    if (span.kind === spanKinds.SERVER || span.kind === spanKinds.CONSUMER) this.tally.add(pod, span);
  }

  log(pod: Pod, record: OtlpLogRecord): void {
    if (record.observedTimeUnixNano > nanos(this.#timeline.end * 1000)) return;
    const { service, version } = this.#timeline.distractions.harmlessRelease;
    const reworded = pod.service === service && pod.version === version && record.spanId !== undefined;
    const { stringValue } = record.body;
    this.#logs.push([pod, reworded ? { ...record, body: { stringValue: `request: ${stringValue}` } } : record]);
  }

  observe(...series: Parameters<World['observe']>): void {
    this.#meter.observe(...series);
  }

  count(...series: Parameters<World['count']>): void {
    this.#meter.count(...series);
  }

  /** Deploys, as a pipeline reports them, and the first words of the pods that they brought. */
  startPods(from: number, to: number): void {
    for (const releases of this.#timeline.releases.values()) {
      for (const { from: at, pods } of releases.slice(1)) {
        const [pod] = pods;
        // A restart in the same version is no deploy.
        if (at < from || at >= to || pod.version === releases[0].pods[0].version) continue;
        const words = `Deploy of ${pod.service} ${pod.version}`;
        const record = logRecord(Math.floor(at * 1000), 'INFO', words, { 'deployment.status': 'succeeded' });
        this.log(pod, { ...record, eventName: 'deployment' });
      }
      for (const pod of releases.slice(1).flatMap((release) => release.pods)) {
        if (pod.startedAt < from || pod.startedAt >= to) continue;
        this.#say(pod, pod.startedAt, 'INFO', `${pod.service} ${pod.version} listening on :8080`);
      }
    }
  }

  /** Logs that no request causes, among them warnings that mean nothing. */
  hum(from: number, to: number): void {
    for (const service of serviceNames) {
      const at = this.random.between(from, to);
      this.#say(this.pod(service, at), at, 'DEBUG', 'health check answered', { 'http.route': '/healthz' });
    }
    for (let count = this.random.poisson(7); count > 0; count -= 1) {
      const at = this.random.between(from, to);
      const pod = this.pod(this.#timeline.distractions.noisy, at);
      const key = this.random.pick(['cache.ttl', 'pool.max', 'locale.default']);
      this.#say(pod, at, 'WARN', `configuration key ${key} is deprecated and will be removed in a later release`);
    }
    const { flood } = this.#timeline.distractions;
    if (during(flood, from)) this.#chatter(flood, from, to);
    const chatter = this.since(from)?.scenario.chatter;
    if (chatter !== undefined) this.#chatter(chatter, from, to);
  }

  /** What a service writes beside its requests. */
  #chatter({ service, severity, body, perMinute }: Chatter, from: number, to: number): void {
    for (let count = this.random.poisson((perMinute * (to - from)) / minute); count > 0; count -= 1) {
      const at = this.random.between(from, to);
      this.#say(this.pod(service, at), at, severity, `${body} ${this.random.integer(1, 9_999)}`);
    }
  }

  /** Pieces of a job that run one after another, each a trace of its own. */
  runBatch(from: number, to: number): void {
    const { batch } = this.#timeline.distractions;
    if (during(batch, from)) runJob(this, this.pod(batch.service, from), { from, to });
  }

  #say(
    pod: Pod,
    at: number,
    severity: Severity,
    body: string,
    attributes: Readonly<Record<string, string>> = {},
  ): void {
    this.log(pod, logRecord(Math.floor(at * 1000), severity, body, attributes));
  }

  *full(progress: number): Generator<OtlpRequest, void, undefined> {
    while (this.#spans.length >= batchSize) yield request('traces', this.#spans.splice(0, batchSize), progress);
    while (this.#logs.length >= batchSize) yield request('logs', this.#logs.splice(0, batchSize), progress);
  }

  /** All that is left of a minute, and its metrics. */
  *rest(at: number, traffic: number, progress: number): Generator<OtlpRequest, void, undefined> {
    yield* this.full(progress);
    if (this.#spans.length > 0) yield request('traces', this.#spans, progress);
    if (this.#logs.length > 0) yield request('logs', this.#logs, progress);
    this.#spans = [];
    this.#logs = [];
    let batch: ResourceMetrics[] = [];
    let items = 0;
    for (const report of this.#meter.collect(this.#timeline, at, traffic, this.random)) {
      if (items > 0 && items + report.items > batchSize) {
        yield { signal: 'metrics', body: JSON.stringify({ resourceMetrics: batch }), items, progress };
        batch = [];
        items = 0;
      }
      batch.push(report.metrics);
      items += report.items;
    }
    yield { signal: 'metrics', body: JSON.stringify({ resourceMetrics: batch }), items, progress };
  }
}

function request(
  signal: 'traces' | 'logs',
  list: readonly (readonly [Pod, OtlpSpan | OtlpLogRecord])[],
  progress: number,
): OtlpRequest {
  return { signal, body: bodyOf(signal, list), items: list.length, progress };
}

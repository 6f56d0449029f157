import {
  bodyOf,
  keyValues,
  logRecord,
  nanos,
  spanKinds,
  spanOf,
  type Ended,
  type OtlpLogRecord,
  type OtlpMetric,
  type OtlpSpan,
  type Resource,
  type Scope,
  type Severity,
  type SpanKind,
} from '../demo/otlp.ts';
import { Random } from '../demo/random.ts';
import { gaugeOf, Meter } from './meter.ts';
import { scenarios, type Scenario, type Site, type Trouble } from './scenarios.ts';
import { entries, gauges, hosts, jobs, readers, services, type Job, type Step } from './topology.ts';

export type ParcelScenario = keyof typeof scenarios;

export function parcelScenarios(): readonly (readonly [ParcelScenario, Scenario])[] {
  const names: ParcelScenario[] = [];
  let name: ParcelScenario;
  for (name in scenarios) names.push(name);
  return names.map((each) => [each, scenarios[each]]);
}

export interface ParcelOptions {
  readonly scenario: ParcelScenario;
  readonly seed: number;
  readonly minutes: number;
  readonly end: Date;
  /** Requests a minute. */
  readonly rate: number;
}

interface Pod {
  readonly service: string;
  readonly name: string;
  readonly host: (typeof hosts)[number];
  readonly resource: Resource;
  readonly scope: Scope;
}

/** A minute's bodies for `/v1/<signal>`. */
export interface ParcelRequest {
  readonly signal: 'traces' | 'logs' | 'metrics';
  readonly body: string;
}

const minute = 60_000;
const version = '1.4.0';
const scope: Scope = { name: 'parcels' };

/** When the fault begins: a third of the time before the end, give or take some minutes. */
export function onsetOf({ seed, minutes, end }: Omit<ParcelOptions, 'scenario'>): Date {
  const back = Math.round(minutes / 3) + new Random(seed, 7).integer(-3, 3);
  return new Date(end.getTime() - back * minute);
}

/** Oldest first; the same options give the same bytes. */
export function* generateParcels(options: ParcelOptions): Generator<ParcelRequest, void, undefined> {
  const system = new System(options);
  const end = options.end.getTime();
  for (let from = end - options.minutes * minute; from < end; from += minute) yield* system.run(from);
}

class System {
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #onset: number;
  readonly #start: number;
  readonly #end: number;
  readonly #rate: number;
  readonly #pods: ReadonlyMap<string, readonly Pod[]>;
  readonly #pace: ReadonlyMap<string, number>;
  readonly #meter: Meter;
  /** Of the running minute. */
  #spans: [Pod, OtlpSpan][] = [];
  #logs: [Pod, OtlpLogRecord][] = [];

  constructor(options: ParcelOptions) {
    this.#random = new Random(options.seed, 3);
    this.#scenario = scenarios[options.scenario];
    this.#onset = onsetOf(options).getTime();
    this.#end = options.end.getTime();
    this.#start = this.#end - options.minutes * minute;
    this.#rate = options.rate;
    this.#meter = new Meter(this.#start);
    const shift = this.#random.integer(0, hosts.length - 1);
    const names = Object.keys(services);
    this.#pods = new Map(names.map((name, index) => [name, podsOf(name, index + shift, this.#random)]));
    this.#pace = new Map(names.map((name) => [name, this.#random.lognormal(1, 0.2)]));
  }

  *run(from: number): Generator<ParcelRequest, void, undefined> {
    this.#spans = [];
    this.#logs = [];
    const random = this.#random;
    const now = from >= this.#onset ? this.#scenario : undefined;
    if (from === this.#onset && now?.restarted !== undefined) this.#meter.restart(now.restarted, from);
    const crowd = random.lognormal(1, 0.08);
    for (const [entry, weight] of Object.entries(entries)) {
      const demand = now?.entry === undefined || now.entry === entry ? (now?.demand ?? 1) : 1;
      const arrivals = random.poisson((this.#rate * weight * demand * crowd) / 100);
      for (let count = 0; count < arrivals; count += 1) {
        this.#serve(entry, 'SERVER', Math.floor(random.between(from, from + minute) * 1_000), random.hex(16));
      }
    }
    for (const job of [...jobs, ...(this.#scenario.usualJobs ?? []), ...(now?.jobs ?? [])]) this.#runJob(job, from);
    if (this.#spans.length > 0) yield { signal: 'traces', body: bodyOf('traces', this.#spans) };
    if (this.#logs.length > 0) yield { signal: 'logs', body: bodyOf('logs', this.#logs) };
    yield { signal: 'metrics', body: JSON.stringify({ resourceMetrics: this.#measure(from + minute) }) };
  }

  #runJob({ runs, every, pieces }: Job, from: number): void {
    if (Math.round((from - this.#start) / minute) % every !== 0) return;
    let at = Math.floor(this.#random.between(from, from + 5_000) * 1_000);
    for (let piece = 0; piece < pieces && at / 1_000 < from + every * minute; piece += 1) {
      at = this.#serve(runs, 'INTERNAL', at, this.#random.hex(16)).end + 1_000;
    }
  }

  #trouble(how: Site['how'], pod: Pod, operation: string, to: string, at: number): Trouble {
    const site = { how, to, operation, service: pod.service, host: pod.host.name, zone: pod.host.zone };
    const minutes = (at / 1_000 - this.#onset) / minute;
    const told = minutes >= 0 ? this.#scenario.trouble?.(site, this.#random, minutes) : undefined;
    const trouble = told ?? this.#scenario.always?.(site, this.#random) ?? {};
    const chance = how === 'serve' && this.#random.chance(0.001);
    return chance && trouble.failure === undefined ? { ...trouble, failure: 'deadline exceeded' } : trouble;
  }

  /** One operation of one service with all that follows; answers when it ended, in epoch microseconds. */
  #serve(
    target: string,
    kind: SpanKind,
    at: number,
    traceId: string,
    parentSpanId?: string,
  ): { readonly end: number; readonly failure: string | undefined } {
    const [service = '', operation = ''] = target.split('/', 1).concat(target.slice(target.indexOf('/') + 1));
    const random = this.#random;
    const pod = this.#podOf(service, at / 1_000);
    const spanId = random.hex(8);
    const trouble = this.#trouble('serve', pod, operation, '', at);
    let end = at + (trouble.addMs ?? 0) * 1_000;
    let { failure } = trouble;
    const { ms = 1, steps = [] } = services[service]?.does[operation] ?? {};
    end += 1_000 * random.lognormal(ms, 0.35) * (this.#pace.get(service) ?? 1) * (trouble.factor ?? 1);
    for (const step of failure === undefined ? steps : []) {
      if (step.share !== undefined && !random.chance(step.share)) continue;
      for (let time = 0; time < (step.times ?? 1) && failure === undefined; time += 1) {
        const done = this.#take(step, pod, operation, end, traceId, spanId);
        ({ end, failure } = done);
      }
    }
    end = Math.floor(end);
    this.#record(pod, { kind, name: operation, at, end, traceId, spanId, parentSpanId, failure, attributes: {} });
    const text = failure === undefined ? 'done' : `failed: ${failure}`;
    this.#log(pod, end, failure === undefined ? 'INFO' : 'ERROR', `${operation} ${text}`, { traceId, spanId });
    return { end, failure };
  }

  #take(
    { how, to, name = to, ms = 1 }: Step,
    pod: Pod,
    operation: string,
    at: number,
    traceId: string,
    parentSpanId: string,
  ): { readonly end: number; readonly failure: string | undefined } {
    const random = this.#random;
    const spanId = random.hex(8);
    const span = { at, traceId, spanId, parentSpanId };
    if (how === 'send') {
      const end = Math.floor(at + random.lognormal(1.5, 0.3) * 1_000);
      const attributes = { 'messaging.system': 'kafka', 'messaging.destination.name': to };
      this.#record(pod, { ...span, kind: 'PRODUCER', name: `send ${to}`, end, failure: undefined, attributes });
      for (const reader of readers[to] ?? []) {
        if (this.#isSilent(reader, at / 1_000)) continue;
        this.#serve(reader, 'CONSUMER', end + Math.floor(random.lognormal(20, 0.5) * 1_000), traceId, spanId);
      }
      return { end, failure: undefined };
    }
    const trouble = this.#trouble(how, pod, operation, to, at);
    let end = at + Math.floor((random.lognormal(0.5, 0.3) + (trouble.addMs ?? 0)) * 1_000);
    let { failure } = trouble;
    const address = how === 'ask' ? to : (to.split('/')[0] ?? to);
    if (how === 'ask') end += Math.floor(1_000 * random.lognormal(ms, 0.4) * (trouble.factor ?? 1));
    else if (failure === undefined) ({ end, failure } = this.#serve(to, 'SERVER', end, traceId, spanId));
    end += Math.floor(random.lognormal(0.3, 0.3) * 1_000);
    this.#record(pod, { ...span, kind: 'CLIENT', name, end, failure, attributes: { 'server.address': address } });
    return { end, failure };
  }

  #isSilent(target: string, at: number): boolean {
    const { silent } = this.#scenario;
    return silent !== undefined && at >= this.#onset && target.startsWith(`${silent}/`);
  }

  #podOf(service: string, at: number): Pod {
    const { scaled } = this.#scenario;
    const pods = this.#pods.get(service) ?? [];
    const left = scaled?.service === service && at >= this.#onset ? pods.slice(0, scaled.pods) : pods;
    const pod = left[this.#random.integer(0, left.length - 1)];
    if (pod === undefined) throw new TypeError(`${service} has no pods`);
    return pod;
  }

  #record(pod: Pod, span: Ended): void {
    // What has not ended was not sent yet.
    if (span.end / 1_000 <= this.#end) this.#spans.push([pod, spanOf(span)]);
  }

  #log(pod: Pod, at: number, severity: Severity, text: string, of: Pick<OtlpLogRecord, 'traceId' | 'spanId'>): void {
    if (at / 1_000 > this.#end) return;
    this.#logs.push([pod, { ...logRecord(at, severity, text, {}), observedTimeUnixNano: nanos(at), ...of }]);
  }

  /** What every pod measured in the minute up to `at`. */
  #measure(at: number): readonly { readonly resource: Resource; readonly scopeMetrics: readonly unknown[] }[] {
    const since = at > this.#onset ? this.#scenario : undefined;
    const minutes = (at - this.#onset) / minute;
    const served = Map.groupBy(
      this.#spans.filter(([, { kind }]) => kind !== spanKinds.CLIENT && kind !== spanKinds.PRODUCER),
      ([pod]) => pod,
    );
    return [...this.#pods.values()].flat().flatMap((pod) => {
      const { service } = pod;
      if (since?.silent === service) return [];
      const own = (served.get(pod) ?? []).map(([, span]) => span);
      const metrics: OtlpMetric[] = gauges
        .filter((gauge) => gauge.service === service)
        .map(({ metric, value, scatter }) => {
          const usual = value * Math.max(0, this.#random.normal(1, scatter));
          return gaugeOf(metric, since?.gauges?.[`${service} ${metric}`]?.(usual, minutes) ?? usual, at);
        });
      if (own.length > 0) {
        const failed = own.filter(({ status }) => status.code === 2).length;
        const took = own.map((span) => (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e9);
        const sorted = took.toSorted((a, b) => a - b);
        metrics.push(
          gaugeOf('service.availability', 1 - failed / own.length, at),
          gaugeOf('service.duration.p90', sorted[Math.floor(sorted.length * 0.9)] ?? 0, at),
          this.#meter.count(pod, 'app.requests', own.length, at),
          this.#meter.count(pod, 'app.errors', failed, at),
        );
      }
      const all = this.#spans.flatMap(([of, span]) => (of === pod ? [span] : []));
      const sent = all.filter(({ kind }) => kind !== spanKinds.PRODUCER);
      metrics.push(...this.#meter.durations(pod, sent, at));
      const retries = this.#random.poisson(0.04 * own.length * (since?.counters?.[`${service} app.retries`] ?? 1));
      metrics.push(this.#meter.count(pod, 'app.retries', retries, at));
      return [{ resource: pod.resource, scopeMetrics: [{ scope, metrics }] }];
    });
  }
}

function podsOf(service: string, first: number, random: Random): readonly Pod[] {
  return Array.from({ length: services[service]?.pods ?? 1 }, (_, index) => {
    const host = hosts[(first + index * 2 + Math.floor((index * 2) / hosts.length)) % hosts.length] ?? hosts[0];
    const name = `${service}-${random.hex(3)}`;
    const attributes = keyValues({
      'service.name': service,
      'service.version': version,
      'service.instance.id': name,
      'host.name': host.name,
      'k8s.node.name': host.name,
      'cloud.availability_zone': host.zone,
    });
    return { service, name, host, scope, resource: { attributes } };
  });
}

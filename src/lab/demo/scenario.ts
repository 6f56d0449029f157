import type { Severity } from '../../contract/storage/index.ts';
import type { Attributes, OtlpLogRecord, OtlpSpan } from './otlp.ts';
import type { Random } from './random.ts';
import type { Node, Pod, ServiceName } from './shop.ts';
import type { Build, CounterMetric, DurationMetric, Measured, Site, Traits, Trouble } from './world.ts';

export type FaultCategory =
  | 'deployment'
  | 'database'
  | 'cache'
  | 'queue'
  | 'resource'
  | 'host'
  | 'configuration'
  | 'network'
  | 'dependency'
  | 'none';

export interface Scenario {
  /** What is wrong, for the operator who picks one; the investigator never sees it. */
  readonly description: string;
  readonly category: FaultCategory;
  /** Where the cause is; undefined when nothing is wrong. */
  readonly service?: ServiceName;
  /** A release of the guilty service, one minute before the onset. */
  readonly deployment?: string;
  /** It goes to one pod alone. */
  readonly canary?: boolean;
  /** Services restarted a minute before the onset, as they were or in the next patch, and are well. */
  readonly restarted?: { readonly services: readonly ServiceName[]; readonly patched: boolean };
  /** What the fault does at one place, `minutes` after its onset. */
  trouble?(site: Site, minutes: number, random: Random): Trouble | undefined;
  /** What is so all the time, before the onset and after it. */
  always?(site: Site, random: Random): Trouble | undefined;
  /** How often a call that failed is made again. */
  retries?(site: Site): number;
  /** Share of the lists that are found in the cache of recommendation. */
  readonly cacheHits?: number;
  /** Share of the product pages asked for that do not exist. */
  readonly notFound?: number;
  /** Request rate of a frontend operation, as a multiple of the usual. */
  readonly mix?: Readonly<Record<string, number>>;
  /** Lines a minute that a service writes after the onset, apart from any request. */
  readonly chatter?: Chatter;
  /** What the fault does to a gauge. */
  gauge?(reading: Reading, minutes: number): number | undefined;
  /** Requests a minute are multiplied by this after the onset. */
  traffic?(minutes: number): number;
  /** Milliseconds an order waits in the queue, `minutes` after the onset. */
  queueDelay?(minutes: number): number;
  /** Customers for which the feature flag `express-checkout` is on after the onset. */
  readonly expressCheckoutFor?: Traits['tier'];
  readonly alert: ScenarioAlert;
}

/** Where spans, logs and measurements of one simulated minute are gathered. */
export interface World {
  readonly random: Random;
  readonly build: Build;
  pod(service: ServiceName, at: number): Pod;
  trouble(site: Site): Trouble | undefined;
  /** The scenario, and the minutes since its onset; undefined before that. */
  since(at: number): { readonly scenario: Scenario; readonly minutes: number } | undefined;
  span(pod: Pod, span: OtlpSpan): void;
  log(pod: Pod, record: OtlpLogRecord): void;
  /** Records into a cumulative histogram of seconds. */
  observe(pod: Pod, metric: DurationMetric, attributes: Attributes, measured: Measured): void;
  count(pod: Pod, metric: CounterMetric, attributes: Attributes, by: number): void;
}

/** What a fault does to these gauges of one service. */
export function gaugesOf(
  service: ServiceName,
  changes: Partial<Record<GaugeMetric, (value: number, minutes: number) => number>>,
): NonNullable<Scenario['gauge']> {
  return ({ metric, pod, value }, minutes) =>
    pod?.service === service ? changes[metric]?.(value, minutes) : undefined;
}

export interface Chatter {
  readonly service: ServiceName;
  readonly severity: 'INFO' | 'WARN' | 'ERROR';
  readonly body: string;
  readonly perMinute: number;
}

export interface Reading {
  readonly metric: GaugeMetric;
  readonly value: number;
  readonly pod?: Pod;
  readonly node?: Node;
}

export const gaugeMetrics = {
  'container.cpu.usage': { unit: '{cpu}', description: 'Cores used by the container.' },
  'container.memory.usage': { unit: 'By', description: 'Memory used by the container.' },
  'k8s.container.restart_count': { unit: '{restart}', description: 'How often the container was restarted.' },
  'db.client.connection.count': { unit: '{connection}', description: 'Connections of the pool by state.' },
  'db.client.connection.pending_requests': { unit: '{request}', description: 'Requests waiting for a connection.' },
  'kafka.consumer_group.lag': { unit: '{message}', description: 'Messages the consumer group is behind.' },
  'system.cpu.utilization': { unit: '1', description: 'Share of CPU time in use.' },
  'system.disk.io_time': { unit: '1', description: 'Share of time the disk was busy.' },
} as const;
export type GaugeMetric = keyof typeof gaugeMetrics;

/** What people saw first: a symptom, which need not be where the cause is. */
export interface ScenarioAlert {
  readonly title: string;
  readonly service: ServiceName;
  /** Span name, where the alert looks at one operation alone. */
  readonly operation?: string;
  readonly severity: Severity;
  readonly summary: string;
  /** What a person would ask the agent. */
  readonly question: string;
}

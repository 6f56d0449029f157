import type { Attributes, OtlpLogRecord, OtlpSpan } from './otlp.ts';
import type { Random } from './random.ts';
import type { Pod, ServiceName } from './shop.ts';

/** Whose request it is: what a fault may depend on, and what an investigator has to find out. */
export interface Traits {
  readonly userId: string;
  readonly tier: 'free' | 'plus' | 'enterprise';
  readonly card: 'visa' | 'mastercard' | 'amex';
  readonly currency: 'EUR' | 'USD' | 'CHF' | 'GBP';
  readonly country: string;
  readonly userAgent: string;
}

/** One thing that is about to happen, and that a fault may change. */
export interface Site {
  readonly kind: 'serve' | 'call' | 'query' | 'external' | 'consume';
  /** Epoch milliseconds. */
  readonly at: number;
  readonly pod: Pod;
  /** Span name: `PaymentService/Charge`, `SELECT stock`. */
  readonly operation: string;
  /** The service called, or the database asked. */
  readonly peer?: string;
  readonly traits: Traits;
}

export interface Failure {
  readonly type: string;
  readonly message: string;
  /** 500 unless told. */
  readonly http?: number;
  /** 13 (INTERNAL) unless told. */
  readonly grpc?: number;
}

export interface Trouble {
  /** Own work takes this many times as long. */
  readonly factor?: number;
  readonly addMs?: number;
  readonly failure?: Failure;
}

/** Where spans, logs and measurements of one simulated minute are gathered. */
export interface World {
  readonly random: Random;
  pod(service: ServiceName, at: number): Pod;
  trouble(site: Site): Trouble | undefined;
  /** How often a call that failed at this place is made again. */
  retries(site: Site): number;
  /** How long a service's own work takes in this shop, 1 on average. */
  pace(service: ServiceName): number;
  /** What this shop's pages ask for, beyond what all shops' do. */
  readonly pricedPages: boolean;
  readonly stockedCarts: boolean;
  cacheHits(at: number): number;
  notFound(at: number): number;
  /** Request rate of a frontend operation, as a multiple of the usual. */
  demand(operation: string, at: number): number;
  expressCheckout(at: number, traits: Traits): 'on' | 'off';
  /** Milliseconds a message published at `at` waits beyond the usual. */
  queueDelay(at: number): number;
  span(pod: Pod, span: OtlpSpan): void;
  log(pod: Pod, record: OtlpLogRecord): void;
  /** Records into a cumulative histogram of seconds. */
  observe(pod: Pod, metric: DurationMetric, attributes: Attributes, measured: Measured): void;
  count(pod: Pod, metric: CounterMetric, attributes: Attributes, by: number): void;
}

/** A duration, and the span that took it; `at` is when that ended, in epoch microseconds. */
export interface Measured {
  readonly seconds: number;
  readonly at: number;
  readonly traceId: string;
  readonly spanId: string;
}

export const durationMetrics = {
  'http.server.request.duration': 'Duration of HTTP server requests.',
  'rpc.server.call.duration': 'Duration of RPC server calls.',
  'db.client.operation.duration': 'Duration of database client operations.',
  'messaging.process.duration': 'Duration of processing a message.',
} as const;
export type DurationMetric = keyof typeof durationMetrics;

export const counterMetrics = {
  'shop.orders.placed': { unit: '{order}', description: 'Orders placed.' },
  'shop.orders.amount': { unit: 'EUR', description: 'Value of the orders placed.' },
  'shop.cache.requests': { unit: '{request}', description: 'Look-ups in a cache by result.' },
  'messaging.client.consumed.messages': { unit: '{message}', description: 'Messages delivered to the application.' },
} as const;
export type CounterMetric = keyof typeof counterMetrics;

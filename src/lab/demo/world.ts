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

/** No two shops are built alike: the same services, but not the same speed, placement and calls. */
export interface Build {
  /** How long a service's own work takes, 1 on average. */
  readonly pace: ReadonlyMap<ServiceName, number>;
  readonly nodeOffset: number;
  /** Product pages ask currency for the price; cart pages ask inventory for the stock. */
  readonly pricedPages: boolean;
  readonly stockedCarts: boolean;
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

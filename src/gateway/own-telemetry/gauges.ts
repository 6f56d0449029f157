import type { Meter } from '@opentelemetry/api';

/** What is read when metrics are collected. */
export interface Gauges {
  readonly queries: { readonly waiting: number; readonly running: number };
  readonly audit: { readonly pending: number; readonly blocked: number };
  /** Undefined where the warehouse has no engines of its own. */
  readonly enginesOpen: number | undefined;
  /** Received and not yet in the warehouse. */
  readonly ingestWaitingBytes: number;
}

export function observeGauges(meter: Meter, gauges: Gauges): void {
  const observe = (name: string, description: string, unit: string, read: () => number | undefined): void =>
    meter.createObservableGauge(name, { description, unit }).addCallback((result) => {
      const value = read();
      if (value !== undefined) result.observe(value);
    });
  observe('sightline.query.queue.waiting', 'Queries that wait for a place', '{query}', () => gauges.queries.waiting);
  observe('sightline.query.running', 'Queries that have a place', '{query}', () => gauges.queries.running);
  observe(
    'sightline.audit.pending',
    'Audit records promised or not yet written',
    '{record}',
    () => gauges.audit.pending,
  );
  observe(
    'sightline.audit.blocked',
    'Organizations that are refused since their audit cannot be written',
    '{organization}',
    () => gauges.audit.blocked,
  );
  observe('sightline.engines.open', 'Engines of organizations that run', '{engine}', () => gauges.enginesOpen);
  observe(
    'sightline.ingest.waiting',
    'Telemetry received and not yet in the warehouse',
    'By',
    () => gauges.ingestWaitingBytes,
  );
}

import { within } from '../../contract/core/index.ts';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Instruments, Logger } from '../../contract/core/index.ts';
import { FailureReport } from './failure-report.ts';
import { observeGauges } from './gauges.ts';
import type { Gauges } from './gauges.ts';
import { createInstruments } from './instruments.ts';
import { metricsTo, spansTo } from './otlp.ts';
import type { OtlpOptions } from './otlp.ts';
import { observeProcess } from './process-metrics.ts';
import { createScrapeServer, ScrapedReader } from './scrape.ts';

export type { Gauges } from './gauges.ts';

export interface OwnTelemetryOptions {
  readonly service: { readonly name: string; readonly version: string };
  readonly otlp: OtlpOptions | undefined;
  readonly scraped: boolean;
  /** Whether spans hold the SQL of a query. */
  readonly statements: boolean;
  readonly logger: Logger;
}

/** Telemetry of this process, and its receivers. */
export interface OwnTelemetry {
  readonly instruments: Instruments;
  /** Answers GET /metrics, once it listens; undefined where nothing is scraped. */
  readonly scrapeServer: Server | undefined;
  observe(gauges: Gauges): void;
  /** Sends what waits, within a second. Never rejects. */
  flush(): Promise<void>;
  /** Within a second more. Never rejects. */
  stop(): Promise<void>;
}

const flushMs = 1_000;

/** The API's global providers stay as they are: what else runs in this process is not ours to record. */
export function createOwnTelemetry(options: OwnTelemetryOptions): OwnTelemetry {
  const { service, otlp, scraped, statements, logger } = options;
  const resource = resourceFromAttributes({
    'service.name': service.name,
    'service.version': service.version,
    'service.instance.id': randomUUID(),
  }).merge(detectResources({ detectors: [envDetector] }));
  const report = otlp && new FailureReport(logger, otlp.endpoint);
  const sends = (signal: 'traces' | 'metrics'): boolean => otlp?.signals.includes(signal) === true;

  const reader = scraped ? new ScrapedReader() : undefined;
  const meters = new MeterProvider({
    resource,
    readers: [...(reader ? [reader] : []), ...(otlp && report && sends('metrics') ? [metricsTo(otlp, report)] : [])],
  });
  const tracers =
    otlp && report && sends('traces')
      ? new TracerProvider({ resource, spanProcessors: [spansTo(otlp, report)] })
      : undefined;
  const meter = meters.getMeter(service.name, service.version);
  const unobserve = observeProcess(meter);
  const scrapeServer = reader && createScrapeServer(reader, logger);

  // The failure itself is reported where it is exported.
  const settled = async (work: Promise<unknown>): Promise<void> => {
    await within(flushMs, work).catch(() => undefined);
  };

  return {
    instruments: createInstruments({
      meter,
      traces:
        otlp && tracers
          ? { tracer: tracers.getTracer(service.name, service.version), sampleRatio: otlp.sampleRatio }
          : undefined,
      statements,
    }),
    scrapeServer,
    observe: (gauges) => observeGauges(meter, gauges),
    flush: () => settled(Promise.all([tracers?.forceFlush(), meters.forceFlush()])),
    async stop() {
      unobserve();
      scrapeServer?.close();
      scrapeServer?.closeAllConnections();
      await settled(Promise.all([tracers?.shutdown(), meters.shutdown()]));
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { within, type Instruments, type Logger } from '../../contract/core/index.ts';
import { createScrapeServer, ScrapedReader } from './scrape.ts';
import { FailureReport } from './failure-report.ts';
import { observeGauges, createInstruments, type Gauges } from './instruments.ts';
import { observeProcess } from './process-metrics.ts';

interface OtlpOptions {
  /** Without `/v1/…`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signals: readonly ('traces' | 'metrics')[];
  /** Of traces that begin here; a caller's sampling decision is kept. */
  readonly sampleRatio: number;
  /** Between two reports of metrics. */
  readonly intervalSeconds: number;
}

/** Of one export with its repetitions. */
const timeoutMillis = 5_000;

/** Spans leave in batches, behind a queue that is bounded: what does not fit is dropped, and no request waits. */
function spansTo({ endpoint, headers }: OtlpOptions, report: FailureReport): BatchSpanProcessor {
  const exporter = new (class extends OTLPTraceExporter {
    override export(...[spans, done]: Parameters<OTLPTraceExporter['export']>): void {
      super.export(spans, (result) => {
        if (result.code !== 0) report.failed('traces', result.error);
        done(result);
      });
    }
  })({ url: `${endpoint}/v1/traces`, headers: { ...headers }, timeoutMillis });
  return new BatchSpanProcessor({ exporter, scheduledDelayMillis: 2_000, maxQueueSize: 4_096 });
}

function metricsTo(options: OtlpOptions, report: FailureReport): PeriodicExportingMetricReader {
  const { endpoint, headers, intervalSeconds } = options;
  const exporter = new (class extends OTLPMetricExporter {
    override export(...[metrics, done]: Parameters<OTLPMetricExporter['export']>): void {
      super.export(metrics, (result) => {
        if (result.code !== 0) report.failed('metrics', result.error);
        done(result);
      });
    }
  })({ url: `${endpoint}/v1/metrics`, headers: { ...headers }, timeoutMillis });
  const exportIntervalMillis = intervalSeconds * 1_000;
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(exportIntervalMillis, timeoutMillis * 2),
  });
}

export type { Gauges } from './instruments.ts';

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
const noop = (): void => {};

/** The API's global providers stay as they are: what else runs in this process is not ours to record. */
export function createOwnTelemetry(options: {
  readonly service: { readonly name: string; readonly version: string };
  readonly otlp: OtlpOptions | undefined;
  readonly scraped: boolean;
  /** Whether spans hold the SQL of a query. */
  readonly statements: boolean;
  readonly logger: Logger;
}): OwnTelemetry {
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
  const settled = (work: Promise<unknown>): Promise<void> => within(flushMs, work).then(noop, noop);

  const tracer = tracers?.getTracer(service.name, service.version);
  const traces = otlp && tracer && { tracer, sampleRatio: otlp.sampleRatio };

  return {
    instruments: createInstruments(meter, traces, statements),
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

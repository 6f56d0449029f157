import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  type MetricData,
  MetricReader,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type Instruments, type Logger, within } from '../../contract/core/index.ts';
import { createInstruments, type Gauges, observeGauges } from './instruments.ts';
import { observeProcess } from './process-metrics.ts';

/** Collects on each scrape, never on a timer. */
class ScrapedReader extends MetricReader {
  readonly #serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

  async text(): Promise<string> {
    const { resourceMetrics } = await this.collect({ timeoutMillis: 5_000 });
    return this.#serializer.serialize(withUnits(resourceMetrics));
  }

  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const suffixes: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes', '1': '_ratio' };

/** The unit in the name, as the OpenTelemetry collector and Prometheus' own rules have it; the serializer leaves it out. */
function withUnits({ resource, scopeMetrics }: ResourceMetrics): ResourceMetrics {
  const named = (metric: MetricData): MetricData => {
    const { descriptor } = metric;
    return { ...metric, descriptor: { ...descriptor, name: descriptor.name + (suffixes[descriptor.unit] ?? '') } };
  };
  return { resource, scopeMetrics: scopeMetrics.map((each) => ({ ...each, metrics: each.metrics.map(named) })) };
}

/** GET /metrics and nothing else, on a server of its own. */
function createScrapeServer(reader: Pick<ScrapedReader, 'text'>, logger: Logger): Server {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000, maxHeaderSize: 8 * 1024 });
  server.maxConnections = 32;
  server.setTimeout(30_000);
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' };
  const answer = async ({ url = '/', method }: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (url.split('?', 1)[0] !== '/metrics') return response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end();
    try {
      const text = await reader.text();
      return response.writeHead(200, headers).end(text);
    } catch (error) {
      logger.warn({ error }, 'metrics could not be collected');
      return response.writeHead(500).end();
    }
  };
  server.on('request', (request, response) => void answer(request, response));
  return server;
}

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

interface Exporter<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

function reportFailures<Items>(exporter: Exporter<Items>, what: 'traces' | 'metrics', report: FailureReport): void {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) report.failed(what, result.error);
      done(result);
    });
}

/** Spans leave in batches, behind a queue that is bounded: what does not fit is dropped, and no request waits. */
function spansTo({ endpoint, headers }: OtlpOptions, report: FailureReport): BatchSpanProcessor {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers }, timeoutMillis });
  reportFailures(exporter, 'traces', report);
  return new BatchSpanProcessor({ exporter, scheduledDelayMillis: 2_000, maxQueueSize: 4_096 });
}

function metricsTo(options: OtlpOptions, report: FailureReport): PeriodicExportingMetricReader {
  const { endpoint, headers, intervalSeconds } = options;
  const exporter = new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers: { ...headers }, timeoutMillis });
  reportFailures(exporter, 'metrics', report);
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

const everyMs = 60_000;

/** Says that telemetry cannot be sent: once a minute at most, however many batches fail. */
export class FailureReport {
  readonly #logger: Logger;
  readonly #endpoint: string;
  readonly #now: () => number;
  #saidAt = -Infinity;
  #unsaid = 0;

  /** @param now milliseconds that never go back. */
  constructor(logger: Logger, endpoint: string, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#endpoint = endpoint;
    this.#now = now;
  }

  failed(signal: 'traces' | 'metrics', error: Error | undefined): void {
    this.#unsaid += 1;
    const now = this.#now();
    if (now - this.#saidAt < everyMs) return;
    // Not the error itself: with it comes what the other end answered.
    const { message = 'no reason was given' } = error ?? {};
    this.#logger.warn(
      { endpoint: this.#endpoint, signal, failures: this.#unsaid, why: message.slice(0, 300) },
      'own telemetry cannot be sent; what does not fit its queue is dropped',
    );
    this.#saidAt = now;
    this.#unsaid = 0;
  }
}

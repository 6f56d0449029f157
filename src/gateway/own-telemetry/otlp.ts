import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { FailureReport } from './failure-report.ts';

export interface OtlpOptions {
  /** Without `/v1/…`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signals: readonly ('traces' | 'metrics')[];
  /** Of traces that begin here; those of a caller are kept as it decided. */
  readonly sampleRatio: number;
  /** Between two reports of metrics. */
  readonly intervalSeconds: number;
}

/** Of one export with its repetitions. */
const timeoutMillis = 5_000;

/** Spans leave in batches, behind a queue that is bounded: what does not fit is dropped, and no request waits. */
export function spansTo({ endpoint, headers }: OtlpOptions, report: FailureReport): BatchSpanProcessor {
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

export function metricsTo(options: OtlpOptions, report: FailureReport): PeriodicExportingMetricReader {
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

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MetricReader, type MetricData, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { Logger } from '../../contract/core/index.ts';

/** Collects on each scrape, never on a timer. */
export class ScrapedReader extends MetricReader {
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
export function createScrapeServer(reader: Pick<ScrapedReader, 'text'>, logger: Logger): Server {
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

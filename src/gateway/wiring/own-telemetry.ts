import type { Component } from '../../contract/core/index.ts';
import type { OwnTelemetry } from '../own-telemetry/index.ts';
import { product } from './product.ts';
import type { Cradle } from './cradle.ts';
import { listen, localUrl } from './listen.ts';
import type { Seat } from '../workers/seat.ts';
import type { Foundation } from './workspace.ts';

/** Undefined if not configured; its libraries are then not loaded. */
export async function createConfiguredTelemetry({ config, logger }: Foundation): Promise<OwnTelemetry | undefined> {
  const { otlp, prometheus } = config.ownTelemetry;
  if (otlp === undefined && !prometheus.enabled) return undefined;
  const { createOwnTelemetry } = await import('../own-telemetry/index.ts');
  return createOwnTelemetry({
    service: product,
    otlp,
    scraped: prometheus.enabled,
    statements: config.audit.statements,
    logger: logger.child({ part: 'own telemetry' }),
  });
}

/** Each worker has its own counters and its own scrape port: the configured one for the first, then the next ones. */
export function ownTelemetryPart(own: OwnTelemetry, { config, logger }: Foundation, seat: Seat | undefined): Component {
  const { scrapeServer } = own;
  const { host, port } = config.ownTelemetry.prometheus;
  return {
    async start() {
      if (scrapeServer === undefined) return;
      const address = { host, port: port === 0 ? 0 : port + (seat?.number ?? 1) - 1 };
      const hint = 'Choose another with ownTelemetry.prometheus.port; 0 takes a free one.';
      const taken = await listen(scrapeServer, address, hint);
      logger.info({ metrics: `${localUrl(host, taken)}/metrics` }, 'metrics can be scraped');
    },
    stop: () => own.stop(),
    health: async () => ({ ok: true }),
  };
}

export function observeGateway(own: OwnTelemetry, { places, audit, telemetry, receiver, serving }: Cradle): void {
  own.observe({
    queries: places,
    audit,
    get enginesOpen() {
      return telemetry.enginesOpen;
    },
    get ingestWaitingBytes() {
      return receiver.waitingBytes;
    },
    unwell: async () => Object.values(await serving.health()).filter(({ ok }) => !ok).length,
  });
}

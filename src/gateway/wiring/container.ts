import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { asFunction, asValue, type AwilixContainer, createContainer, InjectionMode } from 'awilix';
import { identityWiring } from '../../identity/wiring.ts';
import { incidentsWiring } from '../../incidents/wiring.ts';
import { shareAmongGateways } from '../../limits/rate-limit-shared.ts';
import { createRateLimit } from '../../limits/rate-limit.ts';
import { createRates, limitRequests, type RequestRates } from '../../limits/request-rates.ts';
import { recordsWiring } from '../../records/wiring.ts';
import { telemetryWiring } from '../../telemetry/wiring.ts';
import { createReplicas, severalServe } from '../process/replicas.ts';
import { shareRateLimit } from '../workers/seat.ts';
import type { Cradle, Given, Parts, SharedParts, Wiring } from './cradle.ts';
import { directoryName } from './data-directory.ts';
import { frontWiring } from './front.ts';
import { pluginWiring } from './plugins.ts';

/** What the gateways over one storage, and the workers of one gateway, know of each other. */
const sharedWiring: Wiring<SharedParts> = {
  several:
    ({ storage, foundation: { now } }) =>
    () =>
      severalServe(storage.directory.gateways, now()),
  replicas: ({ storage, telemetry, seat, foundation: { dataDirectory, now, logger } }) => {
    if (seat && seat.number !== 1) return undefined;
    return createReplicas({
      self: {
        id: randomUUID(),
        host: hostname(),
        ...(telemetry.inDataDirectory === true && { telemetryIn: directoryName(dataDirectory) }),
      },
      gateways: () => storage.directory.gateways,
      tidy: async (time) => {
        await storage.directory.buckets.removeEmpty(time);
        await storage.directory.removeExpiredResults(time);
      },
      now,
      logger,
    });
  },
  rateLimit: ({ storage, replicas, seat, foundation }) => {
    const rates = (): RequestRates => {
      const { requestsPerMinute: perMinute, ...limits } = foundation.config.limits;
      return {
        perMinute,
        organizationPerMinute: limits.organizationRequestsPerMinute ?? perMinute * 10,
        toolPerMinute: limits.toolCallsPerMinute,
      };
    };
    const current = createRates(rates());
    foundation.onReload(() => current.change(rates()));
    const limiter = createRateLimit({ ...current.of(''), rateOf: current.of });
    if (seat) shareRateLimit(limiter, seat);
    replicas?.settle(
      shareAmongGateways(limiter, {
        perMinute: (subject) => current.of(subject).perMinute,
        buckets: () => storage.directory.buckets,
        shared: () => !replicas.alone,
        now: foundation.now,
        logger: foundation.logger,
      }),
    );
    return limitRequests(limiter, current);
  },
};

const wiring: Wiring<Parts> = {
  ...pluginWiring,
  ...identityWiring,
  ...recordsWiring,
  ...telemetryWiring,
  ...incidentsWiring,
  ...sharedWiring,
  ...frontWiring,
};

/** awilix only wires; lifecycle is ordered by hand in gateway.ts, since awilix disposes in parallel. */
export function createGatewayContainer(given: Given): AwilixContainer<Cradle> {
  const container = createContainer<Cradle>({ injectionMode: InjectionMode.PROXY, strict: true });
  for (const [name, value] of Object.entries(given)) container.register(name, asValue<unknown>(value));
  for (const [name, make] of Object.entries(wiring)) container.register(name, asFunction<unknown>(make).singleton());
  return container;
}

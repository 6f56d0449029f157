import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { shareAmongGateways } from '../../limits/rate-limit-shared.ts';
import { createRateLimit } from '../../limits/rate-limit.ts';
import { createRates, limitRequests, type RequestRates } from '../../limits/request-rates.ts';
import { createReplicas, severalServe } from '../process/replicas.ts';
import { shareRateLimit } from '../workers/shared-calls.ts';
import type { SharedParts, Wiring } from './cradle.ts';
import { directoryName } from './data-directory.ts';

/** What the gateways over one storage, and the workers of one gateway, know of each other. */
export const sharedWiring: Wiring<SharedParts> = {
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

import type { Telemetry } from '../../contract/telemetry/index.ts';
import { createCostGuard } from '../../telemetry/query/cost-guard.ts';
import { createGovernance } from '../../telemetry/query/governance.ts';
import { createQueryPipeline, defaultPipelineLimits } from '../../telemetry/query/pipeline.ts';
import type { QueryPipeline } from '../../telemetry/query/pipeline.ts';
import { placesIn, QueryPlaces } from '../../telemetry/query/places.ts';
import type { Cradle } from './cradle.ts';
import type { Foundation } from './workspace.ts';

/** Of all pipelines that there will be: who holds a place in one before holds it still. */
export function configuredPlaces({ config }: Foundation, telemetry: Telemetry): QueryPlaces {
  const { queriesAtOnce, organizationQueriesAtOnce } = config.limits;
  return new QueryPlaces(placesIn(telemetry, { atOnce: queriesAtOnce, organization: organizationQueriesAtOnce }));
}

/** The way to the warehouse, under the limits and rules of the config in force: a query ends under those it began with. */
export function createConfiguredPipeline(
  foundation: Foundation,
  { telemetry, storage, places, instruments }: Pick<Cradle, 'telemetry' | 'storage' | 'places' | 'instruments'>,
): QueryPipeline {
  const { logger, now, vault } = foundation;
  function make(): QueryPipeline {
    const { limits, governance, costGuard } = foundation.config;
    return createQueryPipeline({
      telemetry,
      governance: createGovernance({
        rules: governance.rules,
        salt: (organizationId) => vault.derive(`governance:${organizationId}`),
      }),
      costGuard: createCostGuard({
        telemetry,
        scans: (organizationId) => storage.workspace(organizationId).scans,
        limits: costGuard,
        logger,
        now,
      }),
      places,
      instruments,
      logger,
      now,
      limits: {
        ...defaultPipelineLimits,
        maxCellBytes: limits.maxCellBytes,
        timeoutMs: limits.queryTimeoutSeconds * 1_000,
        defaultWindowMs: limits.defaultWindowHours * 3_600_000,
      },
    });
  }
  let pipeline = make();
  foundation.onReload(() => (pipeline = make()));
  return { run: (request) => pipeline.run(request) };
}

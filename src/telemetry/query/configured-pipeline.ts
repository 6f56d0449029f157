import type { Instruments, Logger, Vault } from '../../contract/core/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { createCostGuard } from './cost-guard.ts';
import type { CostLimits } from './cost-guard.ts';
import { createGovernance } from './governance.ts';
import type { GovernanceRule } from './governance.ts';
import { createQueryPipeline, defaultPipelineLimits } from './pipeline.ts';
import type { QueryPipeline } from './pipeline.ts';
import type { QueryPlaces } from './places.ts';

/** Keys of the config that a pipeline runs under. */
export interface PipelineSettings {
  readonly limits: {
    readonly maxCellBytes: number;
    readonly queryTimeoutSeconds: number;
    readonly defaultWindowHours: number;
  };
  readonly governance: { readonly rules: readonly GovernanceRule[] };
  readonly costGuard: CostLimits;
}

interface Settings {
  readonly config: PipelineSettings;
  readonly logger: Logger;
  readonly vault: Vault;
  readonly now: () => Date;
  onReload(listener: () => void): void;
}

interface Parts {
  readonly telemetry: Telemetry;
  readonly storage: Storage;
  readonly places: QueryPlaces;
  readonly instruments: Instruments | undefined;
}

/** The way to the warehouse, under the limits and rules of the config in force: a query ends under those it began with. */
export function createConfiguredPipeline(
  foundation: Settings,
  { telemetry, storage, places, instruments }: Parts,
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

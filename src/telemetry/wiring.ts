import type { Instruments, Logger, Vault } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import type { Telemetry, TelemetrySink } from '../contract/telemetry/index.ts';
import { createOtlpReceiver, type OtlpReceiver, type OtlpReceiverOptions } from './ingest/receiver.ts';
import { createKeptResults, type KeptPages } from './query/kept-results.ts';
import { shareKeptResults } from './query/kept-results-shared.ts';
import { createQueryPipeline, defaultPipelineLimits, type QueryPipeline } from './query/pipeline.ts';
import { placesIn, QueryPlaces } from './query/places.ts';
import { createCostGuard, type CostLimits } from './query/cost-guard.ts';
import { createGovernance, type GovernanceRule } from './query/governance.ts';

/** Keys of the config that a pipeline runs under. */
interface PipelineSettings {
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
function createConfiguredPipeline(
  foundation: Settings,
  { telemetry, storage, places, instruments }: Parts,
): QueryPipeline {
  const { logger, now, vault } = foundation;
  function make(): QueryPipeline {
    const { limits, governance, costGuard } = foundation.config;
    return createQueryPipeline({
      telemetry,
      ...(governance.rules.length > 0 && {
        governance: createGovernance({
          rules: governance.rules,
          salt: (organizationId) => vault.derive(`governance:${organizationId}`),
        }),
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

export interface TelemetryParts {
  readonly places: QueryPlaces;
  readonly pipeline: QueryPipeline;
  readonly keptResults: KeptPages;
  readonly receiver: OtlpReceiver;
}

interface TelemetryCradle extends TelemetryParts {
  readonly foundation: {
    readonly logger: Logger;
    readonly vault: Vault;
    readonly now: () => Date;
    readonly dataDirectory: string;
    readonly config: PipelineSettings & {
      readonly limits: { readonly queriesAtOnce: number; readonly organizationQueriesAtOnce: number };
      readonly ingest: { readonly retentionDays: number };
    };
    onReload(listener: () => void): void;
  };
  readonly seat: (NonNullable<OtlpReceiverOptions['worker']> & { readonly keptPages: KeptPages }) | undefined;
  readonly instruments: Instruments | undefined;
  readonly storage: Storage;
  readonly telemetry: Telemetry;
  /** Where the receiver's rows go; undefined where it takes none. */
  readonly sink: TelemetrySink | undefined;
  /** Whether other gateways serve over the same storage. */
  readonly several: () => Promise<boolean>;
}

type Wiring = { readonly [Part in keyof TelemetryParts]: (cradle: TelemetryCradle) => TelemetryParts[Part] };

/** How the parts of this domain are made. */
export const telemetryWiring: Wiring = {
  // Of all pipelines that there will be: who holds a place in one before holds it still.
  places({ telemetry, foundation }) {
    const { queriesAtOnce, organizationQueriesAtOnce } = foundation.config.limits;
    return new QueryPlaces(placesIn(telemetry, { atOnce: queriesAtOnce, organization: organizationQueriesAtOnce }));
  },
  pipeline: ({ foundation, telemetry, storage, places, instruments }) =>
    createConfiguredPipeline(foundation, { telemetry, storage, places, instruments }),
  keptResults({ storage, telemetry, seat, several, foundation: { vault, now, logger } }) {
    const own = seat?.keptPages ?? createKeptResults({ now });
    if (storage.inDataDirectory === true || telemetry.inDataDirectory === true) return own;
    return shareKeptResults(own, {
      results: (organizationId) => storage.workspace(organizationId).keptResults,
      vault,
      several,
      now,
      logger,
    });
  },
  receiver: ({ storage, sink, instruments, seat, foundation }) =>
    createOtlpReceiver({
      directory: storage.directory,
      sink,
      dataDirectory: foundation.dataDirectory,
      retentionDays: () => foundation.config.ingest.retentionDays,
      ...(seat && { worker: seat }),
      instruments,
      logger: foundation.logger,
      now: foundation.now,
    }),
};

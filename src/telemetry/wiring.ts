import type { Instruments, Logger, Vault } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import type { Telemetry, TelemetrySink } from '../contract/telemetry/index.ts';
import { createOtlpReceiver } from './ingest/receiver.ts';
import type { OtlpReceiver, OtlpReceiverOptions } from './ingest/receiver.ts';
import { createConfiguredPipeline } from './query/configured-pipeline.ts';
import type { PipelineSettings } from './query/configured-pipeline.ts';
import { createKeptResults } from './query/kept-results.ts';
import type { KeptPages } from './query/kept-results.ts';
import { shareKeptResults } from './query/kept-results-shared.ts';
import type { QueryPipeline } from './query/pipeline.ts';
import { placesIn, QueryPlaces } from './query/places.ts';

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

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AlertReceiver } from '../../incidents/alerts/receiver.ts';
import type { AlertSources } from '../../incidents/alerts/sources.ts';
import type { ApiKeys } from '../../identity/verify/api-keys.ts';
import type { IngestTokens } from '../../identity/verify/ingest-tokens.ts';
import type { Verifier } from '../../identity/verify/verifier.ts';
import type { Agent } from '../../contract/agent/index.ts';
import type { AlertInput } from '../../contract/alerts/index.ts';
import type { Instruments, Tool } from '../../contract/core/index.ts';
import type { Issuer } from '../../contract/issuer/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import type { InvestigationWorker } from '../../incidents/investigation/worker.ts';
import type { AuditWriter } from '../../records/audit/writer.ts';
import type { Retention } from '../../records/retention.ts';
import type { Replicas } from '../process/replicas.ts';
import type { RateLimit } from '../../mcp/call.ts';
import type { McpListener } from '../../mcp/handler.ts';
import type { OtlpReceiver } from '../../telemetry/ingest/receiver.ts';
import type { KeptPages } from '../../telemetry/query/kept-results.ts';
import type { QueryPipeline } from '../../telemetry/query/pipeline.ts';
import type { QueryPlaces } from '../../telemetry/query/places.ts';
import type { IngestSource } from '../../tools/index.ts';
import type { People } from '../../identity/people/people.ts';
import type { createPages } from '../../web/pages.ts';
import type { createWebhookSender } from '../../incidents/webhooks/index.ts';
import type { Organizations } from './organizations.ts';
import type { Serving } from './serving.ts';
import type { Urls } from './urls.ts';
import type { Foundation } from './workspace.ts';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Everything a running gateway is made of, and what each part may ask for: the graph on one page. */
export interface Cradle {
  readonly foundation: Foundation;
  readonly urls: Urls;
  readonly serving: Serving;
  /** Undefined where nothing is recorded. */
  readonly instruments: Instruments | undefined;

  readonly storage: Storage;
  readonly issuer: Issuer;
  readonly telemetry: Telemetry;
  readonly agent: Agent;

  readonly people: People;
  readonly keys: ApiKeys;
  readonly ingestTokens: IngestTokens;
  readonly alertInputs: ReadonlyMap<string, AlertInput>;
  readonly alertSources: AlertSources;
  readonly organizations: Organizations;
  readonly ingest: IngestSource;
  readonly verifier: Verifier;
  /** Undefined in a process that another one of the same gateway speaks for. */
  readonly replicas: Replicas | undefined;
  readonly rateLimit: RateLimit;
  readonly audit: AuditWriter;
  readonly retention: Retention;
  readonly places: QueryPlaces;
  readonly pipeline: QueryPipeline;
  readonly keptResults: KeptPages;
  readonly worker: InvestigationWorker;
  /** Undefined in a process that another one of the same gateway speaks for. */
  readonly webhookSender: ReturnType<typeof createWebhookSender> | undefined;
  readonly tools: readonly Tool[];
  readonly receiver: OtlpReceiver;
  readonly alertReceiver: AlertReceiver;
  readonly mcp: McpListener;
  readonly pages: ReturnType<typeof createPages>;
  readonly app: Listener;
}

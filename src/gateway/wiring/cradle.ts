import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent } from '../../contract/agent/index.ts';
import type { AlertInput } from '../../contract/alerts/index.ts';
import type { Instruments, SolePluginKind, Tool } from '../../contract/core/index.ts';
import type { Issuer } from '../../contract/issuer/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import type { Telemetry, TelemetrySink } from '../../contract/telemetry/index.ts';
import type { createScimRoutes } from '../../identity/scim/routes.ts';
import type { IdentityParts } from '../../identity/wiring.ts';
import type { IncidentsParts } from '../../incidents/wiring.ts';
import type { RateLimit } from '../../mcp/call.ts';
import type { Mcp } from '../../mcp/handler.ts';
import type { RecordsParts } from '../../records/wiring.ts';
import type { TelemetryParts } from '../../telemetry/wiring.ts';
import type { IngestSource } from '../../tools/index.ts';
import type { AdminHandler } from '../admin/handler.ts';
import type { createPages } from '../../web/pages.ts';
import type { Messages } from '../http/server.ts';
import type { LoadedAlertInputs, LoadedPlugin } from '../process/registry.ts';
import type { Replicas } from '../process/replicas.ts';
import type { Seat } from '../workers/seat.ts';
import type { Serving } from './listen.ts';
import type { Urls } from './urls.ts';
import type { Foundation } from './workspace.ts';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Dependencies created before the container. */
export interface Given {
  readonly foundation: Foundation;
  readonly urls: Urls;
  readonly serving: Serving;
  /** Undefined where somebody else's server is answered for. */
  readonly messages: Messages | undefined;
  /** Undefined where nothing is recorded. */
  readonly instruments: Instruments | undefined;
  readonly plugins: LoadedPlugins;
  /** The shipped agent that needs no model, for an agent that wants one beneath it. */
  readonly baseline: LoadedPlugin<'agent'>;
  /** Undefined where this process is the whole gateway. */
  readonly seat: Seat | undefined;
}

export interface PluginParts {
  readonly storage: Storage;
  readonly issuer: Issuer;
  readonly telemetry: Telemetry;
  readonly agent: Agent;
  readonly alertInputs: ReadonlyMap<string, AlertInput>;
  /** Where the receiver's rows go; undefined where it takes none. */
  readonly sink: TelemetrySink | undefined;
}

export interface SharedParts {
  /** Whether other gateways serve over the same storage. */
  readonly several: () => Promise<boolean>;
  /** Undefined in a process that another one of the same gateway speaks for. */
  readonly replicas: Replicas | undefined;
  readonly rateLimit: RateLimit;
}

export interface FrontParts {
  readonly wake: () => void;
  readonly clientAddress: (request: IncomingMessage) => string | undefined;
  readonly ingest: IngestSource;
  readonly tools: readonly Tool[];
  readonly mcp: Mcp;
  readonly pages: ReturnType<typeof createPages>;
  readonly admin: AdminHandler;
  readonly scim: ReturnType<typeof createScimRoutes>;
  readonly app: Listener;
}

export interface Parts
  extends PluginParts, IdentityParts, RecordsParts, TelemetryParts, IncidentsParts, SharedParts, FrontParts {}

/** Everything a running gateway is made of: the slices of its domains. */
export interface Cradle extends Given, Parts {}

export type Wiring<Made> = { readonly [Part in keyof Made]: (cradle: Cradle) => Made[Part] };

export type LoadedPlugins = { readonly [Kind in SolePluginKind]: LoadedPlugin<Kind> } & {
  readonly alerts: LoadedAlertInputs;
};

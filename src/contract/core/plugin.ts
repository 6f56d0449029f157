import type { z } from 'zod';
import type { Agent, AgentHost } from '../agent/index.ts';
import type { AlertInput } from '../alerts/alerts.ts';
import type { Issuer } from '../issuer/auth.ts';
import type { AuthorizationServer, AuthorizationServerOptions } from '../issuer/authorization.ts';
import type { Storage } from '../storage/storage.ts';
import type { Telemetry, TelemetryHost } from '../telemetry/telemetry.ts';
import type { Host } from './component.ts';

/** The version of this contract; a plugin made for another one is refused at boot. */
export const apiVersion = 1;

export interface IssuerHost extends Host {
  readonly storage: Storage;
  /** The MCP endpoint: the audience of every token. */
  readonly resource: string;
  /** Our own OAuth authorization server, for a plugin to run: it exchanges API keys, and lets people authorize clients. */
  authorizationServer(options: AuthorizationServerOptions): AuthorizationServer;
}

export interface Products {
  storage: Storage;
  issuer: Issuer;
  telemetry: Telemetry;
  agent: Agent;
  alerts: AlertInput;
}

export interface Hosts {
  storage: Host;
  issuer: IssuerHost;
  telemetry: TelemetryHost;
  agent: AgentHost;
  alerts: Host;
}

export type PluginKind = keyof Products;

/** The kinds of which a gateway runs one plugin. Of the others it runs any number. */
export type SolePluginKind = Exclude<PluginKind, 'alerts'>;

export interface PluginDefinition<Kind extends PluginKind, Schema extends z.ZodType> {
  readonly kind: Kind;
  readonly name: string;
  readonly apiVersion: typeof apiVersion;
  /** Strict: a typo in the config file is an error with its path. */
  readonly configSchema: Schema;
  /** Synchronous: a wrong config fails here, a dead backend in `start`. */
  create(config: z.output<Schema>, host: Hosts[Kind]): Products[Kind];
}

/** Declares a plugin; the default export of its index. */
export function definePlugin<Kind extends PluginKind, Schema extends z.ZodType>(
  definition: PluginDefinition<Kind, Schema>,
): PluginDefinition<Kind, Schema> {
  return definition;
}

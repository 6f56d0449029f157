import type { z } from 'zod';
import type { Agent, AgentHost } from './agent.ts';
import type { AlertInput } from './alerts.ts';
import type { Issuer } from './auth.ts';
import type { AuthorizationServer, AuthorizationServerOptions } from './authorization.ts';
import type { Storage } from './storage.ts';
import type { Telemetry, TelemetryHost } from './telemetry.ts';

/** The version of this contract; a plugin made for another one is refused at boot. */
export const apiVersion = 1;

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

export interface Health {
  readonly ok: boolean;
  /** For an operator: what is wrong, without secrets. */
  readonly detail?: string;
}

/** Anything with a life. `stop` is safe without `start`, safe twice, and leaves nothing running. */
export interface Component {
  /** Opens connections; rejects when it cannot serve, which stops the boot. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  health(signal: AbortSignal): Promise<Health>;
}

/** What every plugin is given. */
export interface Host {
  readonly logger: Logger;
  readonly now: () => Date;
  /** {base_url}: no trailing slash. */
  readonly publicUrl: string;
  /** {auth_url}: no trailing slash. */
  readonly authUrl: string;
  /** Absolute; exists; mode 0700. A plugin keeps to a folder of its own in it. */
  readonly dataDirectory: string;
  /** Encrypts what is kept at rest; the context is bound in, so that one sealed value cannot be put in another's place. */
  readonly vault: Vault;
}

export interface Vault {
  seal(plain: Uint8Array, context: string): string;
  /** Throws when the value is damaged, of another context, or sealed with a key that is gone. */
  open(sealed: string, context: string): Uint8Array;
  /** 32 hex digits that only the master key and the context yield: the same each time, until the master key is replaced. */
  derive(context: string): string;
  /** A signature of the text that only the master key can make, and that names its key. */
  sign(text: string, context: string): string;
  /** Whether the signature is of this text and context, by any master key that is known. Never throws. */
  verifies(signature: string, text: string, context: string): boolean;
}

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

import type { Config } from '../config/schema.ts';
import { isLoopback } from '../../identity/issue/scopes.ts';
import { readHolder } from '../process/exclusive.ts';
import { loadSettings, type Settings } from './settings.ts';

/** The MCP endpoint of the gateway that these settings are of, whether it runs or not. Touches no file. */
export async function endpointOf(settings: Settings): Promise<string> {
  const { config } = await loadSettings(settings);
  const holder = readHolder(config.dataDirectory);
  // A gateway on a free port is known by what it announced alone.
  if (holder !== undefined && config.publicUrl === undefined) return `${holder.url}/mcp`;
  return deriveUrls(config, config.listen.port).resource;
}

export interface Urls {
  readonly port: number;
  /** {base_url}, no trailing slash. */
  readonly publicUrl: string;
  /** The path of {base_url}: what a proxy may hand on or strip; `/` where there is none. */
  readonly basePath: string;
  /** {auth_url}, no trailing slash: the issuer. */
  readonly authUrl: string;
  /** The MCP endpoint, which is the audience of every token. */
  readonly resource: string;
  /** Lower-case `host[:port]` a request may be sent to. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/** Issuer, audience, allowed hosts and origins all follow from publicUrl and authUrl, and from the port when neither is set. */
export function deriveUrls(config: Config, port: number): Urls {
  const publicUrl = config.publicUrl ?? `http://127.0.0.1:${port}`;
  const authUrl = config.authUrl ?? publicUrl;
  const own = [publicUrl, authUrl].map((text) => new URL(text));
  // A container publishes another port, or a proxy stands before: a person may type any name of this machine there, too.
  const ports = new Set([`:${port}`, ...own.filter(({ hostname }) => isLoopback(hostname)).map(portOf)]);
  const loopback = [...ports].flatMap((end) => ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}${end}`));
  const origins = loopback.map((host) => `http://${host}`);
  const hosts = config.allowedHosts.map((host) => host.toLowerCase());
  return {
    port,
    publicUrl,
    basePath: basePathOf(config),
    authUrl,
    resource: `${publicUrl}/mcp`,
    allowedHosts: [...new Set([...own.map(({ host }) => host), ...loopback, ...hosts])],
    allowedOrigins: [...new Set([...own.map(({ origin }) => origin), ...origins, ...config.allowedOrigins])],
  };
}

function portOf({ port }: URL): string {
  return port === '' ? '' : `:${port}`;
}

/** As in `Urls`; known before the port is. */
export function basePathOf({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl === undefined ? '/' : new URL(publicUrl).pathname;
}

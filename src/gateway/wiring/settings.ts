import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import { dirname, resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { z } from 'zod';
import { loadConfig, type ReadConfig } from '../config/load.ts';
import type { ConfigInput } from '../config/schema.ts';
import { SightlineError } from '../../contract/core/index.ts';

/** What every command takes; the flag beats the environment, which beats the config file. */
export interface Settings {
  /** `--data`, SIGHTLINE_DATA: the data directory, relative to the working directory. */
  readonly data?: string | undefined;
  /** `--port`, SIGHTLINE_PORT. 0 takes a free one. */
  readonly port?: number | undefined;
  /** `--config`, SIGHTLINE_CONFIG: the path of the config file. A program may give what would stand in it. */
  readonly config?: string | ConfigInput | undefined;
}

const environment = z.object({
  SIGHTLINE_DATA: z.string().min(1).optional(),
  SIGHTLINE_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  SIGHTLINE_CONFIG: z.string().min(1).optional(),
});

export function resolveSettings(flags: Settings, env: NodeJS.ProcessEnv = process.env): Settings {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))].join(', ');
    throw new SightlineError('config_invalid', `The environment variable ${names} is not valid.`, {
      hint: 'SIGHTLINE_PORT is a number from 0 to 65535; SIGHTLINE_DATA and SIGHTLINE_CONFIG are paths.',
    });
  }
  const { SIGHTLINE_DATA, SIGHTLINE_PORT, SIGHTLINE_CONFIG } = parsed.data;
  return {
    data: flags.data ?? SIGHTLINE_DATA,
    port: flags.port ?? SIGHTLINE_PORT,
    config: flags.config ?? SIGHTLINE_CONFIG,
  };
}

/** The config file that the settings name or lead to, with what they beat in it. The process takes its `network`. */
export async function loadSettings({ config, data, port }: Settings): Promise<ReadConfig> {
  const read = await loadConfig({
    file: config,
    cwd: process.cwd(),
    env: process.env,
    overrides: {
      ...(data === undefined ? {} : { dataDirectory: data }),
      ...(port === undefined ? {} : { port }),
    },
  });
  trustAuthorities(read.config.network.ca, read.file);
  useProxy(read.config.network.proxy, process.env);
  return read;
}

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Trusts these authorities in every TLS connection of the process that names none of its own, beside those trusted already,
 * NODE_EXTRA_CA_CERTS among them. @param file the config file, which relative paths start from
 */
export function trustAuthorities(paths: readonly string[], file: string | undefined): void {
  if (paths.length === 0) return;
  const added = paths.flatMap((path) =>
    certificatesOf(file === undefined ? resolve(path) : resolve(dirname(file), path)),
  );
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...added])]);
}

/** By this proxy goes what `fetch` and the agents of node:http ask, but for this machine and the hosts of NO_PROXY. */
function useProxy(proxy: string | undefined, env: NodeJS.ProcessEnv): void {
  if (proxy === undefined) return;
  if (!('setGlobalProxyFromEnv' in http)) {
    throw new SightlineError('config_invalid', `network.proxy needs Node 24.14 or later; this is ${process.version}.`, {
      hint: 'Update Node, or set NODE_USE_ENV_PROXY=1 and HTTPS_PROXY in the environment.',
    });
  }
  const direct = ['localhost', '127.0.0.1', '[::1]', '::1', env['NO_PROXY'] ?? env['no_proxy'] ?? ''];
  const no_proxy = direct.filter((host) => host !== '').join(',');
  http.setGlobalProxyFromEnv({ http_proxy: proxy, https_proxy: proxy, no_proxy });
}

function certificatesOf(path: string): readonly string[] {
  let found: readonly string[];
  try {
    found = readFileSync(path, 'utf8').match(block) ?? [];
    for (const pem of found) new X509Certificate(pem);
  } catch (cause) {
    throw unusable(path, cause);
  }
  if (found.length === 0) throw unusable(path);
  return found;
}

function unusable(path: string, cause?: unknown): SightlineError {
  return new SightlineError('config_invalid', `network.ca: ${path} cannot be read as certificates.`, {
    hint: 'It holds one or more blocks -----BEGIN CERTIFICATE-----, in PEM.',
    cause,
  });
}

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as http from 'node:http';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SightlineError } from '../../contract/core/index.ts';

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
export function useProxy(proxy: string | undefined, env: NodeJS.ProcessEnv): void {
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

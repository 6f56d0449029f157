import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
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

import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { z } from 'zod';

/** What the gateway calls itself on the wire; the version is the package's. */
export const product = { name: 'sightline', title: 'Sightline', version: packageVersion() } as const;

function packageVersion(): string {
  const file = findPackageJSON(import.meta.url);
  const found: unknown = file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'));
  return z.object({ version: z.string() }).parse(found).version;
}

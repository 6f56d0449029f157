import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Host, Logger, Vault } from '../../src/contract/core/index.ts';

/** A host for a plugin under test: silent, with a real vault under a random key. `dataDirectory` must exist. */
export function testHost(dataDirectory: string, overrides: Partial<Host> = {}): Host {
  return {
    logger: silentLogger,
    now: () => new Date(),
    publicUrl: 'http://127.0.0.1:8080',
    authUrl: 'http://127.0.0.1:8080',
    dataDirectory,
    vault: testVault(),
    ...overrides,
  };
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};

/** AES-256-GCM with the context as additional data, so that it refuses what the real vault refuses. */
export function testVault(key: Uint8Array = randomBytes(32)): Vault {
  const mac = (text: string, context: string) =>
    createHmac('sha256', key).update(`${context}\n${text}`).digest('base64url');
  return {
    derive: (context) => createHmac('sha256', key).update(context).digest('hex').slice(0, 32),
    sign: (text, context) => mac(text, context),
    verifies: (signature, text, context) => signature === mac(text, context),
    seal(plain, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    },
  };
}

/** A directory for plugins that need none. */
export const noOrganizations = { findOrganization: async () => undefined };

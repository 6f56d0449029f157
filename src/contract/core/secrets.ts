import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** SHA-256, hex. A slow hash would buy nothing on 256 random bits, and would let strangers spend our processor. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Whether two hashes made by `hashSecret` are the same, in a time that does not depend on where they differ. */
export function equalHashes(left: string, right: string): boolean {
  const a = Buffer.from(left, 'latin1');
  const b = Buffer.from(right, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * A new secret: the prefix, an underscore and 256 random bits in base64url. Only `[A-Za-z0-9_-]` occurs in it, since many
 * OAuth clients send HTTP Basic without form-encoding, and it never begins with `-`, which a shell command would take for
 * a flag.
 */
export function generateSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

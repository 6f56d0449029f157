import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { equalHashes, generateSecret, hashSecret } from './ids.ts';

describe('secrets', () => {
  it('hash to SHA-256 in hex', () => {
    expect(hashSecret('abc')).toBe(createHash('sha256').update('abc').digest('hex'));
    expect(hashSecret('naïve ☃')).toBe(createHash('sha256').update('naïve ☃', 'utf8').digest('hex'));
  });

  it('carry 256 random bits in characters that need no encoding anywhere', () => {
    const made = new Set(Array.from({ length: 500 }, () => generateSecret('aks')));
    expect(made.size).toBe(500);
    for (const secret of made) {
      expect(secret).toMatch(/^aks_[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(secret.slice(4), 'base64url')).toHaveLength(32);
      expect(encodeURIComponent(secret)).toBe(secret);
    }
  });

  it('are compared by the whole hash', () => {
    const one = hashSecret('one');
    expect(equalHashes(one, hashSecret('one'))).toBe(true);
    expect(equalHashes(one, hashSecret('two'))).toBe(false);
    expect(equalHashes(one, one.slice(0, -1))).toBe(false);
    expect(equalHashes(one, `${one.slice(0, -1)}${one.endsWith('0') ? '1' : '0'}`)).toBe(false);
    expect(equalHashes(one, '')).toBe(false);
  });
});

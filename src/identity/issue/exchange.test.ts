import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashSecret, newId } from '../../contract/core/index.ts';
import { type NewSecret } from '../../contract/storage/index.ts';
import { createKeyProof, matchSecret } from './key-exchange.ts';

const stored = (secret: string): NewSecret => ({
  id: newId('sec'),
  hash: hashSecret(secret),
  lastFour: secret.slice(-4),
});

describe('matching a secret', () => {
  it('finds the one that was shown among all that are active', () => {
    const secrets = [stored('old'), stored('new')];
    expect(matchSecret(hashSecret('old'), secrets)).toBe(secrets[0]?.id);
    expect(matchSecret(hashSecret('new'), secrets)).toBe(secrets[1]?.id);
    expect(matchSecret(hashSecret('neither'), secrets)).toBeUndefined();
  });

  it('finds nothing where there is nothing, whatever is shown', () => {
    fc.assert(
      fc.property(fc.string(), (shown) => {
        expect(matchSecret(hashSecret(shown), [])).toBeUndefined();
      }),
    );
    expect(matchSecret('0'.repeat(64), [])).toBeUndefined();
  });

  it('does not take the hash itself for the secret', () => {
    const secret = stored('secret');
    expect(matchSecret(hashSecret(secret.hash), [secret])).toBeUndefined();
  });

  it('compares every active secret, also after one has matched', () => {
    let read = 0;
    const counted = (secret: string) => {
      const { id, hash } = stored(secret);
      return {
        id,
        get hash() {
          read += 1;
          return hash;
        },
      };
    };
    matchSecret(hashSecret('a'), [counted('a'), counted('b')]);
    expect(read).toBe(2);
  });
});

describe('proving a key', () => {
  const id = newId('ak');
  const organizationId = newId('org');

  function directoryOf(secrets: NewSecret[]) {
    const asked = { full: 0, live: 0 };
    const prove = createKeyProof({
      directory: {
        async keyForExchange(shown) {
          asked.full += 1;
          if (shown !== id || secrets.length === 0) return undefined;
          return { id, organizationId, scopes: ['chats:read'], paused: false, secrets: [...secrets] };
        },
        async liveKey(shown, secretId) {
          asked.live += 1;
          if (shown !== id || !secrets.some((secret) => secret.id === secretId)) return undefined;
          return { organizationId, name: 'nightly', scopes: ['telemetry:read'] };
        },
      },
    });
    return { prove, asked };
  }

  it('asks the cheap question once a key is known, and believes what is stored now', async () => {
    const secrets = [stored('old')];
    const { prove, asked } = directoryOf(secrets);
    expect(await prove(id, 'old')).toMatchObject({ secretId: secrets[0]?.id, scopes: ['chats:read'] });
    expect(await prove(id, 'old')).toEqual({
      id,
      secretId: secrets[0]?.id,
      organizationId,
      scopes: ['telemetry:read'],
    });
    expect(asked).toEqual({ full: 1, live: 1 });
  });

  it('sees a new secret, a retired one and a revoked key at once', async () => {
    const secrets = [stored('old')];
    const { prove } = directoryOf(secrets);
    await prove(id, 'old');
    secrets.push(stored('new'));
    expect(await prove(id, 'new')).toMatchObject({ secretId: secrets[1]?.id });
    secrets.shift();
    expect(await prove(id, 'old')).toBeUndefined();
    expect(await prove(id, 'new')).toMatchObject({ secretId: secrets[0]?.id });
    secrets.pop();
    expect(await prove(id, 'new')).toBeUndefined();
  });

  it('asks storage as often for an unknown key as for a wrong secret, and not at all for what cannot be a key', async () => {
    const { prove, asked } = directoryOf([stored('good')]);
    await prove(id, 'good');
    asked.full = 0;
    await prove(id, 'wrong');
    expect(asked).toEqual({ full: 1, live: 0 });
    await prove(newId('ak'), 'wrong');
    expect(asked).toEqual({ full: 2, live: 0 });
    await prove(undefined, 'wrong');
    expect(asked).toEqual({ full: 2, live: 0 });
  });
});

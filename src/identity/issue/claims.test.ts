import { describe, expect, it } from '@jest/globals';
import { newId } from '../../contract/core/index.ts';
import { claimsOfKey, claimsOfPerson, tokenClaims } from './claims.ts';

const id = newId('ak');
const organizationId = newId('org');
const secretId = newId('sec');
const key = { id, organizationId, scopes: ['chats:read' as const], secretId };
const payload = { ...claimsOfKey(key), scope: 'chats:read telemetry:read' };

describe('the claims of our tokens', () => {
  it('come back as they went in', () => {
    expect(tokenClaims(payload)).toEqual({
      kind: 'key',
      subject: id,
      organizationId,
      scopes: ['telemetry:read', 'chats:read'],
      clientId: id,
      secretId,
    });
  });

  it('leave out a scope this version does not know', () => {
    expect(tokenClaims({ ...payload, scope: 'chats:read admin' })?.scopes).toEqual(['chats:read']);
    expect(tokenClaims({ ...payload, scope: '' })?.scopes).toEqual([]);
  });

  it('are not read out of a payload that is not one of ours', () => {
    const wrongs: readonly Record<string, unknown>[] = [
      { kind: 'user' },
      { kind: undefined },
      { sub: undefined },
      { sub: newId('usr') },
      { sub: newId('ak') },
      { client_id: newId('ak') },
      { org: 'acme' },
      { org: [organizationId] },
      { secret_id: undefined },
      { secret_id: newId('ak') },
      { scope: ['chats:read'] },
      { scope: undefined },
    ];
    for (const wrong of wrongs) {
      expect([wrong, tokenClaims({ ...payload, ...wrong })]).toEqual([wrong, undefined]);
    }
  });
});

describe('the claims of a person’s tokens', () => {
  const userId = newId('usr');
  const grantId = newId('gra');
  const own = {
    ...claimsOfPerson({ userId, organizationId }, grantId),
    client_id: 'https://client.example/app.json',
    scope: 'chats:write ingest:read openid',
  };

  it('come back as they went in', () => {
    expect(tokenClaims(own)).toEqual({
      kind: 'user',
      subject: userId,
      organizationId,
      scopes: ['ingest:read', 'chats:write'],
      clientId: 'https://client.example/app.json',
      grantId,
    });
  });

  it('are not read out of a payload that is not one of ours, nor a key’s out of a person’s', () => {
    const wrongs: readonly Record<string, unknown>[] = [
      { kind: 'key' },
      { kind: 'external' },
      { sub: newId('ak') },
      { sub: `${userId}:${organizationId}` },
      { org: undefined },
      { org: userId },
      { grant: undefined },
      { grant: newId('sec') },
      { client_id: '' },
      { client_id: undefined },
      { scope: undefined },
    ];
    for (const wrong of wrongs) expect([wrong, tokenClaims({ ...own, ...wrong })]).toEqual([wrong, undefined]);
    expect(tokenClaims({ ...payload, kind: 'user' })).toBeUndefined();
  });
});

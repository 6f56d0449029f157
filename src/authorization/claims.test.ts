import { describe, expect, it } from '@jest/globals';
import { newId } from '../contract/index.ts';
import { claimsOfKey, tokenClaims } from './claims.ts';

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

import { describe, expect, it } from '@jest/globals';
import { scopeNames } from './issuer.ts';

describe('scopes that clients are told to ask the provider for', () => {
  it('are ours where the provider has no others', () => {
    const names = scopeNames({ scopes: new Map(), prefix: '', byRole: false });
    expect(names(['telemetry:read', 'chats:read'])).toEqual(['telemetry:read', 'chats:read']);
  });

  it('are the provider’s that stand for those needed, each once, as it wants them written', () => {
    const scopes = new Map([
      ['Sightline.Read', ['telemetry:read', 'chats:read']],
      ['Sightline.Chat', ['chats:write']],
    ] as const);
    const names = scopeNames({ scopes, prefix: 'api://app/', byRole: false });
    expect(names(['telemetry:read', 'chats:read'])).toEqual(['api://app/Sightline.Read']);
    expect(names(['chats:write', 'chats:read'])).toEqual(['api://app/Sightline.Read', 'api://app/Sightline.Chat']);
    expect(names(['ingest:read'])).toEqual([]);
  });

  it('are none where roles decide', () => {
    expect(scopeNames({ scopes: new Map(), prefix: '', byRole: true })(['telemetry:read'])).toEqual([]);
  });
});

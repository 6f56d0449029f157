import { describe, expect, it } from '@jest/globals';
import { generateSecret, newId } from '../src/contract/core/index.ts';
import { requireNoSecrets } from './support/no-secrets.ts';

describe('what a gateway or a command of a test logs', () => {
  it.each([
    ['an API key', generateSecret('aks')],
    ['an admin key', generateSecret('ads')],
    ['an ingest token', generateSecret('it')],
    ['a SCIM token', generateSecret('scim')],
    ['a link that sets a password', generateSecret('pwd')],
    ["a webhook's secret", `whsec_${Buffer.alloc(32, 7).toString('base64')}`],
    ['an access token', `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJha18xIn0.${'s'.repeat(86)}`],
  ])('fails it where there is %s', (_, secret) => {
    const record = JSON.stringify({ level: 'info', msg: 'asked', headers: { authorization: `Bearer ${secret}` } });
    expect(() => requireNoSecrets(`listening\n${record}\n`)).toThrow('a secret is in the log');
  });

  it('may hold ids, and a secret is shown by the command that makes it', () => {
    const record = JSON.stringify({ level: 'info', key: newId('ak'), token: newId('it'), secret: newId('sec') });
    expect(() => requireNoSecrets(`client_secret ${generateSecret('aks')}\n${record}\n`)).not.toThrow();
  });
});

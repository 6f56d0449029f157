import { createServer, type Server } from 'node:https';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openStore, type TestStore } from '../../test/issuer/support.ts';
import { selfSigned } from '../../test/support/certificate.ts';
import { makeOidcIssuer, redirectUri, secret } from './support/issuer.ts';
import { secondClient, startSecondProvider } from './support/second-provider.ts';
import { startStandIn, type StandIn } from './support/stand-in.ts';

let store: TestStore;
let provider: StandIn;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());
beforeEach(async () => {
  provider = await startStandIn();
});
afterEach(() => provider.stop());

async function look(issuer = provider.issuer, changed: object = {}) {
  const config = { issuer, clientId: 'sightline', clientSecret: secret, ...changed };
  const findings = (await makeOidcIssuer(store, config).look?.()) ?? [];
  expect(JSON.stringify(findings)).not.toContain(secret);
  return findings.map(({ status, detail, hint }) => [status, detail, hint]);
}

describe('what doctor says of an identity provider', () => {
  it('names what was asked, and what to try where the credentials are refused', async () => {
    // It warns of keeping everything in memory.
    jest.spyOn(console, 'warn').mockImplementation(() => {});
    const strict = await startSecondProvider(redirectUri);
    try {
      const { id: clientId, secret: clientSecret } = secondClient;
      expect(await look(strict.issuer, { clientId, clientSecret })).toEqual([
        ['ok', expect.stringContaining(`${strict.issuer}/.well-known/openid-configuration answers`), undefined],
        ['ok', `its keys at ${strict.issuer}/jwks can be read`, undefined],
        ['ok', `${strict.issuer}/token takes clientId and its credentials (client_secret_basic)`, undefined],
      ]);
      expect((await look(strict.issuer, { clientId })).at(-1)).toEqual([
        'fail',
        expect.stringContaining('(client_secret_basic)'),
        expect.stringContaining('client_secret_post'),
      ]);
    } finally {
      jest.restoreAllMocks();
      await strict.close();
    }
  });

  it('says where keys cannot be read, and which scopes are not listed', async () => {
    provider.keysFail = true;
    provider.says.metadata = { scopes_supported: ['openid', 'email'] };
    const found = await look();
    expect(found).toContainEqual(['fail', expect.stringContaining('/jwks'), expect.any(String)]);
    expect(found).toContainEqual(['warn', expect.stringContaining('the scopes profile'), 'It lists: openid, email']);
  });

  it('gives the cause where nothing answers', async () => {
    await provider.pause();
    expect(await look()).toEqual([
      ['fail', expect.stringMatching(/nothing listens there \(ECONNREFUSED\)$/), expect.any(String)],
    ]);
    await provider.resume();
  });

  it('names the key for an authority of the company’s own', async () => {
    const server: Server = createServer(selfSigned('localhost'), (_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    try {
      const port = typeof address === 'object' ? address?.port : undefined;
      const [[status, detail, hint] = []] = await look(`https://localhost:${port}`);
      expect([status, detail]).toEqual(['fail', expect.stringContaining('SELF_SIGNED_CERT')]);
      expect(hint).toContain('network.ca');
    } finally {
      server.close();
    }
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { issuerContract } from '../../test/contract/issuer.ts';
import {
  exchange,
  listen,
  openStore,
  operator,
  serveIssuer,
  tokenOf,
  type TestServer,
  type TestStore,
} from '../../test/issuer/support.ts';
import { makeOidcIssuer, resource, secret } from './support/issuer.ts';
import { startStandIn, type StandIn } from './support/stand-in.ts';

const runner = { describe, it, expect, beforeAll, afterAll, beforeEach, afterEach };

let store: TestStore;
let server: TestServer;
let provider: StandIn;

beforeAll(async () => {
  store = await openStore();
  server = await listen();
  provider = await startStandIn();
});
afterAll(async () => {
  await provider.stop();
  await server.close();
  await store.close();
});

describe('issuer-oidc as a broker', () => {
  issuerContract(runner, async () => {
    const config = { issuer: provider.issuer, clientId: 'sightline', clientSecret: secret };
    const component = makeOidcIssuer(store, config, { authUrl: server.url });
    serveIssuer(server, component);
    return {
      component,
      resource: `${server.url}/mcp`,
      async mint() {
        const pair = await store.keys.create({
          organizationId: store.organization.id,
          name: 'contract',
          scopes: ['chats:read'],
          actor: operator,
        });
        const [made] = pair.key.secrets;
        if (made === undefined) throw new Error('a new key has a secret');
        return {
          token: await tokenOf(await exchange(server.url, pair)),
          claims: {
            kind: 'key',
            subject: pair.clientId,
            organizationId: store.organization.id,
            scopes: ['chats:read'],
            clientId: pair.clientId,
            secretId: made.id,
          },
        };
      },
      cleanup: async () => {},
    };
  });
});

describe('issuer-oidc as a resource server', () => {
  let minted = 0;

  issuerContract(runner, async () => {
    const component = makeOidcIssuer(store, {
      mode: 'resource-server',
      issuer: provider.issuer,
      clientId: 'sightline',
      clientSecret: secret,
      memberships: [{ organization: 'Acme', role: 'admin', group: 'admins' }],
    });
    return {
      component,
      resource,
      async mint() {
        minted += 1;
        const claims = { aud: resource, azp: 'claude', scope: 'chats:read', groups: ['admins'], jti: `${minted}` };
        return {
          token: await provider.mint(claims),
          claims: {
            kind: 'external',
            identity: {
              issuer: provider.issuer,
              subject: 'johndoe',
              memberships: [{ organization: 'Acme', role: 'admin' }],
            },
            scopes: ['chats:read'],
            clientId: 'claude',
          },
        };
      },
      cleanup: async () => {},
    };
  });
});

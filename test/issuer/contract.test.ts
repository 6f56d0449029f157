import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { issuerContract } from '../contract/issuer.ts';
import {
  exchange,
  listen,
  makeIssuer,
  openStore,
  operator,
  serveIssuer,
  tokenOf,
  type TestServer,
  type TestStore,
} from './support.ts';

describe('issuer-builtin', () => {
  let store: TestStore;
  let server: TestServer;

  beforeAll(async () => {
    store = await openStore();
    server = await listen();
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  issuerContract({ describe, it, expect, beforeAll, afterAll, beforeEach, afterEach }, async () => {
    const component = makeIssuer(store, { authUrl: server.url });
    serveIssuer(server, component);
    return {
      component,
      resource: `${server.url}/mcp`,
      async mint() {
        const pair = await store.keys.create({
          organizationId: store.organization.id,
          name: 'contract',
          scopes: ['telemetry:read', 'chats:read'],
          actor: operator,
        });
        const [secret] = pair.key.secrets;
        if (!secret) throw new Error('a new key has a secret');
        return {
          token: await tokenOf(await exchange(server.url, pair)),
          claims: {
            kind: 'key',
            subject: pair.clientId,
            organizationId: store.organization.id,
            scopes: ['telemetry:read', 'chats:read'],
            clientId: pair.clientId,
            secretId: secret.id,
          },
        };
      },
      cleanup: async () => {},
    };
  });
});

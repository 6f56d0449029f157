import { apiVersion, definePlugin, type IssuerHost } from '../../src/contract/core/index.ts';
import {
  authorizationServerSchema,
  type AuthorizationServerConfig,
  type Issuer,
} from '../../src/contract/issuer/index.ts';

function createIssuer(config: AuthorizationServerConfig, host: IssuerHost): Issuer {
  const server = host.authorizationServer({ ...config, people: true });
  return {
    ...server,
    trusts: [server.trust],
    authorizationServers: [server.issuer],
    signIn: { kind: 'password' },
  };
}

/** The built-in issuer: people sign in with a password kept here, API keys are exchanged for tokens. */
export default definePlugin({
  kind: 'issuer',
  name: 'builtin',
  apiVersion,
  configSchema: authorizationServerSchema,
  create: createIssuer,
});

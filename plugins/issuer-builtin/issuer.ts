import type { IssuerHost } from '../../src/contract/core/index.ts';
import type { AuthorizationServerConfig, Issuer } from '../../src/contract/issuer/index.ts';

export function createIssuer(config: AuthorizationServerConfig, host: IssuerHost): Issuer {
  const server = host.authorizationServer({ ...config, people: true });
  return {
    ...server,
    trusts: [server.trust],
    authorizationServers: [server.issuer],
    signIn: { kind: 'password' },
  };
}

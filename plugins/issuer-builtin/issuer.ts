import type { AuthorizationServerConfig, Issuer, IssuerHost } from '../../src/contract/index.ts';

export function createIssuer(config: AuthorizationServerConfig, host: IssuerHost): Issuer {
  const server = host.authorizationServer({ ...config, people: true });
  return {
    ...server,
    trusts: [server.trust],
    authorizationServers: [server.issuer],
    signIn: { kind: 'password' },
  };
}

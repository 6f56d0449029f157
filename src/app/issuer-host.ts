import { createAuthorizationServer } from '../authorization/server.ts';
import type { Host, IssuerHost, Storage } from '../contract/index.ts';

/** What an issuer plugin is given: the host, where accounts are kept, and an authorization server to run. */
export function issuerHost(host: Host, storage: Storage, resource: string): IssuerHost {
  const given = { ...host, storage, resource };
  return { ...given, authorizationServer: (options) => createAuthorizationServer(options, given) };
}

import { type AuthorizationServerHost, createAuthorizationServer } from '../../identity/issue/server.ts';
import { SightlineError } from '../../contract/core/index.ts';
import type { Host, IssuerHost } from '../../contract/core/index.ts';
import type { AuditLog, Storage } from '../../contract/storage/index.ts';

/**
 * What an issuer plugin is given: the host, where accounts are kept, and an authorization server to run.
 * @param admit the account of an identity that a provider vouches for.
 */
export function issuerHost(
  host: Host,
  { storage, audit }: { readonly storage: Storage; readonly audit: AuditLog },
  resource: string,
  admit: AuthorizationServerHost['admit'] = nobody,
): IssuerHost {
  const given = { ...host, storage, resource };
  return { ...given, authorizationServer: (options) => createAuthorizationServer(options, { ...given, audit, admit }) };
}

const nobody: AuthorizationServerHost['admit'] = async () => {
  throw new SightlineError('forbidden', 'Identity providers let nobody in here.');
};

import * as oidc from 'openid-client';
import type { Finding } from '../../src/contract/telemetry/index.ts';
import type { OidcConfig } from './config.ts';
import { outageIn, ProviderUnreachable, reasonOf, type Provider } from './provider.ts';
import type { Settings } from './settings.ts';
import { credentialsHint } from './sign-in.ts';

type Examined = Pick<OidcConfig, 'scopes' | 'privateKey'> &
  Pick<Settings, 'issuer' | 'clientAuthentication'> & { readonly redirectUri: string };

const check = 'identity provider';

/** Asks the provider for its metadata and keys, and whether it takes our credentials, by a code that is none. */
export async function examineProvider(provider: Provider, config: Examined): Promise<readonly Finding[]> {
  const asked = `${config.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const configuration = await provider.configuration().catch(() => undefined);
  if (configuration === undefined) {
    const { reason, code, hint } = provider.failure() ?? { reason: 'it gave no answer' };
    return [
      failure(
        `${asked}: ${reason}${code === undefined ? '' : ` (${code})`}`,
        hint ?? 'Check issuer.issuer and the way there.',
      ),
    ];
  }
  const metadata = configuration.serverMetadata();
  return [
    { check, status: 'ok', detail: `${asked} answers, and calls itself ${metadata.issuer}` },
    await keysFinding(provider, metadata.jwks_uri ?? ''),
    await credentialsFinding(configuration, config),
    ...scopeFindings(metadata, config),
  ];
}

function failure(detail: string, hint: string): Finding {
  return { check, status: 'fail', detail, hint };
}

async function keysFinding(provider: Provider, href: string): Promise<Finding> {
  try {
    await provider.keys({ alg: 'RS256', kid: 'asked by doctor' }, { payload: '', signature: '' });
  } catch (error) {
    if (error instanceof ProviderUnreachable) {
      const { reason, hint = 'Check that this address can be reached from here.' } = reasonOf(error);
      return failure(`its keys at ${href}: ${reason}`, hint);
    }
    // No key of that name: the set was read.
  }
  return { check, status: 'ok', detail: `its keys at ${href} can be read` };
}

/** A code that nobody gave out: who takes the credentials says `invalid_grant` (RFC 6749 §5.2). */
async function credentialsFinding(configuration: oidc.Configuration, config: Examined): Promise<Finding> {
  const endpoint = configuration.serverMetadata().token_endpoint ?? '';
  const how = config.privateKey === undefined ? config.clientAuthentication : 'private_key_jwt';
  const callback = new URL(config.redirectUri);
  callback.search = new URLSearchParams({ code: 'asked-by-doctor', iss: config.issuer }).toString();
  try {
    await oidc.authorizationCodeGrant(configuration, callback, { pkceCodeVerifier: oidc.randomPKCECodeVerifier() });
  } catch (error) {
    const refusal = error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError;
    if (refusal && error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') {
      return { check, status: 'ok', detail: `${endpoint} takes clientId and its credentials (${how})` };
    }
    if (
      refusal &&
      (error.status === 401 || (error instanceof oidc.ResponseBodyError && error.error === 'invalid_client'))
    ) {
      return failure(
        `${endpoint} refuses clientId or its credentials (${how})`,
        `In the section issuer, ${credentialsHint}`,
      );
    }
    if (error instanceof Error && outageIn(error) !== undefined) {
      const { reason, hint = 'Check that this address can be reached from here.' } = reasonOf(error);
      return failure(`${endpoint}: ${reason}`, hint);
    }
  }
  return {
    check,
    status: 'warn',
    detail: `${endpoint} does not say whether it takes the credentials`,
    hint: 'Sign in once to see.',
  };
}

function scopeFindings({ scopes_supported: supported }: oidc.ServerMetadata, { scopes }: Examined): readonly Finding[] {
  const unknown = supported === undefined ? [] : scopes.filter((scope) => !supported.includes(scope));
  if (unknown.length === 0) return [];
  return [
    {
      check,
      status: 'warn',
      detail: `it does not list the scopes ${unknown.join(', ')}, which issuer.scopes asks for`,
      hint: `It lists: ${(supported ?? []).slice(0, 30).join(', ')}`,
    },
  ];
}

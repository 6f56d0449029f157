import { createPrivateKey } from 'node:crypto';
import * as oidc from 'openid-client';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { OidcConfig } from './config.ts';
import type { Settings } from './settings.ts';

type Credentials = Pick<OidcConfig, 'clientSecret' | 'privateKey' | 'privateKeyId'>;

/** How we prove at the token endpoint that we are the client. Throws `config_invalid` where the key cannot be used. */
export function clientAuthentication(
  credentials: Credentials,
  method: Settings['clientAuthentication'],
): oidc.ClientAuth {
  const { clientSecret, privateKey, privateKeyId } = credentials;
  if (privateKey !== undefined) return privateKeyAuthentication(privateKey, privateKeyId);
  return method === 'client_secret_post' ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret);
}

function privateKeyAuthentication(pem: string, kid: string | undefined): oidc.ClientAuth {
  const key = cryptoKey(pem);
  return oidc.PrivateKeyJwt(kid === undefined ? key : { key, kid });
}

function cryptoKey(pem: string): oidc.CryptoKey {
  try {
    const key = createPrivateKey(pem);
    switch (key.asymmetricKeyType) {
      case 'rsa':
        return key.toCryptoKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign']);
      case 'ec':
        return key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
      case 'ed25519':
        return key.toCryptoKey('Ed25519', false, ['sign']);
      default:
        throw new Error('it is of another kind');
    }
  } catch {
    // Without the cause: a parser may quote what it read.
    throw new SightlineError(
      'config_invalid',
      'issuer.privateKey cannot be used: it must be an RSA, P-256 or Ed25519 key in PKCS #8 PEM.',
    );
  }
}

import { createLocalJWKSet, createRemoteJWKSet, customFetch as joseFetch, type JWTVerifyGetKey } from 'jose';
import * as oidc from 'openid-client';
import { z } from 'zod';
import {
  bodyWithin,
  connectionTrouble,
  SightlineError,
  troubleBehind,
  type Logger,
} from '../../src/contract/core/index.ts';

/** The provider gave no answer that could be used: says nothing about who asks. */
export class ProviderUnreachable extends TypeError {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProviderUnreachable';
  }
}

/** Key sets and Entra's metadata are a few kB; a token with hundreds of groups stays below 64. */
const maxBytes = 256 * 1024;

/** `fetch` for talks with the provider: follows no redirect, reads no more than is sane, and tells an outage from an answer. */
async function providerFetch(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  let content: Uint8Array<ArrayBuffer> | undefined;
  try {
    response = await fetch(url, { ...init, redirect: 'manual' });
    content = await bodyWithin(response, maxBytes);
  } catch (error) {
    throw new ProviderUnreachable('the request failed', error);
  }
  if (content === undefined) throw new ProviderUnreachable('the answer was too large');
  if (response.status >= 500 || response.status === 429) {
    throw new ProviderUnreachable(`the answer was ${response.status}`);
  }
  const { status, headers } = response;
  return new Response(status === 204 || status === 304 ? null : content, { status, headers });
}

/** jose looks at the rest of each. */
const keySetShape = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** The company's identity provider, as it describes itself (OpenID Connect Discovery). */
export interface Provider {
  /** Rejects with `unavailable` while it has not been heard of. */
  configuration(): Promise<oidc.Configuration>;
  /** Its signing keys. Rejects with anything but jose's "no such key" where they cannot be had. */
  readonly keys: JWTVerifyGetKey;
  /** For an operator: why it could not be asked the last time. */
  failure(): OutageReason | undefined;
}

export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: oidc.ClientAuth;
  readonly now: () => Date;
  readonly logger: Logger;
}

const timeoutMs = 5_000;
const keysCooldownMs = 30_000;
const keysMaxAgeMs = 600_000;
const metadataMaxAgeMs = 3_600_000;
/** After a failure it is left alone for a while, however many people want to sign in. */
const cooldownMs = 5_000;

/** Nothing is asked before somebody needs it, so that the gateway starts while the provider is down. */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, now, logger } = options;
  let known: { readonly configuration: oidc.Configuration; readonly readAt: number } | undefined;
  let failed: (OutageReason & { readonly at: number }) | undefined;
  let reading: Promise<void> | undefined;
  let keysFailedAt: number | undefined;
  let keySet: { readonly href: string; readonly keys: JWTVerifyGetKey } | undefined;

  async function read(): Promise<void> {
    try {
      const configuration = await discover(options);
      known = { configuration, readAt: now().getTime() };
      failed = undefined;
    } catch (error) {
      const reason = reasonOf(error);
      failed = { ...reason, at: now().getTime() };
      logger.error({ issuer, ...reason }, 'The identity provider cannot be asked who it is.');
    } finally {
      reading = undefined;
    }
  }

  async function configuration(): Promise<oidc.Configuration> {
    const time = now().getTime();
    const fresh = known !== undefined && time - known.readAt < metadataMaxAgeMs;
    const coolingDown = failed !== undefined && time - failed.at < cooldownMs;
    if (!fresh && !coolingDown) reading ??= read();
    // The earlier answer stays in use, so that no request waits for a provider that is down.
    if (known === undefined) await reading;
    if (known === undefined) throw unreachable();
    return known.configuration;
  }

  /** The library asks again for each token that it has no key for, also while all it gets is failures. */
  async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
    if (keysFailedAt !== undefined && now().getTime() - keysFailedAt < cooldownMs) {
      throw new ProviderUnreachable('its keys could not be had a moment ago');
    }
    try {
      const response = await providerFetch(url, init);
      if (response.status !== 200) throw new ProviderUnreachable(`the answer was ${response.status}`);
      createLocalJWKSet(keySetShape.parse(await response.clone().json()));
      keysFailedAt = undefined;
      return response;
    } catch (error) {
      keysFailedAt = now().getTime();
      throw error instanceof ProviderUnreachable ? error : new ProviderUnreachable('its keys cannot be read', error);
    }
  }

  const keys: JWTVerifyGetKey = async (header, token) => {
    const { jwks_uri: href = '' } = (await configuration()).serverMetadata();
    if (keySet?.href !== href) {
      keySet = {
        href,
        keys: createRemoteJWKSet(new URL(href), {
          timeoutDuration: timeoutMs,
          cooldownDuration: keysCooldownMs,
          cacheMaxAge: keysMaxAgeMs,
          [joseFetch]: fetchKeys,
        }),
      };
    }
    return await keySet.keys(header, token);
  };

  return { configuration, keys, failure: () => failed };
}

export function unreachable(): SightlineError {
  return new SightlineError('unavailable', 'The identity provider cannot be reached now. Try again in a minute.', {
    retryAfterSeconds: cooldownMs / 1_000,
  });
}

async function discover({ issuer, clientId, authentication }: ProviderOptions): Promise<oidc.Configuration> {
  const insecure = new URL(issuer).protocol === 'http:';
  const configuration = await oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
    timeout: timeoutMs / 1_000,
    // The library sends forms and nothing else.
    [oidc.customFetch]: (url, { method, headers, body, signal }) =>
      providerFetch(url, {
        method,
        headers,
        body: body instanceof URLSearchParams ? body : null,
        ...(signal === undefined ? {} : { signal }),
      }),
    execute: insecure ? [oidc.allowInsecureRequests] : [],
  });
  const metadata = configuration.serverMetadata();
  // Tokens are compared with it letter by letter, so that a slash too many would refuse them all.
  if (metadata.issuer !== issuer) {
    throw new ProviderUnreachable(`it calls itself ${metadata.issuer}: write that as issuer.issuer`);
  }
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    const { protocol } = URL.parse(metadata[name] ?? '') ?? {};
    if (protocol !== 'https:' && !(insecure && protocol === 'http:')) {
      throw new ProviderUnreachable(`its ${name} is no https URL`);
    }
  }
  return configuration;
}

export interface OutageReason {
  readonly reason: string;
  /** Of the operating system or TLS: `ECONNREFUSED`. */
  readonly code?: string;
  readonly hint?: string;
}

/** Why a provider gave no answer, for an operator: the log and `doctor` say it alike. */
export function reasonOf(error: unknown): OutageReason {
  if (!(error instanceof Error)) return { reason: 'something else than an error was thrown' };
  const outage = outageIn(error);
  const cause = outage?.cause instanceof Error ? `: ${outage.cause.message}` : '';
  const { code, hint } = troubleBehind(error);
  const [words] = connectionTrouble.get(code ?? '') ?? [];
  return {
    reason: words === undefined ? `${(outage ?? error).message}${cause}` : `${(outage ?? error).message}: ${words}`,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
  };
}

/** The library wraps what its `fetch` throws. */
export function outageIn(error: Error): ProviderUnreachable | undefined {
  if (error instanceof ProviderUnreachable) return error;
  return error.cause instanceof ProviderUnreachable ? error.cause : undefined;
}

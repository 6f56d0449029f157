import Provider, {
  errors,
  type Adapter,
  type Configuration,
  type KoaContextWithOIDC,
  type ResourceServer,
  type TokenEndpointGrantContext,
} from 'oidc-provider';
import { isId, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import { claimsOfKey, claimsOfPerson } from './claims.ts';
import { clientSecretMatches } from './clients/index.ts';
import { documentUnavailable } from './clients/documents.ts';
import { answeredPage } from './consent.ts';
import { errorPage, errorPageHeaders, failureOf } from './error-page.ts';
import type { AssertionGrant } from './grants/id-jag.ts';
import { apiKeyClient, type KeyExchange } from './key-exchange.ts';
import { grantedToken, type peopleConfiguration, settleTokenRequest } from './people-grants.ts';
import { assertionGrant, authorizePath, lifetimes, revocationPath, tokenLifetime, tokenPath } from './metadata.ts';
import { isOurResource, isLoopback, everyScope } from './scopes.ts';
import type { SigningKey } from './signing-keys.ts';

interface Issued {
  readonly organizationId: OrganizationId;
  /** The key or the person. */
  readonly subject: string;
  /** What made it possible: the key's secret, or the grant. */
  readonly target: string;
}

interface ProviderOptions {
  readonly issuer: string;
  readonly resource: string;
  readonly signingKey: SigningKey;
  readonly keys: KeyExchange;
  readonly adapter: (model: string) => Adapter;
  /** As for the adapter. */
  readonly successor: (refreshToken: string) => string;
  /** Absent where only API keys are exchanged. */
  readonly people: ReturnType<typeof peopleConfiguration> | undefined;
  /** Absent where no identity provider's assertions are taken. */
  readonly assertion: AssertionGrant | undefined;
  /** Whether a client is one of the configuration, whose addresses an operator has chosen. */
  readonly isConfigured: (clientId: string) => boolean;
  /** Throws where it must not be given out. */
  readonly issued: (token: Issued) => void;
  readonly logger: Logger;
}

/** oidc-provider, in our terms. It is cheap to make (a millisecond), so a new signing key gets a new Provider. */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, resource, signingKey, keys, adapter, people, issued, logger } = options;

  const endpoint = (scope: string): ResourceServer => ({
    scope,
    audience: resource,
    accessTokenTTL: tokenLifetime,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'ES256', kid: signingKey.kid } },
  });

  const configuration = {
    adapter,
    clients: [apiKeyClient],
    jwks: { keys: [{ ...signingKey.privateJwk, kid: signingKey.kid, use: 'sig', alg: 'ES256' }] },
    responseTypes: [],
    // No `offline_access`: who gets a refresh token is said by the client's metadata.
    scopes: [],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    ...people,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientBasedCORS: () => true,
    routes: { authorization: authorizePath, token: tokenPath, revocation: revocationPath },
    ttl: lifetimes,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: (ctx, indicator) => {
          if (!isOurResource(indicator, resource)) {
            throw new errors.InvalidTarget(`the only resource here is ${resource}`);
          }
          // What a person's token may do, their grant says.
          return endpoint(keys.is(ctx) ? keys.grantedScope(ctx) : everyScope);
        },
      },
      revocation: {
        enabled: people !== undefined,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    formats: {
      customizers: {
        jwt: (ctx, token, { payload }) => {
          if (token.kind === 'AccessToken') {
            const { grantId, ...account } = grantedToken(token);
            Object.assign(payload, claimsOfPerson(account, grantId));
          } else {
            Object.assign(payload, claimsOfKey(keys.keyOf(ctx)));
          }
        },
      },
    },
    renderError: (ctx, out, error) => {
      const interaction = ctx.oidc.entities.Interaction;
      if (error instanceof errors.SessionNotFound && interaction?.result) {
        ctx.status = 303;
        ctx.redirect(answeredPage(issuer, interaction.uid));
        return;
      }
      if (!browserRoutes.has(ctx.oidc.route)) {
        ctx.body = out;
        return;
      }
      // The library counts some errors as redirects, which this is not.
      if (ctx.status < 400) ctx.status = 400;
      ctx.set(errorPageHeaders);
      let code = out.error;
      if (error instanceof errors.SessionNotFound) code = 'session_not_found';
      if (out.error_description === documentUnavailable) code = 'document_unavailable';
      ctx.body = errorPage(failureOf(code, out.error_description));
    },
  } satisfies Configuration;

  const provider = new Provider(issuer, configuration);
  if (options.assertion) {
    const grant = options.assertion;
    const mint = async (ctx: TokenEndpointGrantContext) => {
      const { scope, ...granted } = await grant(ctx);
      const token = new provider.AccessToken({ ...granted, client: ctx.oidc.client, gty: 'id-jag', scope });
      token.resourceServer = new provider.ResourceServer(resource, endpoint(scope));
      ctx.oidc.entity('AccessToken', token);
      ctx.body = { access_token: await token.save(), expires_in: tokenLifetime, token_type: 'Bearer', scope };
    };
    provider.registerGrantType(assertionGrant, mint, ['assertion', 'scope', 'resource'], 'resource');
  }
  // Host and X-Forwarded-Proto are the issuer's by the time the library sees them.
  provider.proxy = true;
  authenticateClients(provider, options);
  rotateToSuccessor(provider, options.successor);
  provider.use(async (ctx, next) => {
    await next();
    await leadToPage(ctx, issuer);
    if (ctx.status === 503) ctx.set('Retry-After', '2');
  });

  // Of the request the client's id alone: it holds codes and secrets.
  const told = (refusal: errors.OIDCProviderError, clientId: unknown, message: string): void => {
    const { error: code, error_description: description, error_detail: detail } = refusal;
    const client = typeof clientId === 'string' ? clientId.slice(0, 200) : undefined;
    logger.debug({ code, description, detail, client }, message);
  };
  provider.on('grant.success', (ctx) => {
    const token = ctx.oidc.entities.AccessToken;
    if (token) {
      const { grantId, userId, organizationId } = grantedToken(token);
      issued({ organizationId, subject: userId, target: grantId });
    } else {
      const { id, organizationId, secretId } = keys.keyOf(ctx);
      issued({ organizationId, subject: id, target: secretId });
    }
  });
  // Before consent, a link could use us as an open redirector to any self-registered client (RFC 9700 §4.11.2), so the error
  // is shown on our own page.
  provider.on('authorization.error', (ctx, error) => {
    if (leadsAway(ctx, options.isConfigured)) error.allow_redirect = false;
    told(error, ctx.oidc.params?.['client_id'], 'An authorization request was refused.');
  });
  provider.on('grant.error', (ctx, error) => told(error, ctx.oidc.client?.clientId, 'A token request was refused.'));
  provider.on('authorization.success', (ctx) => {
    // The library would send a cookie for a session that is not kept.
    Object.assign(ctx.oidc.session ?? {}, { destroyed: true });
  });
  // These events carry the whole request, with the secret in its body: of it nothing but the error may reach the log.
  provider.on('server_error', (_ctx, error) => logger.error({ error }, 'The authorization server failed.'));
  provider.onerror = (error) => logger.warn({ error }, 'An answer of the authorization server could not be sent.');
  return provider;
}

const browserRoutes = new Set(['authorization', 'resume']);
const clientRoutes = new Set(['token', 'revocation']);

function authenticateClients({ Client }: Provider, { keys, resource }: ProviderOptions): void {
  const findRegistered = Client.find.bind(Client);
  let apiKey: Awaited<ReturnType<typeof findRegistered>>;

  Client.find = async (shown) => {
    const ctx = Provider.ctx;
    const known = isId('ak', shown) || shown === apiKeyClient.client_id ? undefined : await findRegistered(shown);
    if (!ctx || !clientRoutes.has(ctx.oidc.route)) return known;
    if (known) {
      settleTokenRequest(ctx.oidc, resource);
      return known;
    }
    keys.begin(ctx, shown);
    return (apiKey ??= await findRegistered(apiKeyClient.client_id));
  };

  Client.prototype.compareClientSecret = async function compareClientSecret(shown: string) {
    const ctx = Provider.ctx;
    if (!ctx) return false;
    if (keys.is(ctx)) return keys.authenticate(ctx, shown);
    return clientSecretMatches(this, shown) || keys.refuse(ctx, this.clientId);
  };
}

/** However many show a refresh token, here and at other gateways, its rotation gives each the same one. */
function rotateToSuccessor({ RefreshToken, BaseToken }: Provider, successor: ProviderOptions['successor']): void {
  RefreshToken.prototype.save = function saveSuccessor() {
    const used = Provider.ctx?.oidc.entities.RotatedRefreshToken;
    if (used) this.jti = successor(used.jti);
    return BaseToken.prototype.save.call(this);
  };
}

/**
 * The answer leaves from a page, not by a redirect: Chromium holds every redirect after a form, the client's own too, against
 * the form's policy, and behind an address that only opens an application a person would be left with the form.
 */
async function leadToPage(
  { oidc, response }: Pick<KoaContextWithOIDC, 'response'> & Partial<Pick<KoaContextWithOIDC, 'oidc'>>,
  issuer: string,
): Promise<void> {
  const interaction = oidc?.entities.Interaction;
  const location = response.get('Location');
  if (oidc?.route !== 'resume' || !interaction?.result || location === '') return;
  const page = answeredPage(issuer, interaction.uid);
  if (location === page) return;
  try {
    interaction.returnTo = location;
    await interaction.persist();
    response.redirect(page);
  } catch {
    // The storage's failure is logged. The client's answer is better off without a page than lost.
  }
}

function leadsAway({ oidc }: KoaContextWithOIDC, isConfigured: (clientId: string) => boolean): boolean {
  if (oidc.route !== 'authorization' || (oidc.client && isConfigured(oidc.client.clientId))) return false;
  const target = oidc.params?.['redirect_uri'];
  if (typeof target !== 'string' || !URL.canParse(target)) return true;
  const { protocol, hostname } = new URL(target);
  return (protocol === 'https:' || protocol === 'http:') && !isLoopback(hostname);
}

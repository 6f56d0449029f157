import { errors, type TokenEndpointGrantContext } from 'oidc-provider';
import { errors as joseErrors, jwtVerify, type JWTPayload } from 'jose';
import { z } from 'zod';
import {
  hashSecret,
  SightlineError,
  type GrantId,
  type Logger,
  type IssuerHost,
} from '../../../contract/core/index.ts';
import type { ExternalTokenClaims, Scope, AssertionTrust } from '../../../contract/issuer/index.ts';
import type { ArtifactRepository } from '../../../contract/storage/index.ts';
import { accountId, type Account } from '../claims.ts';
import { temporarily, type Reach } from '../error-page.ts';
import type { GrantRecords } from '../grant-records.ts';
import { assertionGrant } from '../metadata.ts';
import { isOurResource, knownScopes } from '../scopes.ts';
import { KeysOutOfReach, guardKeySet, readUnchecked } from '../../verify/bearer.ts';

interface AssertionGrantOptions extends AssertionOptions {
  readonly admit: (claims: ExternalTokenClaims) => Promise<Account>;
  readonly grants: Pick<GrantRecords, 'beginOrGoOn'>;
  /** A function, since storage may open after construction. */
  readonly artifacts: () => ArtifactRepository;
  readonly reach: Reach;
  readonly logger: Logger;
}

/** Decides about a token request. What it answers is granted, and stands in the person's connected applications. */
export type AssertionGrant = (ctx: TokenEndpointGrantContext) => Promise<{
  readonly accountId: string;
  readonly grantId: GrantId;
  readonly scope: string;
}>;

/**
 * Enterprise-managed authorization: a company's identity provider issues an ID-JAG that lets a person use a client here,
 * without consent in a browser. The result is an ordinary grant, visible and revocable, but without a refresh token: the
 * client presents another assertion.
 */
export function createAssertionGrant(options: AssertionGrantOptions): AssertionGrant {
  const { resource, admit, grants, artifacts, reach, now, logger } = options;
  const check = createAssertionCheck(options);

  const recordOf = ({ issuer, id }: Assertion) => ({ model: 'IdJag', id: hashSecret(`${issuer} ${id}`) });

  /** Looked at before the person is let in, for that alone may make an account and memberships. */
  async function refuseSpent(assertion: Assertion): Promise<void> {
    const { model, id } = recordOf(assertion);
    if ((await reach(artifacts().find(model, id)))?.consumedAt !== undefined) throw usedBefore();
  }

  /** Throws unless this assertion was never taken before, by any instance. */
  async function spend(assertion: Assertion): Promise<void> {
    const record = recordOf(assertion);
    await reach(artifacts().upsert({ ...record, payload: '{}', expiresAt: assertion.expiresAt }));
    if (!(await reach(artifacts().consume(record.model, record.id, now())))) throw usedBefore();
  }

  return async (ctx) => {
    const { client, params } = ctx.oidc;
    const asserted = params['assertion'];
    if (typeof asserted !== 'string') throw new errors.InvalidRequest('missing required parameter(s) assertion');
    const { resource: asked = resource, scope } = params;
    if (!(Array.isArray(asked) ? asked : [asked]).every((each) => isOurResource(each, resource))) {
      throw new errors.InvalidTarget(`the only resource here is ${resource}`);
    }
    try {
      const assertion = await check(asserted, client.clientId);
      const scopes = grantedScopes(assertion.claims.scopes, scope);
      await refuseSpent(assertion);
      const account = await admit(assertion.claims);
      await spend(assertion);
      const grantId = await grants.beginOrGoOn({
        ...account,
        client: { id: client.clientId, name: client.clientName ?? client.clientId },
        redirectOrigin: new URL(assertion.issuer).origin,
        scopes,
      });
      return { accountId: accountId(account), grantId, scope: scopes.join(' ') };
    } catch (error) {
      throw inProtocol(error, client.clientId, logger);
    }
  };
}

function usedBefore(): AssertionRefused {
  return new AssertionRefused('it was used before');
}

function grantedScopes(asserted: readonly Scope[], asked: string | undefined): readonly Scope[] {
  const granted = knownScopes(asserted.join(' '));
  const wanted = asked === undefined ? granted : knownScopes(asked);
  const both = granted.filter((scope) => wanted.includes(scope));
  if (both.length === 0) throw new errors.InvalidScope('the assertion gives none of these scopes', asked ?? '');
  return both;
}

/** The client's error: a refusal carries no reason, except our own messages about the person. */
function inProtocol(error: unknown, clientId: string, logger: Logger): unknown {
  if (error instanceof errors.OIDCProviderError) return error;
  if (error instanceof AssertionRefused) {
    logger.info({ clientId, reason: error.message, error: error.cause }, 'An ID-JAG was refused.');
    return new errors.InvalidGrant(error.message);
  }
  if (error instanceof SightlineError && error.code === 'forbidden') {
    logger.info({ clientId, reason: error.message }, 'The person of an ID-JAG is not let in.');
    const refused = new errors.InvalidGrant(error.message);
    refused.error_description = error.message;
    return refused;
  }
  logger.error({ clientId, error }, 'An ID-JAG cannot be judged.');
  const what = error instanceof KeysOutOfReach ? 'the keys of the identity provider' : 'the account';
  return temporarily(`${what} cannot be looked up at the moment`, 503, error);
}

/** A client may show assertions if it can prove that it is the one they are made for. */
export function withAssertionGrant<Metadata extends { token_endpoint_auth_method: string }>(
  client: Metadata & { grant_types: readonly string[] },
): Metadata & { grant_types: readonly string[] } {
  if (client.token_endpoint_auth_method === 'none') return client;
  return { ...client, grant_types: [...client.grant_types, assertionGrant] };
}

/** Seconds that an assertion may have before it. Providers give minutes; a copy of one is remembered for as long. */
const longestLife = 3600;
const clockToleranceSeconds = 5;

/** The assertion is no good. The message is for the log. */
class AssertionRefused extends Error {}

interface Assertion {
  readonly claims: ExternalTokenClaims;
  readonly issuer: string;
  readonly id: string;
  /** Until when a copy would be taken. */
  readonly expiresAt: Date;
}

interface AssertionOptions extends Pick<IssuerHost, 'resource' | 'now'> {
  readonly trusts: readonly AssertionTrust[];
  /** We are its audience. */
  readonly issuer: string;
}

const oneText = z.union([z.string(), z.tuple([z.string()]).transform(([only]) => only)]);

const payloadSchema = z.object({
  jti: z.string().min(1),
  exp: z.number(),
  // One that means others, too, could be shown there by us.
  aud: oneText,
  client_id: z.string(),
  resource: oneText,
});

/**
 * Reads an ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant §4.3): signed by a provider that is trusted, made for
 * us, for the MCP endpoint and for the client that shows it. Replay is the caller's. Rejects with `AssertionRefused`, or
 * `KeysOutOfReach`.
 */
function createAssertionCheck({ trusts, issuer, resource, now }: AssertionOptions) {
  const trusted = new Map(trusts.map((trust) => [trust.issuer, trust]));

  async function verify(text: string, trust: AssertionTrust): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(text, guardKeySet(trust.keys), {
        issuer: trust.issuer,
        audience: issuer,
        algorithms: [...trust.algorithms],
        typ: 'oauth-id-jag+jwt',
        requiredClaims: ['sub', 'exp', 'jti'],
        // Also asks for `iat`, and that it is not in the future.
        maxTokenAge: longestLife,
        clockTolerance: clockToleranceSeconds,
        currentDate: now(),
      });
      return payload;
    } catch (cause) {
      if (cause instanceof KeysOutOfReach) throw cause;
      // Without the cause, which holds all that the assertion says of the person.
      throw new AssertionRefused(`its signature or its time is not good: ${reasonOf(cause)}`);
    }
  }

  return async (text: string, clientId: string): Promise<Assertion> => {
    const trust = trusted.get(readUnchecked(text)?.iss ?? '');
    if (!trust) throw new AssertionRefused('nobody trusts its issuer here');
    const payload = await verify(text, trust);
    const read = payloadSchema.safeParse(payload);
    if (!read.success) throw new AssertionRefused('a claim is missing or not of its type', { cause: read.error });
    const { jti, exp, aud, client_id: client, resource: asked } = read.data;
    if (aud !== issuer) throw new AssertionRefused('it is for another authorization server');
    if (client !== clientId) throw new AssertionRefused('it is for another client');
    if (!isOurResource(asked, resource)) throw new AssertionRefused('it is for another resource');
    if (exp > now().getTime() / 1000 + longestLife) throw new AssertionRefused('it lives too long');
    const claims = trust.claims(payload);
    if (claims?.kind !== 'external') throw new AssertionRefused('it says too little about the person');
    const expiresAt = new Date((exp + 2 * clockToleranceSeconds) * 1000);
    return { claims, issuer: trust.issuer, id: jti, expiresAt };
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof joseErrors.JWTClaimValidationFailed) return `${error.code} ${error.claim}`;
  return error instanceof joseErrors.JOSEError ? error.code : 'unknown';
}

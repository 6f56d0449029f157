import { errors as joseErrors, jwtVerify, type JWTPayload } from 'jose';
import { z } from 'zod';
import type { IssuerHost } from '../../../contract/core/index.ts';
import type { AssertionTrust, ExternalTokenClaims } from '../../../contract/issuer/index.ts';
import { guardKeySet, KeysOutOfReach, readUnchecked } from '../../verify/key-sets.ts';
import { isOurResource } from '../scopes.ts';

/** Seconds that an assertion may have before it. Providers give minutes; a copy of one is remembered for as long. */
const longestLife = 3600;
const clockToleranceSeconds = 5;

/** The assertion is no good. The message is for the log. */
export class AssertionRefused extends Error {}

export interface Assertion {
  readonly claims: ExternalTokenClaims;
  readonly issuer: string;
  readonly id: string;
  /** Until when a copy would be taken. */
  readonly expiresAt: Date;
}

export interface AssertionOptions extends Pick<IssuerHost, 'resource' | 'now'> {
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
export function createAssertionCheck({ trusts, issuer, resource, now }: AssertionOptions) {
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

import type { JWTPayload } from 'jose';
import { z } from 'zod';
import type { TokenClaims, TokenIntrospection } from '../../contract/issuer/index.ts';
import { SightlineError, type IssuerHost, bodyWithin } from '../../contract/core/index.ts';

/** `aud` must be `resource` where the issuer says no other. */
interface IntrospectionOptions extends Pick<IssuerHost, 'resource' | 'now'> {
  readonly introspection: TokenIntrospection;
  readonly clockToleranceSeconds: number;
}

/** RFC 7662. Rejects with `invalid_token`, or with `unavailable` where nothing can be known about the token now. */
type Introspect = (token: string) => Promise<{
  readonly claims: TokenClaims;
  /** Epoch milliseconds until which the answer is believed: revocation is learnt of no sooner. */
  readonly expiresAt: number;
}>;

const believedMs = 30_000;
const retryAfterSeconds = 5;
const timeoutMs = 5_000;
const maxBytes = 64 * 1024;
/** Concurrent introspection calls: random tokens must not flood the issuer. */
const maxQuestions = 64;

const answerSchema = z.looseObject({ active: z.boolean() });
/** RFC 7662 §2.2 leaves all optional; without them a token would have no end, or be for anybody. */
const activeSchema = z.looseObject({
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number(),
  nbf: z.number().optional(),
});

export function createIntrospection(options: IntrospectionOptions): Introspect {
  const { introspection, now, clockToleranceSeconds } = options;
  const audiences = introspection.audiences ?? [options.resource];
  let questions = 0;

  async function ask(token: string): Promise<z.output<typeof answerSchema>> {
    if (questions >= maxQuestions) throw new Error('too many tokens are being asked about');
    questions += 1;
    try {
      const response = await fetch(introspection.endpoint, {
        method: 'POST',
        headers: { authorization: introspection.authorization, accept: 'application/json' },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
        // A redirect would carry our credentials elsewhere.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Error(`the introspection endpoint answered ${response.status}`);
      }
      const body = await bodyWithin(response, maxBytes);
      if (body === undefined) throw new Error('the introspection endpoint answered too much');
      return answerSchema.parse(JSON.parse(body.toString('utf8')));
    } finally {
      questions -= 1;
    }
  }

  return async (token) => {
    const answer = await ask(token).catch((cause: unknown) => {
      throw new SightlineError('unavailable', 'The token cannot be checked now.', { retryAfterSeconds, cause });
    });
    if (!answer.active) throw invalid('The access token is not valid.');
    const { data } = activeSchema.safeParse(answer);
    if (data === undefined) throw invalid('The access token lacks a claim.');
    const { iss, aud, exp, nbf } = data;
    const time = now().getTime();
    const seconds = time / 1_000;
    if (exp + clockToleranceSeconds <= seconds) throw invalid('The access token has expired.');
    if (nbf !== undefined && nbf - clockToleranceSeconds > seconds) throw invalid('The access token is not valid.');
    if (iss !== undefined && iss !== introspection.issuer) throw invalid('The access token is not valid.');
    if (![aud].flat().some((audience) => audience !== undefined && audiences.includes(audience))) {
      throw invalid('The access token is for another audience.');
    }
    const claims = introspection.claims(payloadOf(data));
    if (claims === undefined) throw invalid('The access token lacks a claim, or is a token of another kind.');
    return { claims, expiresAt: Math.min((exp + clockToleranceSeconds) * 1_000, time + believedMs) };
  };
}

/** `undefined` is not the same as absent to those who read claims. */
function payloadOf({ iss, aud, nbf, ...rest }: z.output<typeof activeSchema>): JWTPayload {
  return {
    ...rest,
    ...(iss === undefined ? {} : { iss }),
    ...(aud === undefined ? {} : { aud }),
    ...(nbf === undefined ? {} : { nbf }),
  };
}

function invalid(message: string): SightlineError {
  return new SightlineError('invalid_token', message);
}

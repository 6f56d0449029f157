import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { errors } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { z } from 'zod';
import { hashSecret, SightlineError, type GrantId } from '../../contract/core/index.ts';
import {
  answeredParam,
  pagePaths,
  type AuthorizationAnswer,
  type AuthorizationRequest,
  type AuthorizationRequests,
  type Consent,
} from '../../contract/issuer/index.ts';
import type { ArtifactRepository } from '../../contract/storage/index.ts';
import { accountId } from './claims.ts';
import type { Clients } from './clients/index.ts';
import type { Reach } from './error-page.ts';
import type { GrantRecords } from './grant-records.ts';
import { lifetimes } from './metadata.ts';
import { knownScopes } from './scopes.ts';

/** The page that leads on to the client, and tells a person who comes again. */
export function answeredPage(issuer: string, uid: string): string {
  return `${issuer}${pagePaths.consent}/${uid}?${answeredParam}`;
}

interface ConsentOptions {
  readonly issuer: string;
  readonly provider: () => Provider;
  readonly grants: Pick<GrantRecords, 'begin' | 'end'>;
  /** The MCP endpoint. */
  readonly resource: string;
  readonly clients: Pick<Clients, 'describe' | 'markUsed'>;
  /** A function, since storage may open after construction. */
  readonly artifacts: () => ArtifactRepository;
  readonly reach: Reach;
  readonly now: () => Date;
}

const paramsSchema = z.object({ client_id: z.string(), redirect_uri: z.url(), scope: z.string() });

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
type Result = Parameters<Provider['interactionResult']>[2];

/** A request is found by the signed cookie of the browser that began it, and by the id in the path of the page. */
export function createAuthorizationRequests(options: ConsentOptions): AuthorizationRequests {
  const { issuer, grants, resource, clients, artifacts, reach, now } = options;

  async function interactionOf(request: IncomingMessage, response: ServerResponse): Promise<Interaction | undefined> {
    try {
      const interaction = await options.provider().interactionDetails(request, response);
      // Not only by the cookie, which a site beside ours can put in the place of another while the page is looked at.
      return interaction.uid === lastSegment(request.url ?? '') ? interaction : undefined;
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  }

  async function read(interaction: Interaction): Promise<AuthorizationRequest | undefined> {
    const { client_id: id, redirect_uri: redirectUri, scope } = paramsSchema.parse(interaction.params);
    const client = await clients.describe(id);
    const asked = client && { client, redirectOrigin: originOf(redirectUri), scopes: knownScopes(scope) };
    return asked && interaction.result ? { ...asked, answer: await answerOf(interaction) } : asked;
  }

  /** A code is shown until it is redeemed: shown to the client once more, it would be a replay, which ends the grant. */
  async function answerOf({ returnTo, result }: Interaction): Promise<AuthorizationAnswer> {
    const { searchParams } = new URL(returnTo);
    const allowed = result?.error === undefined && !searchParams.has('error');
    const code = searchParams.getAll('code').at(-1);
    const over = code !== undefined && (await options.provider().AuthorizationCode.find(code))?.isValid !== true;
    return over ? { allowed } : { allowed, location: returnTo };
  }

  async function open(request: IncomingMessage, response: ServerResponse) {
    const interaction = await interactionOf(request, response);
    const asked = interaction && (await read(interaction));
    if (!interaction || !asked) throw ended();
    return { interaction, asked };
  }

  async function keepGrant(id: GrantId, asked: AuthorizationRequest, consent: Consent): Promise<void> {
    const { Grant } = options.provider();
    const grant = new Grant({ accountId: accountId(consent), clientId: asked.client.id });
    grant.jti = id;
    grant.addResourceScope(resource, [...consent.scopes]);
    await grant.save();
  }

  /** Undefined where another answer, in whatever process, was first: the library would write this one over it. */
  async function finish(request: IncomingMessage, response: ServerResponse, { uid }: Interaction, result: Result) {
    const [model, id] = ['Answer', hashSecret(uid)] as const;
    const expiresAt = new Date(now().getTime() + lifetimes.Interaction * 1_000);
    await reach(artifacts().upsert({ model, id, payload: '{}', expiresAt }));
    if (!(await reach(artifacts().consume(model, id, now())))) return undefined;
    try {
      return await options.provider().interactionResult(request, response, result, { mergeWithLastSubmission: false });
    } catch (error) {
      await artifacts()
        .destroy(model, id)
        .catch(() => {});
      throw error;
    }
  }

  /** Where the first answer leads, once it is written: its process may have ended before that. */
  async function afterTheFirst(request: IncomingMessage, response: ServerResponse): Promise<string> {
    for (let tries = 0; tries < 20; tries += 1) {
      const interaction = await interactionOf(request, response);
      if (interaction?.result) return answeredPage(issuer, interaction.uid);
      await delay(50);
    }
    throw ended();
  }

  return {
    find: inOurWords(async (request, response) => {
      const interaction = await interactionOf(request, response);
      return interaction && read(interaction);
    }),
    approve: inOurWords(async (request, response, consent) => {
      const { interaction, asked } = await open(request, response);
      const granted = asked.scopes.filter((scope) => consent.scopes.includes(scope));
      if (granted.length === 0 || granted.length !== new Set(consent.scopes).size) {
        throw new SightlineError('invalid_argument', 'Choose some of what the application asks for, and nothing else.');
      }
      // A form sent twice, with whatever decision: the browser goes where the first answer sends it.
      if (interaction.result) return answeredPage(issuer, interaction.uid);
      const { client, redirectOrigin } = asked;
      const grantId = await grants.begin({ ...consent, scopes: granted, client, redirectOrigin });
      try {
        await keepGrant(grantId, asked, { ...consent, scopes: granted });
        await clients.markUsed(client.id);
        const result = { login: { accountId: accountId(consent) }, consent: { grantId } };
        const location = await finish(request, response, interaction, result);
        if (location !== undefined) return location;
        // A double click: the other one was faster.
        await grants.end(grantId);
        return await afterTheFirst(request, response);
      } catch (error) {
        // No code is issued, so the grant would be listed among the connected applications but never be usable.
        await grants.end(grantId).catch(() => {});
        throw error;
      }
    }),
    deny: inOurWords(async (request, response) => {
      const interaction = await interactionOf(request, response);
      if (!interaction) throw ended();
      if (interaction.result) return answeredPage(issuer, interaction.uid);
      const result = { error: 'access_denied', error_description: 'the person said no' };
      return (await finish(request, response, interaction, result)) ?? afterTheFirst(request, response);
    }),
  };
}

function lastSegment(url: string): string {
  const [path = ''] = url.split('?');
  return path.slice(path.lastIndexOf('/') + 1);
}

function ended(cause?: unknown): SightlineError {
  return new SightlineError('not_found', 'This request has ended.', {
    hint: 'Go back to the application that sent you here, and connect again if it still waits.',
    cause,
  });
}

/** Maps protocol errors, which are for clients, to messages for people: try again, or the request has expired. */
function inOurWords<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      if (error.statusCode < 500) throw ended(error);
      throw new SightlineError('unavailable', 'This request cannot be answered at the moment.', {
        retryAfterSeconds: 5,
        cause: error,
      });
    }
  };
}

/** An origin, or the scheme of an application's own. */
function originOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

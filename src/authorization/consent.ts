import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { z } from 'zod';
import { SightlineError } from '../contract/index.ts';
import type { AuthorizationRequest, AuthorizationRequests, Consent, GrantId } from '../contract/index.ts';
import { accountId } from './account.ts';
import type { Clients } from './clients/index.ts';
import type { GrantRecords } from './grant-records.ts';
import { knownScopes } from './scopes.ts';

export interface ConsentOptions {
  readonly provider: () => Provider;
  readonly grants: Pick<GrantRecords, 'begin'>;
  /** The MCP endpoint. */
  readonly resource: string;
  readonly clients: Pick<Clients, 'describe' | 'markUsed'>;
}

const paramsSchema = z.object({ client_id: z.string(), redirect_uri: z.url(), scope: z.string() });

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
type Result = Parameters<Provider['interactionResult']>[2];

/**
 * What waits for a person's word. A request is found by the cookie of the browser that began it, which the library signs
 * and binds to the consent page's own path.
 */
export function createAuthorizationRequests(options: ConsentOptions): AuthorizationRequests {
  const { grants, resource, clients } = options;

  async function interactionOf(request: IncomingMessage, response: ServerResponse): Promise<Interaction | undefined> {
    try {
      return await options.provider().interactionDetails(request, response);
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  }

  async function read(interaction: Interaction): Promise<AuthorizationRequest | undefined> {
    const { client_id: id, redirect_uri: redirectUri, scope } = paramsSchema.parse(interaction.params);
    const client = await clients.describe(id);
    return client && { client, redirectOrigin: originOf(redirectUri), scopes: knownScopes(scope) };
  }

  async function open(request: IncomingMessage, response: ServerResponse) {
    const interaction = await interactionOf(request, response);
    const asked = interaction && (await read(interaction));
    if (!interaction || !asked) throw new SightlineError('not_found', 'This request has ended.');
    return { interaction, asked };
  }

  async function keepGrant(asked: AuthorizationRequest, consent: Consent): Promise<GrantId> {
    const id = await grants.begin({ ...consent, client: asked.client, redirectOrigin: asked.redirectOrigin });
    const { Grant } = options.provider();
    const grant = new Grant({ accountId: accountId(consent), clientId: asked.client.id });
    grant.jti = id;
    grant.addResourceScope(resource, [...consent.scopes]);
    await grant.save();
    return id;
  }

  const finish = (request: IncomingMessage, response: ServerResponse, result: Result) =>
    options.provider().interactionResult(request, response, result, { mergeWithLastSubmission: false });

  return {
    async find(request, response) {
      const interaction = await interactionOf(request, response);
      return interaction && interaction.result === undefined ? read(interaction) : undefined;
    },
    async approve(request, response, consent) {
      const { interaction, asked } = await open(request, response);
      const granted = asked.scopes.filter((scope) => consent.scopes.includes(scope));
      if (granted.length === 0 || granted.length !== new Set(consent.scopes).size) {
        throw new SightlineError('invalid_argument', 'Choose some of what the application asks for, and nothing else.');
      }
      const account = accountId(consent);
      if (interaction.result) {
        // A form sent twice: the browser goes where the first answer sends it.
        if (interaction.result.login?.accountId === account) return interaction.returnTo;
        throw new SightlineError('not_found', 'This request has ended.');
      }
      const grantId = await keepGrant(asked, { ...consent, scopes: granted });
      await clients.markUsed(asked.client.id);
      return finish(request, response, { login: { accountId: account }, consent: { grantId } });
    },
    async deny(request, response) {
      const { interaction } = await open(request, response);
      if (interaction.result) throw new SightlineError('not_found', 'This request has ended.');
      return finish(request, response, { error: 'access_denied', error_description: 'the person said no' });
    },
  };
}

/** What a page's CSP can name: an origin, or the scheme of an application's own. */
function originOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

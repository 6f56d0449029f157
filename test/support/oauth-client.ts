import { randomUUID } from 'node:crypto';
import type { OAuthClientProvider as ProviderV2, OAuthDiscoveryState } from '@modelcontextprotocol/client';
import type { OAuthClientProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { z } from 'zod';

const tokensShape = z.looseObject({ access_token: z.string(), token_type: z.string() });
type Tokens = z.output<typeof tokensShape> & { readonly refresh_token?: string; readonly scope?: string };
type Information = { readonly client_id: string; readonly client_secret?: string | undefined };

export interface MemoryClientOptions {
  readonly redirectUrl: string;
  /** Known beforehand; else the client registers itself. */
  readonly information?: Information;
  /** Address of its metadata document, which is then its id. */
  readonly metadataUrl?: string;
  readonly scope?: string;
}

/** What an MCP client keeps about its authorization, for both official SDKs; instead of a browser it remembers where to go. */
export class MemoryClient implements ProviderV1, ProviderV2 {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata;
  readonly asked: URL[] = [];
  kept: Tokens | undefined;
  #information: Information | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  #verifier = '';

  constructor({ redirectUrl, information, metadataUrl, scope }: MemoryClientOptions) {
    this.redirectUrl = redirectUrl;
    this.#information = information;
    if (metadataUrl !== undefined) this.clientMetadataUrl = metadataUrl;
    this.clientMetadata = {
      client_name: 'Test client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    return randomUUID();
  }

  clientInformation(): Information | undefined {
    return this.#information;
  }

  saveClientInformation(information: Information): void {
    this.#information = information;
  }

  tokens(): Tokens | undefined {
    return this.kept;
  }

  saveTokens(tokens: Tokens): void {
    this.kept = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.asked.push(url);
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  /** Where the browser was to be sent last. */
  get destination(): URL {
    const last = this.asked.at(-1);
    if (last === undefined) throw new Error('the client has not asked for a browser');
    return last;
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { flag, wholeNumber } from '../core/json.ts';
import type { Scope } from './scopes.ts';
import type { TokenTrust } from './tokens.ts';
import type { OrganizationId, UserId } from '../core/ids.ts';
import type { Component } from '../core/component.ts';

/** Which OAuth clients may ask people for access. */
export const clientsSchema = z
  .strictObject({
    metadataDocuments: z
      .strictObject({
        enabled: z
          .union([flag, z.literal('auto')])
          .default('auto')
          .describe('auto accepts them, and advertises them if the gateway can fetch them or registration is off'),
        allowedHosts: z
          .array(z.string().min(1))
          .optional()
          .describe('Hosts from which documents are fetched; any public host by default'),
        pinned: z
          .array(z.looseObject({ client_id: z.url({ protocol: /^https$/ }).describe('URL of the document') }))
          .default([])
          .describe('Complete documents, which are used as given and never fetched'),
      })
      .prefault({})
      .describe('Client ID Metadata Documents, whose client id is a URL'),
    registration: z
      .strictObject({
        enabled: flag.default(true).describe('Whether clients may register themselves'),
        unusedClients: wholeNumber(1, 100_000)
          .default(10_000)
          .describe(
            'Largest number of unused registrations; beyond it the oldest are removed once they are 15 minutes old. Used ones are never removed',
          ),
      })
      .prefault({})
      .describe('Dynamic client registration (RFC 7591)'),
    registered: z
      .array(
        z.strictObject({
          clientId: z
            .string()
            .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 of A-Z a-z 0-9 _ -')
            .describe('Id of the client'),
          clientName: z.string().min(1).max(100).describe('Name on the consent page'),
          redirectUris: z.array(z.string().min(1)).min(1).describe('Redirect URIs of the client'),
          clientSecret: z
            .string()
            .min(32)
            .optional()
            .describe('Secret of the client; without one the client is public'),
        }),
      )
      .default([])
      .describe('Clients that are registered here'),
  })
  .prefault({});

/** What is configured of our own authorization server, whichever issuer plugin runs it. */
export const authorizationServerSchema = z.strictObject({
  signingKeyDays: wholeNumber(1, 365).default(30).describe('Days after which the signing key is rotated'),
  clients: clientsSchema,
});

export type AuthorizationServerConfig = z.output<typeof authorizationServerSchema>;

export interface AuthorizationServerOptions extends AuthorizationServerConfig {
  /** Whether people may authorize clients here, or only API keys are exchanged. */
  readonly people: boolean;
  /** Identity providers whose ID-JAG assertions are taken for tokens (enterprise-managed authorization). */
  readonly assertions?: readonly AssertionTrust[];
}

/** `claims` makes an `external` of an assertion's payload. The server checks the rest: type, audience, resource, client, replay. */
export type AssertionTrust = Pick<TokenTrust, 'issuer' | 'algorithms' | 'keys' | 'claims'>;

/** OAuth 2.1 as the host runs it for an issuer plugin. */
export interface AuthorizationServer extends Component {
  readonly trust: TokenTrust;
  readonly issuer: string;
  handle(request: IncomingMessage, response: ServerResponse, address?: string): boolean;
  readonly authorizationRequests: AuthorizationRequests;
}

/** An OAuth client's wish for access that waits for a person. */
export interface AuthorizationRequest {
  readonly client: AuthorizationClient;
  /** Of the redirect: `https://example.com`, `http://127.0.0.1:4711`, `cursor:`. */
  readonly redirectOrigin: string;
  /** In the order of the contract. */
  readonly scopes: readonly Scope[];
  /** Once a person has decided. */
  readonly answer?: AuthorizationAnswer;
}

export interface AuthorizationAnswer {
  readonly allowed: boolean;
  /** Where the browser takes it; absent once the client has had it, or it is too late. */
  readonly location?: string;
}

export interface AuthorizationClient {
  readonly id: string;
  readonly name: string;
  /** How it is known: by a document at its own https address, by having registered itself, or by the configuration. */
  readonly known: 'document' | 'registration' | 'configuration';
  /** Of the document. */
  readonly host?: string;
}

/** Bound to the browser that began: another's request is not found. */
export interface AuthorizationRequests {
  find(request: IncomingMessage, response: ServerResponse): Promise<AuthorizationRequest | undefined>;
  /** Keeps the grant and answers where the browser goes next, which is here. `not_found` when the request has ended. */
  approve(request: IncomingMessage, response: ServerResponse, consent: Consent): Promise<string>;
  deny(request: IncomingMessage, response: ServerResponse): Promise<string>;
}

export interface Consent {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
  /** Some of those asked for; at least one. */
  readonly scopes: readonly Scope[];
  /** Where it was allowed, for people: `Firefox on Linux, 192.0.2.7`. */
  readonly machine: string;
}

/** Where our pages stand, below authUrl. */
export const pagePaths = {
  /** With the request's id behind it. */
  consent: '/consent',
  signIn: '/sign-in',
  /** Where an identity provider sends the browser back to. */
  signInCallback: '/sign-in/callback',
} as const;

/** Where identity providers provision people, below publicUrl. */
export const scimPath = '/scim/v2';

/** In the query of a consent page: the browser comes from the answer and goes on to the client by itself. */
export const answeredParam = 'answered';

import type { IncomingMessage } from 'node:http';
import type { AlertSources } from '../incidents/alerts/sources.ts';
import type { ApiKeys } from '../identity/verify/api-keys.ts';
import type { RulesOf } from '../identity/scim/provisioning.ts';
import type { ScimTokens } from '../identity/verify/scim-tokens.ts';
import type { IngestTokens } from '../identity/verify/ingest-tokens.ts';
import type { Client } from './client-setup/client.ts';
import type { ChatId, IssuerHost, OrganizationId } from '../contract/core/index.ts';
import type { AuthorizationRequests, SignIn } from '../contract/issuer/index.ts';
import type { Actor, Chat, Workspace } from '../contract/storage/index.ts';
import type { Organizations } from '../identity/people/organizations.ts';
import type { People } from '../identity/people/people.ts';

/** What the pages show and change, and nothing more. */
export interface PageServices extends Pick<
  IssuerHost,
  'storage' | 'authUrl' | 'resource' | 'vault' | 'logger' | 'now'
> {
  readonly people: People;
  readonly organizations: Pick<Organizations, 'remove' | 'restore'>;
  readonly keys: ApiKeys;
  readonly signIn: SignIn;
  /** Absent where people consent elsewhere. */
  readonly authorizationRequests?: AuthorizationRequests | undefined;
  /** How telemetry is sent; `not_found`, with a sentence for the person, where none can be. */
  readonly ingest: (organizationId: OrganizationId) => Promise<IngestDescription>;
  /** When telemetry last came in, and what was refused in the last hour; with what had no valid token, if nobody else sends here. */
  readonly ingestActivity: (organizationId: OrganizationId) => Promise<IngestActivity>;
  /** Absent where telemetry goes through a company's own collector, or none can be sent. */
  readonly ingestTokens?: Pick<IngestTokens, 'list' | 'rotate' | 'revoke'> | undefined;
  readonly scim: {
    readonly tokens: Omit<ScimTokens, 'authenticate'>;
    /** Undefined where no operator has switched it on for the organization. */
    readonly rulesOf: RulesOf;
    /** What an identity provider is given. */
    readonly address: string;
  };
  readonly alertSources: Omit<AlertSources, 'secretOf'>;
  readonly clients: readonly Client[];
  /** Where API keys are exchanged; absent where the issuer is elsewhere. */
  readonly tokenUrl?: string | undefined;
  /** The agent's name, written on what chats queue. */
  readonly engine: string;
  /** Tells the investigation worker that there is work. */
  readonly wake: () => void;
  /** Ends the agent's work in a chat, on whichever gateway it runs. */
  readonly cancelChat: (workspace: Workspace, id: ChatId, actor: Actor) => Promise<Chat>;
  /** False while the gateway stops: what waits for news ends. */
  readonly serving: () => boolean;
  /** The caller's network address, as `trustProxy` says. */
  readonly clientAddress: (request: IncomingMessage) => string | undefined;
  readonly requestId: () => string;
}

export interface IngestActivity {
  readonly arrival?: { readonly at: Date; readonly service: string } | undefined;
  readonly refusals: readonly {
    readonly reason: string;
    readonly userAgent: string;
    readonly count: number;
    readonly last: Date;
  }[];
  /** Why what was sent can be queried later than usual. */
  readonly crowded?: string | undefined;
}

export interface IngestDescription {
  /** Base URL without `/v1/…`. */
  readonly endpoint: string;
  readonly protocol: string;
  readonly grpc_endpoint?: string;
  readonly token: string;
  readonly signals: Readonly<Record<'traces' | 'metrics' | 'logs', string>>;
  /** OTEL_*. */
  readonly env: Readonly<Record<string, string>>;
  readonly collector_yaml: string;
  readonly setups: Readonly<Record<string, string>>;
}

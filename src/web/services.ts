import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AlertSources } from '../incidents/alerts/sources.ts';
import type { ApiKeys } from '../identity/verify/api-keys.ts';
import type { RulesOf } from '../identity/scim/provisioning.ts';
import type { ScimTokens } from '../identity/verify/scim-tokens.ts';
import type { IngestTokens } from '../identity/verify/ingest-tokens.ts';
import type { Client } from './client-setup/client.ts';
import type { ChatId, ErrorCode, IssuerHost, OrganizationId } from '../contract/core/index.ts';
import type { AuthorizationRequests, Role, SignIn } from '../contract/issuer/index.ts';
import type { Actor, Chat, Organization, User, Workspace } from '../contract/storage/index.ts';
import type { Dialect } from '../contract/telemetry/index.ts';
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
  readonly ingestActivity: (organizationId: OrganizationId, role: Role) => Promise<IngestActivity>;
  readonly telemetry: TelemetryQueries;
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

/** The telemetry as `query_otel` shows it to the person at the page: under its limits, rules and audit. */
export interface TelemetryQueries {
  readonly dialect: Pick<Dialect, 'name' | 'version' | 'tables' | 'attributeHint' | 'examples' | 'typeName' | 'write'>;
  /** Sends the arguments as they are; the tool judges them. Rejects with ClientGone where nobody waits any more. */
  readonly run: (asker: Asker, sent: Readonly<Record<string, string>>) => Promise<QueryAnswer>;
}

/** Who looks at a page, and the response by whose end the statement is cancelled. */
export interface Asker {
  readonly user: Pick<User, 'id' | 'email'>;
  readonly organization: Pick<Organization, 'id'>;
  readonly role: Role;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export type QueryAnswer =
  | { readonly ok: true; readonly result: QueryResult }
  | { readonly ok: false; readonly failure: QueryFailure };

export interface QueryResult {
  readonly row_count: number;
  readonly truncation?: { readonly reason: string; readonly returned: number; readonly hint: string } | undefined;
  /** With which the rest can be read. */
  readonly result_id?: string | undefined;
  readonly warnings: readonly string[];
  readonly window?: { readonly start?: string | undefined; readonly end?: string | undefined } | undefined;
  readonly elapsed_ms: number;
  readonly columns: readonly QueryColumn[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface QueryColumn {
  readonly name: string;
  readonly type: string;
  readonly untrusted?: true | undefined;
}

export interface QueryFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Arguments that can be sent as they are. */
  readonly retry?: Readonly<Record<string, unknown>> | undefined;
  readonly request_id?: string | undefined;
}

export interface IngestActivity {
  readonly arrival?:
    | {
        readonly at: Date;
        /** Undefined where the person may not read it. */
        readonly service?: string | undefined;
        /** From there until it could be queried, the last time; undefined where none was measured. */
        readonly lagMs?: number | undefined;
      }
    | undefined;
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

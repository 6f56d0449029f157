import { operator } from '../../issuer/support.ts';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createAlertSources } from '../../../src/incidents/alerts/sources.ts';
import { describeIngest, ingestSource } from '../../../src/gateway/wiring/ingest-source.ts';
import { issuerHost } from '../../../src/gateway/wiring/plugins.ts';
import { createPeople } from '../../../src/identity/people/create-people.ts';
import { createOrganizations } from '../../../src/identity/people/organizations.ts';
import { createApiKeys } from '../../../src/identity/verify/api-keys.ts';
import { createProvisioning, type RulesOf } from '../../../src/identity/scim/provisioning.ts';
import { createScimRoutes } from '../../../src/identity/scim/routes.ts';
import { createScimTokens, type ScimTokens } from '../../../src/identity/verify/scim-tokens.ts';
import { createIngestTokens } from '../../../src/identity/verify/ingest-tokens.ts';
import { silentLogger, testHost } from '../../contract/host.ts';
import type { Logger } from '../../../src/contract/core/index.ts';
import {
  scimPath,
  type AuthorizationRequests,
  type Issuer,
  type Role,
  type SignIn,
} from '../../../src/contract/issuer/index.ts';
import type { Organization, Storage, User } from '../../../src/contract/storage/index.ts';
import { createSiteApp } from '../../support/http-app.ts';
import { clientAddress } from '../../../src/gateway/http/security.ts';
import { cancelChat } from '../../../src/incidents/investigation/worker.ts';
import { createPasswords } from '../../../src/identity/people/passwords.ts';
import type { People } from '../../../src/identity/people/people.ts';
import { createPages } from '../../../src/web/pages.ts';
import type { PageServices } from '../../../src/web/services.ts';
import { dialect } from '../../../plugins/telemetry-duckdb/dialect.ts';
import genericAlerts from '../../../plugins/alerts-generic/index.ts';
import issuerPlugin from '../../../plugins/issuer-builtin/index.ts';
import storagePlugin from '../../../plugins/storage-knex/index.ts';
import { removeDirectory, temporaryDirectory } from '../../support/gateway.ts';
import { listen } from '../../support/listen.ts';
import { counted } from './counted.ts';
import { TestBrowser } from './test-browser.ts';
import { recorded } from '../../support/recorded.ts';

export const password = 'correct horse battery staple';

/** An OAuth client that the configuration knows. */
export const desktop = { clientId: 'desktop', clientName: 'Desktop', redirectUris: ['http://127.0.0.1/callback'] };

export interface SiteOptions {
  /** Absent: the address listened on. */
  readonly authUrl?: string;
  readonly signIn?: SignIn;
  readonly authorizationRequests?: AuthorizationRequests;
  /** More than the pages of signing in need. */
  readonly services?: (made: Pick<PageServices, 'storage' | 'vault' | 'authUrl' | 'now'>) => Partial<PageServices>;
}

/** The pages over HTTP, with everything real beneath them but the telemetry. */
export interface Site {
  readonly authUrl: string;
  /** `host:port` it listens at. */
  readonly address: string;
  readonly storage: Storage;
  readonly people: People;
  readonly scimTokens: ScimTokens;
  readonly issuer: Issuer;
  /** Milliseconds that the pages' clock is ahead. */
  ahead: number;
  /** Everything that was logged, as JSON. */
  readonly log: string[];
  /** Calls of storage since the last time this was asked. */
  calls(): number;
  browser(): TestBrowser;
  /** Another instance over the same storage. */
  another(): Promise<Site>;
  organization(name: string): Promise<Organization>;
  /** With the password above. */
  person(email: string, memberships?: readonly (readonly [Organization, Role])[]): Promise<User>;
  close(): Promise<void>;
}

export async function openSite(options: SiteOptions = {}): Promise<Site> {
  const directory = await temporaryDirectory();
  const log: string[] = [];
  const logger = keepingLogger(log);
  const host = testHost(directory, { logger });
  const storage = storagePlugin.create(storagePlugin.configSchema.parse({}), host);
  await storage.start(AbortSignal.timeout(30_000));
  await storage.migrate();
  const closed = async () => {
    await storage.stop();
    await removeDirectory(directory);
  };
  return serve(storage, { ...options, vault: host.vault, directory, log, logger }, closed);
}

type Served = SiteOptions & {
  readonly vault: ReturnType<typeof testHost>['vault'];
  readonly directory: string;
  readonly log: string[];
  readonly logger: Logger;
};

async function serve(storage: Storage, served: Served, closed?: () => Promise<void>): Promise<Site> {
  const { vault, directory, log, logger } = served;
  const server: Server = createServer((request, response) => app(request, response));
  const port = await listen(server);
  const address = `127.0.0.1:${port}`;
  const authUrl = served.authUrl ?? `http://${address}`;
  const clock = { ahead: 0 };
  const now = () => new Date(Date.now() + clock.ahead);
  let calls = 0;
  const watched = counted(storage, () => (calls += 1));
  const people = createPeople({ storage: watched, logger, now, passwords: createPasswords({ logN: 10 }) });
  const ingestTokens = createIngestTokens({ storage: watched, vault, now });
  const organizations = createOrganizations({ storage: watched, ingestTokens, now, graceDays: () => 30 });
  const ingest = ingestSource(ingestTokens, authUrl);
  const host = testHost(directory, { logger, now, vault, publicUrl: authUrl, authUrl });
  const resource = `${authUrl}/mcp`;
  const config = issuerPlugin.configSchema.parse({ clients: { registered: [desktop] } });
  const issuer = issuerPlugin.create(config, issuerHost(host, recorded(storage), resource));
  await issuer.start(AbortSignal.timeout(30_000));
  const scimTokens = createScimTokens({ storage: watched, now, logger });
  const base = `${authUrl}${scimPath}`;
  const provisioning = createProvisioning({ storage: watched, now, base, rulesOf });
  const scim = createScimRoutes({ tokens: scimTokens, provisioning, base, requestId: randomUUID, now, logger });
  const pages = createPages({
    people,
    organizations,
    storage: watched,
    keys: createApiKeys({ storage: watched, now }),
    signIn: served.signIn ?? issuer.signIn,
    authorizationRequests: served.authorizationRequests ?? issuer.authorizationRequests,
    ingest: async (organizationId) => describeIngest(await ingest.config(organizationId)),
    ingestActivity: async () => ({
      arrival: { at: now(), service: 'cart', lagMs: 1_234 },
      refusals: [{ reason: 'The body is not gzip.', userAgent: 'sdk<1>', count: 3, last: now() }],
    }),
    telemetry: {
      dialect,
      run: async () => ({
        ok: false,
        failure: { code: 'telemetry_unavailable', message: 'There is no warehouse here.' },
      }),
    },
    scim: { tokens: scimTokens, rulesOf, address: base },
    serving: () => true,
    alertSources: createAlertSources({
      storage: watched,
      vault,
      inputs: new Map([['generic', genericAlerts.create({ mappings: [] }, host)]]),
      publicUrl: authUrl,
      now,
    }),
    clients: [],
    authUrl,
    resource,
    tokenUrl: `${authUrl}/oauth2/token`,
    engine: 'none',
    wake: () => undefined,
    cancelChat: (workspace, id, actor) => cancelChat(workspace, id, actor, silentLogger),
    vault,
    clientAddress: (request) => clientAddress(request, false),
    requestId: randomUUID,
    logger,
    now,
    ...served.services?.({ storage: watched, vault, authUrl, now }),
  });
  const app = createSiteApp({
    issuer,
    pages,
    scim,
    authUrl,
    resource,
    allowedHosts: [address, `localhost:${port}`, new URL(authUrl).host],
    logger,
  });

  return {
    authUrl,
    address,
    storage,
    people,
    scimTokens,
    issuer,
    log,
    get ahead() {
      return clock.ahead;
    },
    set ahead(ms) {
      clock.ahead = ms;
    },
    calls() {
      const made = calls;
      calls = 0;
      return made;
    },
    browser: () => new TestBrowser(address, authUrl),
    another: () => serve(storage, served),
    organization: (name) => organizations.create(name),
    async person(email, memberships = []) {
      const user = await storage.directory.createUser({ email, name: email.split('@')[0] ?? email });
      for (const [{ id }, role] of memberships) await storage.workspace(id).members.add(user.id, role);
      const { token } = await people.createPasswordLink(user.id, operator);
      return people.setPasswordByLink(token, password);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await issuer.stop();
      await closed?.();
    },
  };
}

/** Each organization has a domain by its name, and one that all share; one that is called otherwise is not provisioned. */
const rulesOf: RulesOf = ({ name }) =>
  name === 'Unprovisioned'
    ? undefined
    : { emailDomains: [`${name.toLowerCase()}.example`, 'shared.example'], adminGroups: ['Sightline Admins'] };

function keepingLogger(log: string[]): Logger {
  const keep = (fields: object, message: string) => {
    const text = JSON.stringify({ ...fields, message }, (_key, value: unknown) =>
      value instanceof Error ? `${value.name}: ${value.message} ${value.stack}` : value,
    );
    log.push(text);
  };
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep, child: () => logger };
  return logger;
}

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  collectorSource,
  describeIngest,
  ingestSource,
  type Collector,
} from '../../../src/gateway/wiring/ingest-source.ts';
import { createIngestTokens } from '../../../src/identity/verify/ingest-tokens.ts';
import { createVerifier } from '../../../src/identity/verify/verifier.ts';
import { clients } from '../../../src/web/client-setup/index.ts';
import { silentLogger } from '../../contract/host.ts';
import { newId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { Issuer, Principal, Role } from '../../../src/contract/issuer/index.ts';
import type { Actor, Organization, User, Workspace } from '../../../src/contract/storage/index.ts';
import { openSite, password, type Site } from './site.ts';
import type { TestBrowser } from './test-browser.ts';

export const operator: Actor = { kind: 'operator', id: 'tester', name: 'Tester' };
export const engine = 'test';

/** Somebody signed in. */
export interface Colleague {
  readonly browser: TestBrowser;
  readonly user: User;
}

/** The pages with all they show: an organization with people in it, and another for whom nothing of it may be there. */
export interface Workplace {
  readonly site: Site;
  readonly organization: Organization;
  readonly workspace: Workspace;
  readonly elsewhere: Organization;
  /** How often the investigation worker was woken. */
  readonly woken: number;
  enter(role: Role, email: string, organization?: Organization): Promise<Colleague>;
  ingestToken(organizationId: OrganizationId): Promise<string | undefined>;
  /** Whom the endpoint takes the bearer for. */
  verify(token: string, issuer?: Pick<Issuer, 'trusts'>): Promise<Principal>;
  close(): Promise<void>;
}

/** @param collector a company's own, in place of our receiver. */
export async function openWorkplace({ collector }: { readonly collector?: Collector } = {}): Promise<Workplace> {
  let woken = 0;
  let tokens: ReturnType<typeof createIngestTokens> | undefined;
  const site = await openSite({
    services({ storage, vault, authUrl, now }) {
      const ingestTokens = createIngestTokens({ storage, vault, now });
      tokens = ingestTokens;
      const source = collector ? collectorSource(collector, storage.directory) : ingestSource(ingestTokens, authUrl);
      return {
        ingest: async (organizationId) => describeIngest(await source.config(organizationId)),
        ingestTokens: collector ? undefined : ingestTokens,
        clients,
        engine,
        wake: () => (woken += 1),
      };
    },
  });
  const { storage, people, authUrl, issuer } = site;
  const organization = await site.organization('Acme');
  const elsewhere = await site.organization('Globex');
  for (const { id } of [organization, elsewhere]) await tokens?.ensure(id);

  return {
    site,
    organization,
    elsewhere,
    workspace: storage.workspace(organization.id),
    get woken() {
      return woken;
    },
    async enter(role, email, of = organization) {
      const user = await site.person(email, [[of, role]]);
      const browser = site.browser();
      await browser.signIn(email, password);
      return { browser, user };
    },
    ingestToken: async (organizationId) => tokens?.current(organizationId),
    async verify(token, trusting = issuer) {
      const request = new IncomingMessage(new Socket());
      request.headers.authorization = `Bearer ${token}`;
      const verifier = createVerifier({
        issuer: trusting,
        resource: `${authUrl}/mcp`,
        directory: storage.directory,
        admit: (claims) => people.admit(claims),
        markUsed: () => undefined,
        now: () => new Date(),
        logger: silentLogger,
      });
      return verifier(request);
    },
    close: () => site.close(),
  };
}

/** Well written, and nobody's. */
export const nobodys = {
  key: newId('ak'),
  user: newId('usr'),
  invitation: newId('invt'),
  grant: newId('gra'),
  incident: newId('inc'),
  chat: newId('chat'),
} as const;

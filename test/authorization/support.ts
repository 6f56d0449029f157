import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Network } from '../../src/identity/issue/clients/document-fetch.ts';
import { type AuthorizationServerHost, createAuthorizationServer } from '../../src/identity/issue/server.ts';
import { silentLogger, testHost } from '../contract/host.ts';
import { SightlineError, type Logger, type OrganizationId } from '../../src/contract/core/index.ts';
import {
  authorizationServerSchema,
  type AuthorizationRequest,
  type AuthorizationRequests,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type Consent,
  type Scope,
} from '../../src/contract/issuer/index.ts';
import type { ArtifactRepository, Directory, Organization, Storage, User } from '../../src/contract/storage/index.ts';
import { form, listen, openStore, signal, testClock, type Clock, type TestStore } from '../issuer/support.ts';
import { recorded } from '../support/recorded.ts';

export { form } from '../issuer/support.ts';

export const desktop = { clientId: 'desktop', redirectUri: 'http://127.0.0.1/callback' } as const;
export const website = {
  clientId: 'website',
  clientSecret: 'website-secret-website-secret-website-secret',
  redirectUri: 'https://app.example/callback',
} as const;

const registered = [
  { clientId: desktop.clientId, clientName: 'Desktop', redirectUris: [desktop.redirectUri] },
  {
    clientId: website.clientId,
    clientName: 'Website',
    redirectUris: [website.redirectUri],
    clientSecret: website.clientSecret,
  },
];

/** An authorization server on an address, beside a consent page that answers and takes JSON. */
export interface TestAuthorization {
  readonly url: string;
  readonly server: AuthorizationServer;
  stop(): Promise<void>;
}

export interface World {
  readonly store: TestStore;
  readonly clock: Clock;
  readonly user: User;
  readonly organization: Organization;
  readonly servers: readonly TestAuthorization[];
  /** Of the first server, which is the issuer. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface WorldOptions extends Partial<Omit<AuthorizationServerOptions, 'clients' | 'signingKeyDays'>> {
  /** Default: offered, whether or not the machine of the test has a way out. */
  readonly metadataDocuments?: object;
  /** Instances over one storage, each at an address of its own. */
  readonly instances?: number;
  readonly logger?: Logger;
  readonly network?: Network;
  readonly admit?: AuthorizationServerHost['admit'];
  /** What people see, where a proxy stands before the servers. */
  readonly authUrl?: (url: string) => string;
  readonly storage?: (storage: Storage) => Storage;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { instances = 1, network, authUrl: seen = (url) => url, storage: wrap = (kept) => kept } = options;
  const clock = testClock();
  const store = await openStore(clock);
  const user = await addMember(store, store.organization.id, 'ada@example.com');
  const listening = await Promise.all(Array.from({ length: instances }, listen));
  const url = listening[0]?.url ?? '';
  const authUrl = seen(url);
  const servers = await Promise.all(
    listening.map(async (listener, index) => {
      const { logger = silentLogger, admit = nobody, assertions = [], people = true } = options;
      const { metadataDocuments = { enabled: true } } = options;
      const host = testHost(store.directory, { authUrl, vault: store.vault, now: clock.now, logger });
      const storage = index === 0 ? store.storage : await store.another();
      const server = createAuthorizationServer(
        { ...authorizationServerSchema.parse({ clients: { registered, metadataDocuments } }), people, assertions },
        { ...host, ...recorded(wrap(storage)), resource: `${authUrl}/mcp`, admit },
        network,
      );
      await server.start(signal());
      listener.serve(withConsentPage(server));
      const stop = async () => {
        await server.stop();
        await listener.close();
      };
      return { url: listener.url, server, stop };
    }),
  );
  return {
    store,
    clock,
    user,
    organization: store.organization,
    servers,
    url,
    async stop() {
      for (const server of servers) await server.stop();
      await store.close();
    },
  };
}

/** The real storage, but for how it keeps artifacts. */
export function withArtifacts(
  storage: Storage,
  change: (artifacts: ArtifactRepository) => Partial<ArtifactRepository>,
): Storage {
  return withDirectory(storage, ({ artifacts }) => ({ artifacts: overlay(artifacts, change(artifacts)) }));
}

/** The real storage, but for some of its directory. */
export function withDirectory(storage: Storage, change: (directory: Directory) => Partial<Directory>): Storage {
  return overlay(storage, {
    get directory() {
      const { directory } = storage;
      return overlay(directory, change(directory));
    },
  });
}

function overlay<Target extends object>(target: Target, changes: Partial<Target>): Target {
  return new Proxy(target, {
    get(_target, name) {
      if (name in changes) return Reflect.get(changes, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const nobody: AuthorizationServerHost['admit'] = async () => {
  throw new SightlineError('forbidden', 'Nobody is let in here.');
};

export async function addMember(store: TestStore, organizationId: OrganizationId, email: string): Promise<User> {
  const user =
    (await store.storage.directory.findUser(email)) ??
    (await store.storage.directory.createUser({ email, name: email }));
  await store.storage.workspace(organizationId).members.add(user.id, 'member');
  return user;
}

/** GET tells what waits, POST decides it as its JSON body says. What the web pages do, without their words. */
function withConsentPage(server: AuthorizationServer): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (server.handle(request, response)) return;
    if (!request.url?.includes('/consent/')) return void response.writeHead(404).end('elsewhere');
    decide(server.authorizationRequests, request, response).catch((error: unknown) => {
      const code = error instanceof SightlineError ? error.code : 'internal';
      response.writeHead(error instanceof SightlineError ? error.status : 500).end(JSON.stringify({ code }));
    });
  };
}

async function decide(
  requests: AuthorizationRequests,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'GET') {
    const found = await requests.find(request, response);
    response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? {}));
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const decision: { readonly consent?: Consent } = JSON.parse(Buffer.concat(chunks).toString());
  const location = decision.consent
    ? await requests.approve(request, response, decision.consent)
    : await requests.deny(request, response);
  response.writeHead(303, { location }).end();
}

/** Keeps cookies by path as a browser does, and follows nothing by itself. */
export class Browser {
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string; readonly header: string }>();

  async get(url: string): Promise<Response> {
    return this.#send(url, {});
  }

  async post(url: string, body: unknown): Promise<Response> {
    return this.#send(url, { method: 'POST', body: JSON.stringify(body) });
  }

  /** As they were set. */
  cookieHeaders(): readonly string[] {
    return [...this.#cookies.values()].map(({ header }) => header);
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    const { pathname } = new URL(url);
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(([key, { value }]) => `${key.slice(key.indexOf(' ') + 1)}=${value}`)
      .join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const header of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = header.split('; ');
      const name = pair.slice(0, pair.indexOf('='));
      const path = attributes.find((each) => each.startsWith('path='))?.slice(5) ?? '/';
      const ended = header.includes('expires=Thu, 01 Jan 1970');
      if (ended) this.#cookies.delete(`${path} ${name}`);
      else this.#cookies.set(`${path} ${name}`, { value: pair.slice(pair.indexOf('=') + 1), path, header });
    }
    return response;
  }
}

export function pkce(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export type Params = Readonly<Record<string, string | undefined>>;

/** The address a client sends a browser to. An undefined parameter is left out. */
export function authorizeUrl(url: string, challenge: string, params: Params = {}): string {
  const query = new URLSearchParams();
  const all: Params = {
    response_type: 'code',
    client_id: desktop.clientId,
    redirect_uri: desktop.redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'the-state',
    ...params,
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.append(name, value);
  return `${url}/oauth2/authorize?${query.toString()}`;
}

export function locationOf(response: Response): string {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`no redirect: ${response.status}`);
  return location;
}

/** What waits for a word at the consent page. */
export async function waiting(browser: Browser, page: string): Promise<AuthorizationRequest> {
  const response = await browser.get(page);
  if (response.status !== 200) throw new Error(`nothing waits: ${response.status}`);
  const found: AuthorizationRequest = JSON.parse(await response.text());
  return found;
}

/** Where the browser is taken once a person has decided. */
export async function callbackOf(browser: Browser, decided: Response): Promise<URL> {
  const { answer } = await waiting(browser, locationOf(await browser.get(locationOf(decided))));
  if (answer?.location === undefined) throw new Error('the answer goes nowhere');
  return new URL(answer.location);
}

export interface Approval {
  readonly user?: User;
  readonly organization?: Organization;
  readonly scopes?: readonly Scope[];
}

/** From the authorization request to the client's redirect, the person saying yes. */
export async function authorize(
  world: World,
  params: Params = {},
  { user = world.user, organization = world.organization, scopes }: Approval = {},
  browser = new Browser(),
): Promise<{
  readonly callback: URL;
  readonly verifier: string;
  readonly code: string;
  readonly browser: Browser;
  /** Where consent was asked. */
  readonly page: string;
}> {
  const { verifier, challenge } = pkce();
  const page = locationOf(await browser.get(authorizeUrl(world.url, challenge, params)));
  const asked = await waiting(browser, page);
  const consent = { userId: user.id, organizationId: organization.id, scopes: scopes ?? asked.scopes };
  const callback = await callbackOf(browser, await browser.post(page, { consent }));
  return { callback, verifier, code: callback.searchParams.get('code') ?? '', browser, page };
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
  readonly scope: string;
}

export function redeem(
  url: string,
  { code, verifier }: { readonly code: string; readonly verifier: string },
  extra: Record<string, string> = {},
): Promise<Response> {
  const fields = {
    grant_type: 'authorization_code',
    client_id: desktop.clientId,
    redirect_uri: desktop.redirectUri,
    code,
    code_verifier: verifier,
  };
  return fetch(`${url}/oauth2/token`, form({ ...fields, ...extra }));
}

export function refresh(url: string, token: string | undefined, extra: Record<string, string> = {}): Promise<Response> {
  const fields = { grant_type: 'refresh_token', client_id: desktop.clientId, refresh_token: token ?? '' };
  return fetch(`${url}/oauth2/token`, form({ ...fields, ...extra }));
}

/** The tokens of a good answer; throws with what a refused one says. */
export async function tokensOf(response: Response): Promise<Tokens> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`no tokens: ${response.status} ${text}`);
  const tokens: Tokens = JSON.parse(text);
  return tokens;
}

export async function signIn(world: World, params: Params = {}, approval: Approval = {}): Promise<Tokens> {
  return tokensOf(await redeem(world.url, await authorize(world, params, approval)));
}

export async function refusal(response: Response): Promise<{ readonly status: number; readonly error: string }> {
  const body: { error: string } = JSON.parse(await response.text());
  return { status: response.status, error: body.error };
}

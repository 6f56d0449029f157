import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import issuerPlugin from '../../plugins/issuer-builtin/index.ts';
import { issuerHost } from '../../src/gateway/wiring/plugins.ts';
import { createApiKeys, type ApiKeys } from '../../src/identity/verify/api-keys.ts';
import { testHost, testVault } from '../contract/host.ts';
import type { Logger, Vault } from '../../src/contract/core/index.ts';
import type { Issuer, Scope } from '../../src/contract/issuer/index.ts';
import type { Actor, AuditLog, Organization, Storage } from '../../src/contract/storage/index.ts';
import { emptyStore } from '../support/stores.ts';
import { recorded } from '../support/recorded.ts';

export const operator: Actor = { kind: 'operator', id: 'tester', name: 'Tester' };
export const signal = () => AbortSignal.timeout(20_000);

/** A clock that tests turn, starting at the real time since oidc-provider and jose look at that one. */
export interface Clock {
  readonly now: () => Date;
  advance(ms: number): void;
}

export function testClock(): Clock {
  let ahead = 0;
  return { now: () => new Date(Date.now() + ahead), advance: (ms) => (ahead += ms) };
}

/** A logger that keeps every line as text, to prove what is not in them. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (fields: object, message: string) => {
    const plain = (_key: string, value: unknown) =>
      value instanceof Error ? { ...Object.fromEntries(Object.entries(value)), text: inspect(value) } : value;
    lines.push(`${message} ${JSON.stringify(fields, plain)}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return { logger, lines };
}

export interface TestStore {
  readonly directory: string;
  readonly storage: Storage;
  readonly vault: Vault;
  readonly keys: ApiKeys;
  readonly organization: Organization;
  /** The same store as another gateway opens it, started; `close` stops it, too. */
  another(): Promise<Storage>;
  close(): Promise<void>;
}

export async function openStore(clock: Clock = testClock()): Promise<TestStore> {
  const store = await emptyStore();
  const vault = testVault();
  const opened: Storage[] = [];
  const another = async (): Promise<Storage> => {
    const storage = store.open({ vault, now: clock.now });
    opened.push(storage);
    await storage.start(signal());
    return storage;
  };
  const storage = await another();
  return {
    directory: store.process.dataDirectory,
    storage,
    vault,
    keys: createApiKeys({ storage, now: clock.now }),
    organization: await storage.directory.createOrganization({ name: 'Acme' }),
    another,
    async close() {
      for (const each of opened) await each.stop();
      await store.cleanup();
    },
  };
}

export interface IssuerOptions {
  readonly authUrl: string;
  readonly publicUrl?: string;
  readonly clock?: Clock;
  readonly vault?: Vault;
  readonly storage?: Storage;
  readonly audit?: AuditLog;
  readonly logger?: Logger;
  readonly signingKeyDays?: number;
}

export function makeIssuer(store: TestStore, options: IssuerOptions): Issuer {
  const { authUrl, publicUrl = authUrl, clock = testClock(), vault = store.vault, logger } = options;
  const host = testHost(store.directory, { authUrl, publicUrl, vault, now: clock.now, ...(logger ? { logger } : {}) });
  const { signingKeyDays, audit } = options;
  return issuerPlugin.create(
    issuerPlugin.configSchema.parse({
      // Whether or not the machine of the test has a way out.
      clients: { metadataDocuments: { enabled: true } },
      ...(signingKeyDays === undefined ? {} : { signingKeyDays }),
    }),
    issuerHost(host, { ...recorded(options.storage ?? store.storage), ...(audit && { audit }) }, `${publicUrl}/mcp`),
  );
}

export interface TestServer {
  readonly url: string;
  /** What answers from now on; 404 before. */
  serve(handler: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
}

/** Listens before there is anything to serve, since an issuer has to know its own address. */
export async function listen(): Promise<TestServer> {
  let handler = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(404).end();
  const server = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    serve: (next) => (handler = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The issuer alone on a server, a 404 beside it. */
export function serveIssuer(server: TestServer, issuer: Issuer): void {
  server.serve((request, response) => {
    if (!issuer.handle?.(request, response)) response.writeHead(404).end('elsewhere');
  });
}

export interface Pair {
  readonly clientId: string;
  readonly clientSecret: string;
}

export const form = (fields: Record<string, string>) => ({
  method: 'POST',
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});

export const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

export function exchange(url: string, pair: Pair, extra: Record<string, string> = {}): Promise<Response> {
  const fields = { grant_type: 'client_credentials', client_id: pair.clientId, client_secret: pair.clientSecret };
  return fetch(`${url}/oauth2/token`, form({ ...fields, ...extra }));
}

/** The access token of a good exchange; throws with the answer of a refused one. */
export async function tokenOf(response: Response): Promise<string> {
  const body: unknown = await response.json();
  if (typeof body === 'object' && body !== null && 'access_token' in body && typeof body.access_token === 'string') {
    return body.access_token;
  }
  throw new Error(`no token: ${response.status} ${JSON.stringify(body)}`);
}

export const everything: readonly Scope[] = [
  'telemetry:read',
  'ingest:read',
  'incidents:read',
  'chats:read',
  'chats:write',
];

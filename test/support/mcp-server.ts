import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTVerifyGetKey } from 'jose';
import {
  createChallenge,
  protectedResourceMetadata,
  protectedResourcePaths,
} from '../../src/identity/verify/challenge.ts';
import { createVerifier } from '../../src/identity/verify/verifier.ts';
import { scopes, type Issuer, type Scope } from '../../src/contract/issuer/index.ts';
import { newId, toId, type Logger, type Tool } from '../../src/contract/core/index.ts';
import type { AuditRecord, Recording, LiveKey } from '../../src/contract/storage/index.ts';
import { limitCallsAtOnce } from '../../src/limits/at-once.ts';
import { createRateLimit, type RateLimitOptions } from '../../src/limits/rate-limit.ts';
import { createHttpServer } from '../../src/gateway/http/server.ts';
import { createMcp, type Mcp, type McpHandlerOptions } from '../../src/mcp/handler.ts';
import { listen } from './listen.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that keeps its lines, children's fields included. */
export function recordingLogger(lines: LogLine[] = [], bound: object = {}): Logger & { readonly lines: LogLine[] } {
  const log = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...bound, ...fields }, message });
  return {
    lines,
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  };
}

export interface TestTokens {
  readonly issuer: Pick<Issuer, 'trusts'>;
  readonly privateKey: CryptoKey;
  sign(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, string>>): Promise<string>;
}

/** An ES256 issuer in this process: real keys, real signatures. */
export async function createTestTokens(issuerUrl: string): Promise<TestTokens> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test-1', alg: 'ES256', use: 'sig' };
  const keys: JWTVerifyGetKey = createLocalJWKSet({ keys: [jwk] });
  return {
    privateKey,
    issuer: {
      trusts: [
        {
          issuer: issuerUrl,
          algorithms: ['ES256'],
          keys,
          type: 'at+jwt',
          claims({ sub, org, scope, secret_id: secretId }) {
            if (typeof sub !== 'string' || typeof org !== 'string' || typeof scope !== 'string') return undefined;
            return {
              kind: 'key',
              subject: toId('ak', sub),
              organizationId: toId('org', org),
              scopes: scopes.filter((known) => scope.split(' ').includes(known)),
              clientId: sub,
              secretId: toId('sec', secretId),
            };
          },
        },
      ],
    },
    sign: (claims, header) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'test-1', typ: 'at+jwt', ...header })
        .sign(privateKey),
  };
}

export interface TestServer {
  /** As pages call. */
  readonly call: Mcp['call'];
  readonly url: string;
  readonly server: Server;
  readonly origin: string;
  readonly logger: ReturnType<typeof recordingLogger>;
  /** Every record, in the order the calls ended. */
  readonly audited: AuditRecord[];
  readonly tokens: TestTokens;
  readonly organizationId: ReturnType<typeof newId<'org'>>;
  /** Makes a key of the organization with these scopes and a token for it. */
  mint(granted?: readonly Scope[], subject?: string): Promise<string>;
  /** Deletes a key; its tokens end with it. */
  revoke(subject: string): void;
  stop(): Promise<void>;
}

export interface TestServerOptions extends Partial<
  Pick<
    McpHandlerOptions,
    | 'view'
    | 'limits'
    | 'admission'
    | 'audit'
    | 'auditStatements'
    | 'authenticate'
    | 'allowedHosts'
    | 'rateLimit'
    | 'callsAtOnce'
  >
> {
  readonly tools: readonly Tool[];
  readonly allowedOrigins?: readonly string[];
  readonly rate?: RateLimitOptions;
  /** Paths beside the endpoint; answers true once it has taken the request. */
  readonly beside?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** The MCP handler on a real socket, with signed tokens verified by the real verifier against a directory in memory. */
export async function startMcpServer(options: TestServerOptions): Promise<TestServer> {
  const server = createHttpServer(() => 60_000);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  const port = await listen(server);
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/mcp`;
  const logger = recordingLogger();
  const organizationId = newId('org');
  const tokens = await createTestTokens(origin);
  const keys = new Map<string, LiveKey>();
  const audited: AuditRecord[] = [];
  const keep: Recording = (record) => void audited.push(record);
  const [metadataPath = ''] = protectedResourcePaths(url);

  const { listener: handler, call } = createMcp({
    tools: options.tools,
    serverInfo: { name: 'sightline-test', title: 'Sightline test', version: '0.0.0' },
    instructions: 'Fixtures only.',
    authenticate:
      options.authenticate ??
      createVerifier({
        issuer: tokens.issuer,
        resource: url,
        directory: {
          liveKey: async (keyId) => keys.get(keyId),
          liveMember: async () => undefined,
          liveGrant: async () => undefined,
        },
        admit: () => Promise.reject(new Error('these tokens are of keys')),
        markUsed: () => {},
        now: () => new Date(),
        logger,
      }),
    challenge: createChallenge({ resourceMetadataUrl: `${origin}${metadataPath}`, scopes }),
    allowedHosts: options.allowedHosts ?? ['127.0.0.1', 'localhost', '[::1]'],
    allowedOrigins: [origin, ...(options.allowedOrigins ?? [])],
    rateLimit: options.rateLimit ?? createRateLimit(options.rate ?? { perMinute: 1_000_000, burst: 1_000_000 }),
    callsAtOnce: options.callsAtOnce ?? limitCallsAtOnce({ each: 1_000, tools: {} }),
    auditStatements: options.auditStatements ?? false,
    audit: options.audit ?? { reserve: () => keep, reserveNow: () => keep },
    logger,
    view: options.view,
    ...(options.limits && { limits: options.limits }),
    ...(options.admission && { admission: options.admission }),
  });
  const metadata = protectedResourceMetadata({
    resource: url,
    authorizationServers: [origin],
    scopes,
    name: 'Sightline test',
  });
  server.on('request', (request, response) => {
    if (request.url?.split('?')[0] === '/mcp') handler(request, response);
    else if (request.url === metadataPath)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    else if (options.beside?.(request, response) !== true) response.writeHead(404).end();
  });

  return {
    url,
    call,
    server,
    origin,
    logger,
    audited,
    tokens,
    organizationId,
    async mint(granted = scopes, subject = newId('ak')) {
      keys.set(subject, { organizationId, name: subject, scopes: granted });
      const now = Math.floor(Date.now() / 1_000);
      return tokens.sign({
        iss: origin,
        aud: url,
        sub: subject,
        org: organizationId,
        scope: granted.join(' '),
        secret_id: newId('sec'),
        iat: now,
        exp: now + 3_600,
      });
    },
    revoke: (subject) => void keys.delete(subject),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

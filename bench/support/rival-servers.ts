import { createServer, type RequestListener } from 'node:http';
import { createMcpExpressApp, requireBearerAuth } from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler as createSdkHandler, McpServer, requireScopes } from '@modelcontextprotocol/server';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { scopes } from '../../src/contract/issuer/index.ts';
import { listen } from '../../test/support/listen.ts';

/*
 * One server to compare with, in a process of its own: `bare` or `sdk`. Says `{port, token}` to its parent and ends
 * with it.
 */

export interface Ready {
  readonly port: number;
  readonly token: string;
}

const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const description =
  'Reads something of the organization and answers rows. Wrong names are answered with the nearest right ones. '.repeat(
    6,
  );
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const input = z.strictObject({
  sql: z.string().max(100_000).describe('One SELECT statement'),
  start: z.string().optional().describe('RFC 3339, epoch milliseconds or now-1h'),
  end: z.string().optional().describe('RFC 3339, epoch milliseconds or now-1h'),
  max_rows: z.int().min(1).max(10_000).default(500).describe('Rows at most'),
  status: z.union([z.enum(['open', 'closed']), z.array(z.enum(['open', 'closed']))]).optional(),
});
const output = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.unknown())),
  row_count: z.int(),
  truncated: z.boolean(),
});
const answer = { columns: [{ name: 'one', type: 'INTEGER' }], rows: [[1]], row_count: 1, truncated: false };

const { privateKey, publicKey } = await generateKeyPair('ES256');
const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: 'ES256' }] });

const server = createServer();
const port = await listen(server);
const resource = `http://127.0.0.1:${port}/mcp`;
const issuer = `http://127.0.0.1:${port}`;

async function tokenFor(subject: string, claims: Readonly<Record<string, string>>): Promise<string> {
  return new SignJWT({ ...claims, scope: scopes.join(' ') })
    .setProtectedHeader({ alg: 'ES256', kid: 'bench', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(resource)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
}

/** The floor: reads JSON, answers JSON of the size of the tool list. */
async function bare(): Promise<{ listener: RequestListener; token: string }> {
  const result = {
    tools: names.map((name) => ({
      name,
      description,
      inputSchema: z.toJSONSchema(input),
      outputSchema: z.toJSONSchema(output),
    })),
  };
  const text = JSON.stringify(result);
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const message: { readonly id: number } = JSON.parse(Buffer.concat(chunks).toString());
      const body = `{"jsonrpc":"2.0","id":${message.id},"result":${text}}`;
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        .end(body);
    });
  };
  return { listener, token: 'none' };
}

/** The SDK's server as its documentation builds it; its verifier keeps what it verified. No look-up, no limit, no audit. */
async function sdk(): Promise<{ listener: RequestListener; token: string }> {
  const build = (): McpServer => {
    const mcp = new McpServer(
      { name: 'bench', version: '0' },
      {
        capabilities: { tools: { listChanged: false } },
        instructions: 'bench',
        cacheHints: { 'tools/list': { ttlMs: 300_000, cacheScope: 'private' } },
      },
    );
    for (const name of names) {
      mcp.registerTool(
        name,
        {
          title: name,
          description,
          annotations,
          inputSchema: input,
          outputSchema: output,
          scopeChallenge: requireScopes('telemetry:read'),
        },
        async () => ({ content: [{ type: 'text', text: 'one\n1' }], structuredContent: answer }),
      );
    }
    return mcp;
  };
  const verified = new Map<
    string,
    { token: string; clientId: string; scopes: string[]; expiresAt: number; resource: URL }
  >();
  const expectedResource = new URL(resource);
  const auth = requireBearerAuth({
    verifier: {
      async verifyAccessToken(token) {
        let info = verified.get(token);
        if (info === undefined) {
          const { payload } = await jwtVerify(token, keys, { issuer, audience: resource });
          info = {
            token,
            clientId: payload.sub ?? '',
            scopes: [...scopes],
            expiresAt: payload.exp ?? 0,
            resource: expectedResource,
          };
          verified.set(token, info);
        }
        return info;
      },
    },
    expectedResource,
    resourceMetadataUrl: `${issuer}/.well-known/oauth-protected-resource/mcp`,
  });
  const app = createMcpExpressApp({ host: '127.0.0.1', jsonLimit: '1mb' });
  const handler = toNodeHandler(createSdkHandler(build));
  app.all('/mcp', auth, (request, response) => void handler(request, response, request.body));
  return { listener: app, token: await tokenFor('ak_bench', {}) };
}

const variant = process.argv[2];
const { listener, token } = await (variant === 'bare' ? bare() : sdk());
server.on('request', listener);
process.on('disconnect', () => {
  server.closeAllConnections();
  server.close();
});
process.send?.({ port, token } satisfies Ready);

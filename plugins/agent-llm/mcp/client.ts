import type { CallToolResult, Client, Tool as McpTool } from '@modelcontextprotocol/client';
import { bodyWithin, nestsDeeperThan } from '../../../src/contract/core/index.ts';
import { withoutSecrets } from '../client/http.ts';
import type { McpServer } from '../config.ts';

/** A server could not be asked. The message is a sentence without its beginning, and holds no word of the server. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
}

/** Of one answer, before it is read. */
const maxBytes = 1024 * 1024;
/** Far below what those who write it down again can walk: they would end the whole run. */
const mostLevels = 100;

/** The tools that the operator lists and that only read, by the server's own word or, where it gives none, the operator's. */
export function readOnlyTools(server: McpServer, signal: AbortSignal): Promise<readonly McpTool[]> {
  return connected(server, signal, async (client, options) => {
    const { tools } = await client.listTools(undefined, options);
    return tools.filter(({ name, annotations: { readOnlyHint: reads } = {} }) => {
      return reads === true ? listed(server, name) : reads === undefined && server.unmarkedTools.includes(name);
    });
  });
}

const listed = ({ tools, unmarkedTools }: McpServer, name: string): boolean =>
  tools.includes(name) || unmarkedTools.includes(name);

export function callTool(
  server: McpServer,
  { name }: McpTool,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return connected(server, signal, (client, options) => client.callTool({ name, arguments: input }, options));
}

interface Options {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly maxTotalTimeout: number;
}

/** One connection for one piece of work: nothing stays open between two. */
async function connected<Answer>(
  server: McpServer,
  ended: AbortSignal,
  work: (client: Client, options: Options) => Promise<Answer>,
): Promise<Answer> {
  const timeout = server.timeoutSeconds * 1_000;
  const signal = AbortSignal.any([ended, AbortSignal.timeout(timeout)]);
  const { Client: McpClient, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  // No capabilities: a server may ask for no model, no file and no person. Its output schemas are not compiled.
  const client = new McpClient(
    { name: 'sightline-agent', version: '1' },
    {
      versionNegotiation: { mode: 'auto' },
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'not checked' }),
      },
    },
  );
  const url = new URL(server.url);
  let problem: string | undefined;
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: server.headers },
    fetch: async (to, init) => {
      const answer = await guarded(server, to, init, signal);
      if (typeof answer !== 'string') return answer;
      problem = answer;
      throw new McpFailure(answer);
    },
  });
  try {
    const options = { signal, timeout, maxTotalTimeout: timeout };
    await client.connect(transport, options);
    return await work(client, options);
  } catch {
    ended.throwIfAborted();
    throw new McpFailure(
      problem ?? (signal.aborted ? `gave no answer in ${server.timeoutSeconds} s` : 'did not answer as MCP servers do'),
    );
  } finally {
    await transport.terminateSession().catch(() => {});
    await client.close().catch(() => {});
  }
}

/** Only to the configured address, without redirects, and not more than is sane; else what is wrong. */
async function guarded(
  server: McpServer,
  to: string | URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<Response | string> {
  if (new URL(to).href !== new URL(server.url).href) return 'wanted to be asked at another address';
  // A stream of the server's own: it has nothing to say unasked.
  if (init?.method === 'GET') return new Response(null, { status: 405 });
  const both = init?.signal ? AbortSignal.any([signal, init.signal]) : signal;
  let response: Response;
  try {
    response = await fetch(to, { ...init, redirect: 'manual', signal: both });
  } catch (error) {
    if (both.aborted) throw error;
    return 'could not be reached';
  }
  const { status, headers } = response;
  if (status >= 300 && status < 400) return `answered with a redirect (${status}), which is not followed`;
  if (status === 401 || status === 403) return `refused the credentials (${status})`;
  const body = await bodyWithin(response, maxBytes);
  if (body === undefined) return 'answered too much';
  if (nestsDeeperThan(body, mostLevels)) return 'answered what nests too deeply';
  const told = withoutSecrets(body.toString('utf8'), server.headers);
  return new Response(told === '' ? null : told, { status, headers });
}

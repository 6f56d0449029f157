import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Gateway } from '../gateway/wiring/gateway.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import { SightlineError, type OrganizationId } from '../contract/core/index.ts';
import { scopes } from '../contract/issuer/index.ts';
import type { Organization } from '../contract/storage/index.ts';
import { isLoopback } from './ask.ts';
import { invocation, operator } from './command.ts';
import type { Output } from './output.ts';
import { exchangeKey } from './mcp-endpoint.ts';

/** For a POSIX shell with curl and sed alone: each command works as it stands, in this order. */
function pasteableCommands({ url, clientId, clientSecret }: Credentials): readonly [string, string, string] {
  return [
    `TOKEN=$(curl -s ${url}/oauth2/token \\
  --data-urlencode grant_type=client_credentials \\
  --data-urlencode client_id=${clientId} \\
  --data-urlencode client_secret=${clientSecret} \\
  | sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p'); echo "$TOKEN"`,
    call(url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    call(url, {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'query_otel', arguments: { sql: exampleSql } },
    }),
  ];
}

/** Without a quote, so that it can stand inside the shell's. */
const exampleSql =
  'SELECT service_name, count(*) AS spans, round(max(duration_nano) / 1e6) AS slowest_ms ' +
  'FROM otel.spans GROUP BY service_name ORDER BY spans DESC';

function call(url: string, message: object): string {
  return `curl -s ${url}/mcp -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
  -d '${JSON.stringify(message)}'`;
}

const organizationName = 'default';

/** Sets up an empty storage and prints its API key, this once. Later starts find a workspace and print no secret. */
export async function greetNewcomer(
  gateway: Gateway,
  output: Output,
  { settings, demo, signal }: { readonly settings: Settings; readonly demo: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { storage, keys } = gateway.workspace;
  if ((await storage.directory.organizations()).length > 0) return;
  const organization = await createFirst(gateway);
  if (organization === undefined) return;
  const { clientId, clientSecret } = await keys.create({
    organizationId: organization.id,
    name: 'first start',
    scopes,
    actor: operator(),
  });
  const credentials: Credentials = { url: gateway.url, clientId, clientSecret };
  output.result(
    {
      organization: { id: organization.id, name: organization.name },
      client_id: clientId,
      client_secret: clientSecret,
    },
    () =>
      [
        '',
        `This is the first start. Organization ${output.style('bold', organization.name)} has an API key; its secret is shown this once:`,
        `  client_id      ${clientId}`,
        `  client_secret  ${clientSecret}`,
      ].join('\n'),
  );
  try {
    // A gateway at a public address is somebody's own: it is not given telemetry that means nothing.
    if (demo && gateway.receives && isLoopback(gateway.url))
      await loadDemo(gateway, output, organization.id, credentials, signal);
  } finally {
    if (!signal.aborted) sayCommands(output, settings, credentials);
  }
}

/** Undefined when another gateway on the same storage was first. */
async function createFirst({ workspace: { organizations } }: Gateway): Promise<Organization | undefined> {
  try {
    return await organizations.create(organizationName);
  } catch (error) {
    if (error instanceof SightlineError && error.code === 'conflict') return undefined;
    throw error;
  }
}

function sayCommands(output: Output, settings: Settings, credentials: Credentials): void {
  const [exchange, list, query] = pasteableCommands(credentials);
  output.say(
    [
      '',
      'To sign in with a browser or an MCP client, make yourself an account; it answers with a link:',
      `  ${invocation(settings)} user create --email you@example.com --org ${organizationName} --role admin`,
      '',
      'To try it without, paste into a shell, in this order:',
      '',
      output.style('dim', '# 1. exchange the key for an access token, good for one hour'),
      exchange,
      '',
      output.style('dim', '# 2. list the tools'),
      list,
      '',
      output.style('dim', '# 3. ask the telemetry'),
      query,
      '',
    ].join('\n'),
  );
}

async function loadDemo(
  gateway: Gateway,
  output: Output,
  organizationId: OrganizationId,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<void> {
  const { demoIncident, demoQuestion, sendDemo } = await import('../lab/demo/index.ts');
  const options = { scenario: 'payment-errors', seed: 1, minutes: 60, end: new Date() } as const;
  const { storage, ingestTokens } = gateway.workspace;
  const { figures, spans, points, logs } = await sendDemo(options, {
    endpoint: gateway.url,
    token: await ingestTokens.ensure(organizationId),
    signal,
    onProgress: (progress) => output.progress(progress, 'loading demo telemetry'),
  });
  const callTool = await connectTools(credentials);
  const queryable = await isQueryable(callTool, spans + logs, {
    signal,
    onProgress: (progress) => output.progress(progress, 'making it queryable'),
  });
  output.progress(undefined);
  const incident = await storage
    .workspace(organizationId)
    .incidents.create(demoIncident(options, figures), { kind: 'alert', id: 'demo', name: 'Demo alert' });
  output.say(
    `\nA demo shop sent ${spans} spans, ${points} data points and ${logs} logs of the last hour (--no-demo leaves them out).`,
  );
  if (!queryable) output.warn('The telemetry is received, but not all of it can be queried yet.');
  await callTool('start_chat', { message: demoQuestion(options), incident_id: incident.key });
  output.say(`Its checkout has a fault: see incident ${incident.key}, which the agent is looking into.`);
}

/** An API key and the gateway it is for. */
interface Credentials {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const toolAnswer = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.record(z.string(), z.unknown()) }),
});
const countAnswer = z.object({ rows: z.tuple([z.tuple([z.coerce.number()])]) });

type CallTool = (name: string, args: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;

/** Calls tools as any client does, and so proves on the way that the printed commands will work. */
async function connectTools({ url, clientId, clientSecret }: Credentials): Promise<CallTool> {
  const token = await exchangeKey({ tokenUrl: `${url}/oauth2/token` }, clientId, clientSecret);
  return async (name, args) => {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      signal: AbortSignal.timeout(40_000),
    });
    const parsed = toolAnswer.safeParse(await response.json());
    if (!parsed.success || parsed.data.result.isError === true) {
      throw new SightlineError('unavailable', `The gateway did not answer ${name}.`);
    }
    return parsed.data.result.structuredContent;
  };
}

/** After so long in which no more could be queried than before, the demo begins without the rest. */
const mostStillMs = 60_000;

interface Waiting {
  readonly signal: AbortSignal;
  /** 0 to 1. */
  readonly onProgress: (progress: number) => void;
}

/** Waits until so many spans and logs can be queried; false when they stop becoming more before that. Rejects when stopped. */
async function isQueryable(call: CallTool, sent: number, { signal, onProgress }: Waiting): Promise<boolean> {
  const sql = 'SELECT (SELECT count(*) FROM otel.spans) + (SELECT count(*) FROM otel.logs) AS records';
  let most = 0;
  for (let since = Date.now(); Date.now() - since < mostStillMs; await delay(250, undefined, { signal })) {
    // On a machine with much to do an answer may not come in time; the next one may.
    const answer = await call('query_otel', { sql, start: 'now-8d' }).catch(() => undefined);
    const counted = countAnswer.safeParse(answer);
    const records = counted.success ? counted.data.rows[0][0] : 0;
    if (records >= sent) return true;
    if (records <= most) continue;
    [most, since] = [records, Date.now()];
    onProgress(records / sent);
  }
  return false;
}

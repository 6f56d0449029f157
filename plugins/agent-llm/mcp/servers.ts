import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client';
import { code, isObject, type Logger, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { NewStep } from '../../../src/contract/agent/index.ts';
import { remembered, timeoutMs } from '../client/health.ts';
import type { McpServer } from '../config.ts';
import { plain } from '../plain.ts';
import { shown, type Desk, type Tool } from '../tools/tool.ts';
import { callTool, McpFailure, readOnlyTools } from './client.ts';

/** What other MCP servers offer to one run. */
export interface Offer {
  readonly tools: readonly Tool[];
  /** For each that is not to be had, a sentence. */
  readonly missing: readonly string[];
}

/** How long what a server offers is taken as known; a shorter time where it could not be asked. */
const freshMs = 300_000;
const freshAfterFailureMs = 30_000;
const longestSchema = 6_000;
const longestInput = 4_000;
const mostLines = 50;
const longestLine = 1_000;
const longestResult = 16_000;

/** Asks other MCP servers for evidence: each call of one of their read-only tools is a step. */
export function createServers(servers: Readonly<Record<string, McpServer>>, logger: Logger) {
  const known = new Map<string, { readonly until: number; readonly offer: Offer }>();

  async function ask(name: string, server: McpServer, signal: AbortSignal): Promise<Offer> {
    const before = known.get(name);
    if (before !== undefined && before.until > performance.now()) return before.offer;
    let offer: Offer;
    try {
      offer = { tools: toolsOf(name, server, await readOnlyTools(server, signal)), missing: [] };
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      logger.warn({ server: name, problem: error.message }, 'an MCP server cannot be asked');
      const missing = `The MCP server ${code(name)} ${error.message}: what it knows was not looked at.`;
      offer = { tools: [], missing: [missing] };
    }
    const fresh = offer.missing.length === 0 ? freshMs : freshAfterFailureMs;
    known.set(name, { until: performance.now() + fresh, offer });
    return offer;
  }

  /** What is wrong with one, for an operator. */
  async function look(name: string, server: McpServer): Promise<readonly string[]> {
    const key = `look at agent.mcpServers.${name}.`;
    try {
      const offered = new Set((await readOnlyTools(server, AbortSignal.timeout(timeoutMs))).map((tool) => tool.name));
      const absent = [...server.tools, ...server.unmarkedTools].filter((tool) => !offered.has(tool));
      const named = absent.map((tool) => code(tool)).join(', ');
      return absent.length === 0 ? [] : [`The MCP server ${code(name)} has no tool ${named} that only reads: ${key}`];
    } catch (error) {
      const problem = error instanceof McpFailure ? error.message : `gave no answer in ${timeoutMs / 1_000} s`;
      return [`The MCP server ${code(name)} ${problem}: ${key}`];
    }
  }
  const found = remembered(async () => {
    const problems = await Promise.all(Object.entries(servers).map(([name, server]) => look(name, server)));
    return problems.flat().join(' ') || undefined;
  });

  return {
    problem: () => found.problem(),
    async offer(organizationId: OrganizationId, signal: AbortSignal): Promise<Offer> {
      const open = Object.entries(servers).filter(([, { organizations }]) => {
        return organizations === undefined || organizations.includes(organizationId);
      });
      const offers = await Promise.all(open.map(([name, server]) => ask(name, server, signal)));
      return { tools: offers.flatMap(({ tools }) => tools), missing: offers.flatMap(({ missing }) => missing) };
    },
  };
}

export type Servers = ReturnType<typeof createServers>;

function toolsOf(serverName: string, server: McpServer, offered: readonly McpTool[]): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const tool of offered) {
    const { $schema: _, ...schema } = tool.inputSchema;
    const name = `${serverName}__${tool.name.replaceAll(/[^\w-]/g, '_')}`.slice(0, 64);
    if (JSON.stringify(schema).length > longestSchema) continue;
    const about = plain(tool.description ?? tool.title ?? '', 500);
    tools.set(name, {
      spec: { name, description: `A tool of the MCP server ${serverName}, which only reads. ${about}`, schema },
      call: (input, desk) => call(serverName, server, tool, input, desk),
    });
  }
  return [...tools.values()];
}

async function* call(
  serverName: string,
  server: McpServer,
  tool: McpTool,
  input: unknown,
  desk: Desk,
): ReturnType<Tool['call']> {
  if (!isObject(input)) return { text: 'The input must be an object.', failed: true };
  const given = JSON.stringify(input);
  if (given.length > longestInput)
    return { text: `The input is longer than ${longestInput} characters.`, failed: true };
  const { journal, host, signal } = desk;
  const asked = `${serverName}.${tool.name}(${given})`;
  const before = journal.steps.find(({ sql, dialect }) => sql === asked && dialect === 'mcp');
  if (before) return shown(before);
  const question = `What does ${code(tool.name)} of ${code(serverName)} say to ${code(given, 200)}?`;
  yield { type: 'progress', message: question };
  const begun = performance.now();
  let result: Result;
  try {
    result = resultOf(await callTool(server, tool, input, signal));
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    result = { rows: [], observation: `This could not be asked: the server ${error.message}.`, error: 'unavailable' };
  }
  const elapsed = Math.max(1, Math.round(performance.now() - begun));
  const end = host.now();
  const step = journal.record({
    question,
    sql: asked,
    dialect: 'mcp',
    window: { start: new Date(end.getTime() - elapsed).toISOString(), end: end.toISOString() },
    columns: ['text'],
    row_count: result.rows.length,
    verdict: 'neutral',
    elapsed_ms: elapsed,
    ...result,
  });
  yield { type: 'step', step };
  return shown(step);
}

type Result = Pick<NewStep, 'rows' | 'observation'> & { readonly error?: string };

/** Its text, line by line; images and files are left out. */
function resultOf({ content, structuredContent, isError }: CallToolResult): Result {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text =
    texts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : texts.join('\n');
  const lines = text
    .slice(0, longestResult)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const rows = lines.slice(0, mostLines).map((line) => [line.slice(0, longestLine).toWellFormed()]);
  const isCut = rows.length < lines.length || text.length > longestResult;
  const begins =
    lines[0] === undefined
      ? 'Nothing.'
      : `${rows.length} lines${isCut ? ', and there are more' : ''}; the first: ${code(lines[0], 200)}.`;
  return isError === true
    ? { rows: [], observation: `The tool answered with an error: ${code(lines[0] ?? '', 200)}.`, error: 'tool_failed' }
    : { rows, observation: begins };
}

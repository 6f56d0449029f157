import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { runNode } from './run.ts';

/** Every official client, in every mode it has. */
export const clientKinds = [
  'sdk-v1',
  'sdk-v2-default',
  'sdk-v2-auto',
  'sdk-v2-pinned',
  'inspector-legacy',
  'inspector-auto',
  'inspector-modern',
] as const;
export type ClientKind = (typeof clientKinds)[number];

export interface ToolCallRequest {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolCallOutcome {
  readonly name: string;
  readonly isError: boolean;
  readonly structured: unknown;
  /** Text blocks, joined. */
  readonly text: string;
}

export interface ClientRun {
  /** As the client negotiated it. */
  readonly protocolVersion: string;
  /** Names in the order listed. */
  readonly tools: readonly string[];
  readonly outcomes: readonly ToolCallOutcome[];
}

export interface ClientTarget {
  readonly url: string;
  readonly token: string;
  readonly calls: readonly ToolCallRequest[];
}

const info = { name: 'sightline-test', version: '0.0.0' };

/** Connects, lists the tools and makes the calls, one after another, with one official client. */
export function listAndCallAll(kind: ClientKind, target: ClientTarget): Promise<ClientRun> {
  switch (kind) {
    case 'sdk-v1':
      return withSdkV1(target);
    case 'sdk-v2-default':
      return withSdkV2(target, undefined);
    case 'sdk-v2-auto':
      return withSdkV2(target, 'auto');
    case 'sdk-v2-pinned':
      return withSdkV2(target, { pin: '2026-07-28' });
    case 'inspector-legacy':
      return withInspector(target, 'legacy');
    case 'inspector-auto':
      return withInspector(target, 'auto');
    case 'inspector-modern':
      return withInspector(target, 'modern');
  }
}

/** What a client hears while one tool works, with one of the official SDKs. */
export async function progressOf(
  kind: 'sdk-v1' | 'sdk-v2',
  { url, token, call }: { readonly url: string; readonly token: string; readonly call: ToolCallRequest },
): Promise<readonly string[]> {
  const heard: string[] = [];
  const onprogress = ({ message }: { readonly message?: string | undefined }) => void heard.push(message ?? '');
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const params = { name: call.name, arguments: { ...call.arguments } };
  if (kind === 'sdk-v1') {
    const client = new ClientV1(info);
    await client.connect(new TransportV1(new URL(url), { requestInit }));
    await client.callTool(params, undefined, { onprogress });
    await client.close();
  } else {
    const client = new ClientV2(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new TransportV2(new URL(url), { requestInit }));
    await client.callTool(params, { onprogress });
    await client.close();
  }
  return heard;
}

/** The revision a client of this kind speaks to a server of both eras. */
export function expectedVersion(kind: ClientKind): string {
  const modern: readonly ClientKind[] = ['sdk-v2-auto', 'sdk-v2-pinned', 'inspector-auto', 'inspector-modern'];
  return modern.includes(kind) ? '2026-07-28' : '2025-11-25';
}

const callResult = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
});

function outcome(name: string, result: unknown): ToolCallOutcome {
  const { isError = false, structuredContent, content } = callResult.parse(result);
  return { name, isError, structured: structuredContent, text: content.map(({ text }) => text ?? '').join('') };
}

async function withSdkV1({ url, token, calls }: ClientTarget): Promise<ClientRun> {
  const client = new ClientV1(info);
  let protocolVersion = '';
  const transport = new TransportV1(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  try {
    await client.connect(transport);
    protocolVersion = transport.protocolVersion ?? '';
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    const outcomes: ToolCallOutcome[] = [];
    for (const call of calls) {
      outcomes.push(outcome(call.name, await client.callTool({ name: call.name, arguments: { ...call.arguments } })));
    }
    return { protocolVersion, tools, outcomes };
  } finally {
    await client.close();
  }
}

async function withSdkV2(
  { url, token, calls }: ClientTarget,
  mode: VersionNegotiationMode | undefined,
): Promise<ClientRun> {
  const client = new ClientV2(info, mode === undefined ? {} : { versionNegotiation: { mode } });
  try {
    await client.connect(
      new TransportV2(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    );
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    const outcomes: ToolCallOutcome[] = [];
    for (const call of calls) {
      outcomes.push(outcome(call.name, await client.callTool({ name: call.name, arguments: { ...call.arguments } })));
    }
    return { protocolVersion: client.getNegotiatedProtocolVersion() ?? '', tools, outcomes };
  } finally {
    await client.close();
  }
}

const inspector = join(import.meta.dirname, '../../node_modules/.bin/mcp-inspector');

async function withInspector(
  { url, token, calls }: ClientTarget,
  era: 'legacy' | 'auto' | 'modern',
): Promise<ClientRun> {
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  const inspect = async (args: readonly string[]): Promise<unknown> => {
    const connection = ['--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
    const ran = await runNode(
      [inspector, ...connection, '--protocol-era', era, '--format', 'json', '-q', '--stored-auth-only', ...args],
      { HOME: home },
    );
    // 5: the tool answered isError, which is an answer.
    if (ran.code !== 0 && ran.code !== 5)
      throw new Error(`inspector ended with ${ran.code}: ${ran.stderr}${ran.stdout}`);
    return z.object({ result: z.unknown() }).parse(JSON.parse(ran.stdout)).result;
  };
  try {
    const { protocolVersion } = z
      .looseObject({ protocolVersion: z.string() })
      .parse(await inspect(['--method', 'initialize']));
    const listed = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
    const { tools } = listed.parse(await inspect(['--method', 'tools/list']));
    const outcomes: ToolCallOutcome[] = [];
    for (const { name, arguments: args } of calls) {
      const sent = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
      outcomes.push(outcome(name, await inspect(sent)));
    }
    return { protocolVersion, tools: tools.map(({ name }) => name), outcomes };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

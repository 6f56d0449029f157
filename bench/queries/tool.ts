import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
} from '../../test/support/gateway.ts';
import type { Rows, Stage } from './stage.ts';

/** A gateway's directory with the organization that the rows belong to. The gateway itself does not run yet. */
export interface Workspace {
  readonly directory: string;
  readonly organization: string;
  open(): Promise<Stage['tool']>;
}

const made = z.object({ id: z.string() });
/** Rows are not looked into: it is part of what is timed. */
const answer = z.object({
  result: z.object({
    isError: z.literal(false).optional(),
    structuredContent: z.object({ truncated: z.literal(false), rows: z.custom<Rows>(Array.isArray) }),
  }),
});

/** With time for every query and no limit on how many there are; else as it is installed. */
export async function createWorkspace(telemetry: object, stack: AsyncDisposableStack): Promise<Workspace> {
  const directory = await temporaryDirectory();
  stack.defer(() => removeDirectory(directory));
  const file = join(directory, 'sightline.config.json');
  const limits = { requestsPerMinute: 1_000_000_000, queryTimeoutSeconds: 600 };
  await writeFile(file, JSON.stringify({ limits, telemetry }));
  const args = ['--config', file];
  const { id } = await sightlineJson(directory, ['org', 'create', 'bench', ...args], made);
  return {
    directory,
    organization: id,
    async open() {
      const gateway = await startGateway(directory, { args: ['--no-demo', ...args], workers: 1 });
      stack.defer(async () => void (await gateway.stop()));
      const token = await exchange(gateway.url, await createKey(directory, 'bench'));
      return connect(`${gateway.url}/mcp`, token, stack);
    },
  };
}

/** Over one connection that stays open. Rejects with what was answered where that is not all rows. */
function connect(url: string, token: string, stack: AsyncDisposableStack): Stage['tool'] {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  stack.defer(() => agent.destroy());
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const post = (body: string) =>
    new Promise<string>((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    async ask(sql, { start, end }): Promise<Rows> {
      const call = { sql, start: start.toISOString(), end: end.toISOString(), max_rows: 10_000, max_bytes: 5_000_000 };
      const params = { name: 'query_otel', arguments: call };
      const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
      const { success, data } = answer.safeParse(JSON.parse(text));
      if (!success) throw new Error(`${sql}: ${text.slice(0, 500)}`);
      return data.result.structuredContent.rows;
    },
  };
}

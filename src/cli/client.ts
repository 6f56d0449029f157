import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { exchangeKey } from './mcp-endpoint.ts';

/** An API key and the gateway it is for. */
export interface Credentials {
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
export async function connectTools({ url, clientId, clientSecret }: Credentials): Promise<CallTool> {
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

/** Waits until that many spans can be queried, for `seconds` at most; false when they cannot by then. */
export async function spansAreQueryable(call: CallTool, spans: number, seconds: number): Promise<boolean> {
  const sql = 'SELECT count(*) AS spans FROM otel.spans';
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await delay(250)) {
    const counted = countAnswer.safeParse(await call('query_otel', { sql, start: 'now-8d' }));
    if (counted.success && counted.data.rows[0][0] >= spans) return true;
  }
  return false;
}

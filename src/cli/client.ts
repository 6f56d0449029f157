import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';

/** An API key and the gateway it is for. */
export interface Credentials {
  /** {base_url} */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const tokenAnswer = z.object({ access_token: z.string() });
const toolAnswer = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.record(z.string(), z.unknown()) }),
});
const countAnswer = z.object({ rows: z.tuple([z.tuple([z.coerce.number()])]) });

/** Talks to the gateway as any client does, and so proves on the way that the printed commands will work. */
export class GatewayClient {
  readonly #url: string;
  readonly #token: string;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  static async connect({ url, clientId, clientSecret }: Credentials): Promise<GatewayClient> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
    const response = await fetch(`${url}/oauth2/token`, { method: 'POST', body, signal: AbortSignal.timeout(10_000) });
    const parsed = tokenAnswer.safeParse(await response.json());
    if (!parsed.success)
      throw new SightlineError('unavailable', 'The gateway did not exchange its new key for a token.');
    return new GatewayClient(url, parsed.data.access_token);
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token}`,
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
  }

  /** Waits until that many spans can be queried, for `seconds` at most; false when they cannot by then. */
  async spansAreQueryable(spans: number, seconds: number): Promise<boolean> {
    const sql = 'SELECT count(*) AS spans FROM otel.spans';
    for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await delay(250)) {
      const counted = countAnswer.safeParse(await this.call('query_otel', { sql, start: 'now-8d' }));
      if (counted.success && counted.data.rows[0][0] >= spans) return true;
    }
    return false;
  }
}

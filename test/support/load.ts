import { expect } from '@jest/globals';
import { z } from 'zod';
import { callTool } from './call.ts';
import { callThrough, client, until, type Client } from './workers.ts';

/** One span of this name, as OTLP/JSON. */
function spanNamed(name: string): string {
  const startTimeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  return JSON.stringify({
    resourceSpans: [
      { scopeSpans: [{ spans: [{ traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8), name, startTimeUnixNano }] }] },
    ],
  });
}

const ingestConfig = z.object({ token: z.string() });

/** What the organization's senders show. */
export async function ingestTokenOf(url: string, token: string): Promise<string> {
  const { structured } = await callTool(url, token, 'get_ingest_config', {});
  return ingestConfig.parse(structured).token;
}

/** Sends one span; resolves with the answer's status. */
export async function writeSpan(through: Client, ingest: string, name: string): Promise<number> {
  const headers = { 'x-api-key': ingest, 'content-type': 'application/json' };
  return (await through.post('/v1/traces', headers, spanNamed(name))).status;
}

export interface Load {
  /** Names of spans that were answered with 200. */
  readonly acknowledged: ReadonlySet<string>;
  /** What went wrong, by client. */
  readonly failures: ReadonlyMap<number, readonly string[]>;
  /** Requests answered as they should be. */
  readonly answered: number;
  stop(): Promise<void>;
}

/** Clients that each keep one connection and send one request after the other: half write spans, half query. */
export function load(url: string, round: string, tokens: { readonly ingest: string; readonly mcp: string }): Load {
  const stop = new AbortController();
  const acknowledged = new Set<string>();
  const failures = new Map<number, string[]>();
  let answered = 0;
  const write = async (through: Client, name: string): Promise<string | undefined> => {
    const status = await writeSpan(through, tokens.ingest, name);
    if (status === 200) acknowledged.add(name);
    return status === 200 ? undefined : `status ${status}`;
  };
  const query = async (through: Client): Promise<string | undefined> => {
    const { isError, text } = await callThrough(through, tokens.mcp, 'query_otel', { sql: 'SELECT 1 AS one' });
    return isError ? text : undefined;
  };
  const run = async (line: number): Promise<void> => {
    const through = client(url, { keepAlive: true });
    const failed: string[] = [];
    failures.set(line, failed);
    for (let turn = 0; !stop.signal.aborted; turn += 1) {
      const wrong = await (line % 2 === 0 ? write(through, `${round}/${line}/${turn}`) : query(through)).catch(
        (error: unknown) => `lost: ${String(error)}`,
      );
      if (wrong === undefined) answered += 1;
      else failed.push(wrong);
    }
    through.close();
  };
  const lines = Promise.all(Array.from({ length: 8 }, (_, line) => run(line)));
  return {
    acknowledged,
    failures,
    get answered() {
      return answered;
    },
    async stop() {
      stop.abort();
      await lines;
    },
  };
}

const named = z.object({ rows: z.array(z.tuple([z.string(), z.string()])) });

/** How often each span of a round is there. */
async function spansOf(url: string, token: string, round: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const page = 1_000;
  for (let offset = 0; ; offset += page) {
    const text = `SELECT name, count(*) AS n FROM otel.spans WHERE name LIKE '${round}/%' GROUP BY name ORDER BY name LIMIT ${page} OFFSET ${offset}`;
    const { structured, isError, text: said } = await callTool(url, token, 'query_otel', { sql: text, max_rows: page });
    if (isError) throw new Error(said);
    const { rows } = named.parse(structured);
    for (const [name, count] of rows) found.set(name, Number(count));
    if (rows.length < page) return found;
  }
}

/** Every acknowledged span is there, and no span twice. */
export async function expectKept(
  url: string,
  token: string,
  round: string,
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  let found: ReadonlyMap<string, number> = new Map();
  await until(`${round}: every acknowledged span is there`, async () => {
    found = await spansOf(url, token, round);
    return [...acknowledged].every((name) => found.has(name));
  });
  expect([...found].filter(([, count]) => count !== 1)).toEqual([]);
}

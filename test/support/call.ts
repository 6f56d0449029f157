import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const envelope = z.object({
  result: z
    .object({
      isError: z.boolean().optional(),
      structuredContent: z.unknown().optional(),
      content: z.array(z.object({ type: z.string(), text: z.string() })),
    })
    .optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

export interface Called {
  readonly status: number;
  readonly isError: boolean;
  readonly structured: unknown;
  readonly text: string;
  /** The body as it came. */
  readonly raw: string;
}

/** One `tools/call` of the 2025 era by plain fetch, for tests that make many. */
export async function callTool(
  url: string,
  token: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<Called> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    ...(signal ? { signal } : {}),
  });
  const raw = await response.text();
  if (!response.ok) return { status: response.status, isError: true, structured: undefined, text: raw, raw };
  const { result, error } = envelope.parse(JSON.parse(raw));
  return {
    status: response.status,
    isError: error !== undefined || result?.isError === true,
    structured: result?.structuredContent,
    text: error?.message ?? result?.content.map(({ text }) => text).join('\n') ?? '',
    raw,
  };
}

const countRow = z.object({ rows: z.tuple([z.tuple([z.string()])]) });

/**
 * Rows of a table, asked until there are at least so many: telemetry is queryable a moment after it is acknowledged. On a
 * busy machine a count may be too late itself, or find an organization's memory held by a query that is being stopped: it is
 * asked again, too.
 */
export async function countRows(url: string, token: string, table: string, atLeast: number): Promise<number> {
  let rows = 0;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { structured, text } = await callTool(url, token, 'query_otel', {
      sql: `SELECT count(*) AS n FROM ${table}`,
    });
    const parsed = countRow.safeParse(structured);
    if (!parsed.success && !/query_timeout|query_memory/.test(text)) throw new Error(text);
    rows = Number(parsed.data?.rows[0][0] ?? 0);
    if (rows >= atLeast) return rows;
    await delay(100);
  }
  throw new Error(`${table} has ${rows} rows after 10 s, not ${atLeast}`);
}

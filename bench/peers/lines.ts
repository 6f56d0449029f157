import { z } from 'zod';

export type Era = '2025-11-25' | '2026-07-28';

/** What is asked of each server: its tool, the table in its own database, and arguments that it alone knows. */
export interface Speech {
  readonly tool: string;
  readonly spans: string;
  readonly logs: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface Line {
  readonly name: string;
  readonly connections: number;
  readonly era: Era;
  /** Without it, the list of tools is asked for. */
  readonly sql?: (speech: Speech) => string;
  /** Throws unless the answer has in it what was asked for. */
  readonly check: (answer: string, speech: Speech) => void;
  readonly quick?: true;
}

/** The line as it is named in the results. */
export function titleOf({ name, connections, era }: Line): string {
  return `${name}, ${connections} connection${connections === 1 ? '' : 's'}, ${era}`;
}

export const cellBytes = 1_000_000;

const rowsOf = (count: number) => ({
  name: `${count.toLocaleString('en')} rows`,
  sql: ({ spans }: Speech) => `SELECT trace_id, service_name, duration_nano FROM ${spans} LIMIT ${count}`,
  check(answer: string) {
    const found = new Set(answer.match(/[0-9a-f]{32}/g)).size;
    if (found !== count) throw new Error(`${found} of ${count} rows are in the answer`);
  },
});

const one = {
  name: 'select 1',
  sql: () => 'SELECT 1 AS one',
  check(answer: string) {
    if (!/one/.test(answer) || !/\b1\b/.test(answer)) throw new Error('the row is not in the answer');
  },
};

const cell = {
  name: 'a cell of 1 MB',
  sql: ({ logs }: Speech) => `SELECT body FROM ${logs}`,
  check(answer: string) {
    if (!answer.includes('x'.repeat(cellBytes))) throw new Error('the cell is not whole');
  },
};

const list = {
  name: 'tools/list',
  check(answer: string, { tool }: Speech) {
    if (!answer.includes(`"name":"${tool}"`)) throw new Error('the tool is not in the list');
  },
};

const old = '2025-11-25';
const modern = '2026-07-28';

export const lines: readonly Line[] = [
  { ...list, connections: 16, era: old, quick: true },
  { ...list, connections: 16, era: modern },
  { ...one, connections: 1, era: old },
  { ...one, connections: 16, era: old, quick: true },
  { ...one, connections: 16, era: modern },
  { ...one, connections: 64, era: old, quick: true },
  { ...rowsOf(100), connections: 16, era: old },
  { ...rowsOf(1_000), connections: 1, era: old },
  { ...rowsOf(1_000), connections: 16, era: old, quick: true },
  { ...rowsOf(1_000), connections: 16, era: modern },
  { ...rowsOf(1_000), connections: 64, era: old },
  { ...rowsOf(10_000), connections: 16, era: old, quick: true },
  { ...cell, connections: 16, era: old },
];

export interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The line's request as a client of its revision sends it. */
export function requestOf({ era, sql }: Line, speech: Speech, token: string | undefined): Request {
  const method = sql === undefined ? 'tools/list' : 'tools/call';
  const call = sql && { name: speech.tool, arguments: { sql: sql(speech), ...speech.more } };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': era,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      // As fetch sends it, by which the official clients ask.
      'accept-encoding': 'gzip, deflate',
      'mcp-protocol-version': era,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(era === modern && { 'mcp-method': method, ...(call && { 'mcp-name': speech.tool }) }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...call, ...(era === modern && { _meta }) } }),
  };
}

const message = z.object({ result: z.looseObject({ isError: z.literal(false).optional() }) });

/** Asks once and holds the answer to what it must be. The JSON-RPC message, also where it came as an event. */
export async function answerOf(url: string, { headers, body }: Request, line: Line, speech: Speech): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 300)}`);
  const event = /^data: ?(.*)$/m.exec(text)?.[1];
  const answer = response.headers.get('content-type')?.startsWith('text/event-stream') ? (event ?? '') : text;
  if (!message.safeParse(JSON.parse(answer)).success) throw new Error(`refused: ${answer.slice(0, 300)}`);
  line.check(answer, speech);
  return answer;
}

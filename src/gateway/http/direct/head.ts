import type { IncomingHttpHeaders } from 'node:http';

/** The longest request that is read here: what a socket gives at once. */
export const mostBytes = 64 * 1024;
const mostHeaders = 64;

export interface Head {
  readonly headers: IncomingHttpHeaders;
  readonly memo: object;
  readonly keepAlive: boolean;
  /** Where the body begins and ends. */
  readonly bodyAt: number;
  readonly end: number;
}

/** RFC 9112 §5 without what only old clients send: folded lines, bytes beyond ASCII, white space before the colon. */
const fields = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e]*\r\n)+$/y;
const length = /^(?:0|[1-9]\d{0,5})$/;
/** They change where a request or its connection ends, or what comes before its answer; or node:http has them in other ways. */
const others = ['transfer-encoding', 'expect', 'upgrade', 'proxy-connection', 'set-cookie', '__proto__'];

/**
 * Reads the head of a request that every HTTP parser must read alike, so that nobody can mean one request and have another one
 * served: one that says its length once and in digits, and each header once. Anything else is for node:http, of which
 * nothing is said here, nor whether it is valid.
 * @param starts the request lines that are served, CR LF included.
 * @param headerBytes the longest head.
 * @returns undefined for what is not read here; `more` where the head may become one that is.
 */
export function readHead(bytes: Buffer, starts: readonly string[], headerBytes: number): Head | 'more' | undefined {
  const found = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  const headEnd = found === -1 ? Math.min(bytes.length, headerBytes) : found + 2;
  if (headEnd + 2 > headerBytes) return undefined;
  const text = bytes.toString('latin1', 0, headEnd);
  if (found === -1) return starts.some((start) => begins(text, start)) ? 'more' : undefined;
  const start = starts.find((line) => text.startsWith(line));
  if (start === undefined) return undefined;
  const headers = readFields(text, start.length);
  if (headers?.host === undefined || others.some((name) => headers[name] !== undefined)) return undefined;
  const said = headers['content-length'];
  const connection = headers.connection?.toLowerCase();
  if (said === undefined || !length.test(said)) return undefined;
  if (connection !== undefined && connection !== 'keep-alive' && connection !== 'close') return undefined;
  const bodyAt = headEnd + 2;
  const end = bodyAt + Number(said);
  return end > mostBytes ? undefined : { headers, memo: {}, keepAlive: connection !== 'close', bodyAt, end };
}

function begins(text: string, start: string): boolean {
  return text.length < start.length ? start.startsWith(text) : text.startsWith(start);
}

function readFields(text: string, from: number): IncomingHttpHeaders | undefined {
  fields.lastIndex = from;
  if (!fields.test(text)) return undefined;
  const headers: IncomingHttpHeaders = Object.create(null);
  let count = 0;
  for (let at = from; at < text.length;) {
    const colon = text.indexOf(':', at);
    const lineEnd = text.indexOf('\r\n', colon);
    const name = text.slice(at, colon).toLowerCase();
    count += 1;
    if (headers[name] !== undefined || count > mostHeaders) return undefined;
    headers[name] = text.slice(colon + 1, lineEnd).trim();
    at = lineEnd + 2;
  }
  return headers;
}

import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body parsed, or undefined where it is no JSON. */
  readonly json: unknown;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/** One request as written: no header is added but Host and, for a body, its length. */
export function rawRequest(url: string, { method = 'POST', headers = {}, body }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Bytes on a socket, and all that comes back until the peer closes. */
export function rawSocket(port: number, write: readonly string[], pauseMs = 0): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let next = 0;
    const send = (): void => {
      const piece = write[next];
      next += 1;
      if (piece === undefined || socket.destroyed) return;
      socket.write(piece);
      setTimeout(send, pauseMs);
    };
    socket.setEncoding('utf8').on('connect', send);
    socket.on('data', (text: string) => (received += text));
    socket.on('error', reject).on('close', () => resolve(received));
  });
}

/** The JSON-RPC messages of an event stream, comments left out. */
export function readEvents(text: string): unknown[] {
  return text
    .split('\n\n')
    .map((event) => /^event: message\ndata: (.*)$/.exec(event)?.[1])
    .filter((data) => data !== undefined)
    .map((data): unknown => JSON.parse(data));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

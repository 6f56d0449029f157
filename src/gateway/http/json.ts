import type { ServerResponse } from 'node:http';

/** Small JSON, never cached unless the route says otherwise. */
export function sendJson(response: ServerResponse, status: number, body: object, cacheControl = 'no-store'): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': cacheControl,
  });
  response.end(text);
}

export function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  hint?: string,
): void {
  sendJson(response, status, { error: { code, message, ...(hint === undefined ? {} : { hint }) } });
}

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

const lingerMs = 1_000;
const lingerBytes = 16 * 1024 * 1024;

/**
 * Answers a request whose body may not have come. Closing under a sender that still writes resets the connection, and the answer
 * is lost on the way; so what still comes is thrown away for up to a second or 16 MiB, and then the connection ends.
 */
export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Buffer,
): void {
  if (request.complete) return void response.writeHead(status, headers).end(body);
  response.shouldKeepAlive = false;
  response.writeHead(status, headers).write(body);
  let dropped = 0;
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', drop);
    response.end();
  };
  const drop = (chunk: Buffer): void => {
    dropped += chunk.length;
    if (dropped > lingerBytes) end();
  };
  const timer = setTimeout(end, lingerMs);
  request.on('data', drop).once('end', end).once('close', end).once('error', end).resume();
}

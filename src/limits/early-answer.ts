import type { IncomingMessage, ServerResponse } from 'node:http';

const lingerMs = 1_000;
const lingerBytes = 16 * 1024 * 1024;

/**
 * Ends an answer that is given before the request has come. Closing under a sender that still writes resets the connection, and
 * the answer is lost on the way; so what still comes is thrown away for up to a second or 16 MiB.
 * Say `connection: close` in the head, which is to be written before.
 */
export function endEarly(request: IncomingMessage, response: ServerResponse, body: string | Buffer): void {
  if (request.complete) return void response.end(body);
  response.write(body);
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

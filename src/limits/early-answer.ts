import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { TokenBucket } from './token-bucket.ts';
import type { Rate } from './token-bucket.ts';

interface ThrottleOptions extends Rate {
  readonly now: () => Date;
}

/** Counts one event for a name. Answers 0 if it may go on, else the seconds until the next one may. */
type Throttle = (name: string) => number;

/** Names remembered; the one seen longest ago is forgotten first. */
const capacity = 10_000;

/** A bucket for each name. */
export function createThrottle({ now, ...rate }: ThrottleOptions): Throttle {
  const buckets = new LRUCache<string, TokenBucket>({ max: capacity });
  return (name) => {
    const at = now().getTime();
    let bucket = buckets.get(name);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, at);
      buckets.set(name, bucket);
    }
    bucket.fill(at);
    const wait = Math.ceil(bucket.wait);
    if (wait === 0) bucket.take();
    return wait;
  };
}

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

import type { ProgressNotification, ProgressToken } from '@modelcontextprotocol/client';
import type { ToolContext } from '../contract/core/index.ts';
import { TokenBucket } from '../limits/token-bucket.ts';
import type { Exchange } from './exchange.ts';
import type { JsonObject } from './protocol.ts';

const rate = { perMinute: 600, burst: 10 };
const maxMessageLength = 1_000;

const silent: ToolContext['progress'] = () => {};

/**
 * What a tool reports its progress to. Sent only if the caller gave a token and can read a stream; rising values only, and at
 * most ten a second after a burst of ten, since the protocol asks for both.
 */
export function createProgress(exchange: Exchange, metadata: JsonObject | undefined): ToolContext['progress'] {
  const progressToken = metadata?.['progressToken'];
  if (!isUsable(progressToken) || !exchange.accepted.eventStream) return silent;
  let last = Number.NEGATIVE_INFINITY;
  const bucket = new TokenBucket(rate, performance.now());
  return (progress, message, total) => {
    if (exchange.done || !Number.isFinite(progress) || progress <= last) return;
    bucket.fill(performance.now());
    if (bucket.wait > 0) return;
    bucket.take();
    last = progress;
    const notification: ProgressNotification = {
      method: 'notifications/progress',
      params: {
        progressToken,
        progress,
        ...(total === undefined ? {} : { total }),
        message: message.slice(0, maxMessageLength),
      },
    };
    exchange.event({ jsonrpc: '2.0', ...notification });
  };
}

function isUsable(token: unknown): token is ProgressToken {
  return typeof token === 'string' || Number.isSafeInteger(token);
}

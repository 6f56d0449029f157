import type { ProgressNotification, ProgressToken } from '@modelcontextprotocol/client';
import type { ToolContext } from '../contract/core/index.ts';
import type { Exchange } from './exchange.ts';
import type { JsonObject } from './protocol.ts';

const burst = 10;
const perSecond = 10;
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
  let allowance = burst;
  let refilledAt = performance.now();
  return (progress, message, total) => {
    if (exchange.done || !Number.isFinite(progress) || progress <= last) return;
    const now = performance.now();
    allowance = Math.min(burst, allowance + ((now - refilledAt) / 1_000) * perSecond);
    refilledAt = now;
    if (allowance < 1) return;
    allowance -= 1;
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

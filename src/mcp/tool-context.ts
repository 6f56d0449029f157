import type { Logger, Operation, ToolContext } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';
import type { Exchange } from './exchange.ts';
import type { RpcMessage } from './message.ts';
import { createProgress } from './progress.ts';
import type { Era } from './protocol.ts';
import { readTraceParent } from './trace.ts';

export interface ToolCall {
  readonly exchange: Exchange;
  readonly principal: Principal;
  readonly message: RpcMessage;
  readonly era: Era;
  readonly sessionId: string | undefined;
}

/**
 * What a tool is told of its call. A class, since an object literal with getters has a hidden class of its own each time: every
 * read of it would be slow, and V8 would keep all that it reaches until the next full collection.
 */
export class CallContext implements ToolContext {
  readonly principal: ToolContext['principal'];
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly progress: ToolContext['progress'];
  readonly operation: Operation | undefined;
  readonly #call: ToolCall;
  readonly #log: () => Logger;
  #logger: Logger | undefined;

  constructor(call: ToolCall, signal: AbortSignal, log: () => Logger) {
    const { exchange, principal, message } = call;
    this.principal = principal;
    this.signal = signal;
    this.requestId = exchange.requestId;
    this.progress = createProgress(exchange, message.meta);
    this.operation = exchange.operation;
    this.#call = call;
    this.#log = log;
  }

  get traceId(): string {
    const { exchange, message } = this.#call;
    const span = this.operation?.span ?? readTraceParent(message.meta, exchange.request.headers);
    return span?.traceId ?? exchange.requestId;
  }

  get logger(): Logger {
    return (this.#logger ??= this.#log());
  }
}

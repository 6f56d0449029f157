import type { IncomingHttpHeaders } from 'node:http';
import type { ProgressNotification, ProgressToken } from '@modelcontextprotocol/client';
import {
  type ToolContext,
  type Logger,
  type Operation,
  type TraceParent,
  type JsonObject,
  isObject,
} from '../contract/core/index.ts';
import { TokenBucket } from '../limits/rate-limit.ts';
import type { Exchange } from './exchange.ts';
import { type Era, meta } from './protocol.ts';
import type { Principal } from '../contract/issuer/index.ts';
import type { RpcMessage } from './message.ts';
import { randomUUID } from 'node:crypto';

/** Trace fields of a log line: our own span's, else the caller's. */
interface TraceFields {
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly parent_span_id?: string;
  readonly tracestate?: string;
}

const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const zeros = /^0+$/;

/** W3C trace context from `params._meta` (SEP-414), else from the HTTP headers; what is malformed counts as absent. */
export function readTraceParent(
  metadata: JsonObject | undefined,
  headers: IncomingHttpHeaders,
): TraceParent | undefined {
  const fromMeta = metadata?.['traceparent'] !== undefined;
  const traceparent = fromMeta ? metadata['traceparent'] : headers['traceparent'];
  const tracestate = fromMeta ? metadata['tracestate'] : headers['tracestate'];
  if (typeof traceparent !== 'string' || traceparent.startsWith('ff')) return undefined;
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  const state = typeof tracestate === 'string' && /^[\x20-\x7e]{1,512}$/.test(tracestate) ? tracestate : undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state };
}

export function traceFields(parent: TraceParent | undefined, operation: Operation | undefined): TraceFields {
  const own = operation?.span;
  if (parent === undefined) return own === undefined ? {} : { trace_id: own.traceId, span_id: own.spanId };
  return {
    trace_id: parent.traceId,
    ...(own !== undefined && { span_id: own.spanId }),
    parent_span_id: parent.spanId,
    ...(parent.state !== undefined && { tracestate: parent.state }),
  };
}

export interface ToolCall {
  readonly exchange: Exchange;
  readonly principal: Principal;
  readonly message: RpcMessage;
  readonly era: Era;
  readonly sessionId: string | undefined;
}

/** A tool's view of its call. A class: an object literal with getters is slow to read and outlives the call in V8. */
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

  /** Only some tools ask. */
  get roomBytes(): number | undefined {
    return roomBytes(this.#call.message, this.#call.sessionId);
  }

  get logger(): Logger {
    return (this.#logger ??= this.#log());
  }
}

const rate = { perMinute: 600, burst: 10 };
const maxMessageLength = 1_000;

const silent: ToolContext['progress'] = () => {};

/** Needs the caller's token and a stream. The protocol asks for rising values only, and for few: ten a second. */
function createProgress(exchange: Exchange, metadata: JsonObject | undefined): ToolContext['progress'] {
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

/*
 * A few clients show their models both forms of a result, and cut the two together below our default (docs/clients.md).
 * They get rows that fit. A 2026 client says its name with each request; a 2025 one says it once, at `initialize`, so
 * its session id carries the name of the room. A forged id changes its own default, nothing else.
 */
const rooms = [
  { client: /^cline|^@cline\//i, name: 'cline', bytes: 3_500 },
  { client: /^copilot-cli$/i, name: 'copilot', bytes: 9_000 },
  { client: /^qwen-cli/i, name: 'qwen', bytes: 11_000 },
] as const;

export function newSessionId(params: RpcMessage['params']): string {
  const room = roomOf(params['clientInfo']);
  return room === undefined ? randomUUID() : `${randomUUID()}.${room.name}`;
}

/** Bytes of rows that this call's client shows its model beside the rest of a result; undefined for most. */
function roomBytes(message: RpcMessage, sessionId: string | undefined): number | undefined {
  const info = message.meta?.[meta.clientInfo];
  if (info !== undefined) return roomOf(info)?.bytes;
  const at = sessionId?.indexOf('.') ?? -1;
  if (sessionId === undefined || at < 0) return undefined;
  const named = sessionId.slice(at + 1);
  return rooms.find(({ name }) => name === named)?.bytes;
}

function roomOf(clientInfo: unknown): (typeof rooms)[number] | undefined {
  if (!isObject(clientInfo)) return undefined;
  const { name } = clientInfo;
  return typeof name === 'string' ? rooms.find(({ client }) => client.test(name)) : undefined;
}

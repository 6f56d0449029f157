import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from './protocol.ts';

/** Log fields of the caller's trace. */
export interface TraceFields {
  readonly trace_id?: string;
  readonly parent_span_id?: string;
  readonly tracestate?: string;
}

const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const zeros = /^0+$/;

/** W3C trace context from `params._meta` (SEP-414), else from the HTTP headers; what is malformed counts as absent. */
export function readTrace(metadata: JsonObject | undefined, headers: IncomingHttpHeaders): TraceFields {
  const fromMeta = metadata?.['traceparent'] !== undefined;
  const traceparent = fromMeta ? metadata['traceparent'] : headers['traceparent'];
  const tracestate = fromMeta ? metadata['tracestate'] : headers['tracestate'];
  if (typeof traceparent !== 'string' || traceparent.startsWith('ff')) return {};
  const match = traceparentPattern.exec(traceparent);
  const [, traceId, spanId] = match ?? [];
  if (traceId === undefined || spanId === undefined || zeros.test(traceId) || zeros.test(spanId)) return {};
  const state = typeof tracestate === 'string' && /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { tracestate } : {};
  return { trace_id: traceId, parent_span_id: spanId, ...state };
}

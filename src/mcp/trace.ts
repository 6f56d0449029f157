import type { IncomingHttpHeaders } from 'node:http';
import type { Operation, TraceParent } from '../contract/core/index.ts';
import type { JsonObject } from './protocol.ts';

/** Trace fields of a log line: our own span's, else the caller's. */
export interface TraceFields {
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

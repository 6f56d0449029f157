import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Histogram,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { ErrorCode, Operation, OperationFacts, SpanIds, TraceParent } from '../../contract/core/index.ts';

/** Epoch ms at a moment of `performance.now()`. For both ends of a span: the SDK's own end may lie before its start. */
export function wallClockAt(moment: number): number {
  return performance.timeOrigin + moment;
}

export interface Traces {
  readonly tracer: Tracer;
  /** Of traces that begin here; a caller's sampling decision is kept. */
  readonly sampleRatio: number;
}

/** MCP operations by the MCP semantic conventions: a span of kind SERVER, where there is a tracer, and a duration. */
export class Operations {
  readonly #duration: Histogram;
  readonly #traces: Traces | undefined;

  constructor(duration: Histogram, traces: Traces | undefined) {
    this.#duration = duration;
    this.#traces = traces;
  }

  begin(facts: OperationFacts): RecordedOperation {
    const method = mcpMethod(facts.method);
    const common: Attributes = { 'mcp.method.name': method, 'network.transport': 'tcp' };
    if (facts.tool !== undefined) {
      common['gen_ai.tool.name'] = facts.tool;
      common['gen_ai.operation.name'] = 'execute_tool';
    }
    if (facts.protocolVersion !== undefined) common['mcp.protocol.version'] = facts.protocolVersion;
    const span =
      this.#traces && isKept(this.#traces, facts) ? startSpan(this.#traces.tracer, method, common, facts) : undefined;
    return new RecordedOperation(this.#duration, common, facts.since, span);
  }
}

/** Decided before a span is made: one that is not kept would cost nearly as much. */
function isKept({ sampleRatio }: Traces, { parent }: OperationFacts): boolean {
  return parent === undefined ? Math.random() < sampleRatio : parent.sampled;
}

function startSpan(tracer: Tracer, method: string, common: Attributes, facts: OperationFacts): Span {
  const attributes: Attributes = {
    ...common,
    'sightline.organization.id': facts.organizationId,
    'sightline.request.id': facts.requestId,
  };
  if (facts.rpcId !== undefined) attributes['jsonrpc.request.id'] = String(facts.rpcId);
  if (facts.sessionId !== undefined) attributes['mcp.session.id'] = facts.sessionId;
  return tracer.startSpan(
    facts.tool === undefined ? method : `${method} ${facts.tool}`,
    { kind: SpanKind.SERVER, attributes, startTime: wallClockAt(facts.since) },
    facts.parent === undefined ? ROOT_CONTEXT : under(facts.parent),
  );
}

function under({ traceId, spanId, sampled, state }: TraceParent): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  });
}

export class RecordedOperation implements Operation {
  readonly #duration: Histogram;
  readonly #attributes: Attributes;
  readonly #since: number;
  readonly #span: Span | undefined;
  readonly span: SpanIds | undefined;
  #failure: ErrorCode | undefined;
  #ended = false;

  constructor(duration: Histogram, attributes: Attributes, since: number, span: Span | undefined) {
    this.#duration = duration;
    this.#attributes = attributes;
    this.#since = since;
    this.#span = span;
    this.span = span?.spanContext();
  }

  /** What spans of this operation are children of; undefined where it has none itself. */
  get context(): Context | undefined {
    return this.#span && trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  toolFailed(code: ErrorCode): void {
    this.#failure = code;
  }

  end(rpcCode?: number): void {
    if (this.#ended) return;
    this.#ended = true;
    const now = performance.now();
    const failed = failureAttributes(rpcCode, this.#failure);
    this.#duration.record((now - this.#since) / 1_000, { ...this.#attributes, ...failed });
    if (failed !== undefined) {
      // No description: an error's message may quote what the caller sent.
      this.#span?.setAttributes(failed).setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span?.end(wallClockAt(now));
  }
}

function failureAttributes(rpcCode: number | undefined, tool: ErrorCode | undefined): Attributes | undefined {
  if (rpcCode !== undefined) return { 'error.type': String(rpcCode), 'rpc.response.status_code': String(rpcCode) };
  return tool && { 'error.type': 'tool_error', 'sightline.error.code': tool };
}

/** Methods of the OpenTelemetry conventions and of MCP 2026-07-28. Others count as `_OTHER`: clients must not add series. */
const methods: ReadonlySet<string> = new Set([
  'completion/complete',
  'elicitation/create',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/message',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]);

const httpMethods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

const other = '_OTHER';

function mcpMethod(name: string): string {
  return methods.has(name) ? name : other;
}

export function httpMethod(name: string | undefined): string {
  return name !== undefined && httpMethods.has(name) ? name : other;
}

/** By the database conventions where they know the system. */
const systems: Readonly<Record<string, string>> = { postgres: 'postgresql', bigquery: 'gcp.bigquery' };

export function databaseSystem(dialect: string): string {
  return systems[dialect] ?? dialect;
}

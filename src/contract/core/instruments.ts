import type { ErrorCode } from './errors.ts';
import type { OrganizationId } from './ids.ts';

/**
 * What the service counts and times of itself. Where nothing is recorded there is no such object, and callers write
 * `instruments?.`: then it costs nothing. Names that come from outside are made a closed set here, and an organization is
 * named on spans alone. All times are of `performance.now()`.
 */
export interface Instruments {
  /** An MCP request or notification that is under way. */
  operation(facts: OperationFacts): Operation;
  /** A statement at the warehouse. @param since it had its place there, or was sent with others. */
  queried(facts: QueryFacts, since: number, outcome: QueryOutcome): void;
  /** How long a statement waited for its place, where it had to wait. */
  queued(since: number): void;
  /** @param route one of a closed set, or undefined. @param status undefined where the client left before the answer. */
  httpRequest(method: string | undefined, route: string | undefined, status: number | undefined, since: number): void;
  /** Nothing was done, for want of room: what is answered with 429 or 503. */
  refused(by: 'http' | 'mcp' | 'ingest', reason: ErrorCode): void;
  ingested(signal: 'traces' | 'metrics' | 'logs', accepted: number, rejected: number): void;
  investigated(outcome: 'completed' | 'waiting' | 'failed' | 'given_up', since: number): void;
}

export interface OperationFacts {
  readonly method: string;
  /** One that is served. */
  readonly tool: string | undefined;
  readonly protocolVersion: string | undefined;
  readonly sessionId: string | undefined;
  /** Of the JSON-RPC message; undefined for a notification. */
  readonly rpcId: string | number | undefined;
  readonly requestId: string;
  readonly organizationId: OrganizationId;
  readonly parent: TraceParent | undefined;
  readonly since: number;
}

/** The caller's place in its own trace (W3C Trace Context). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  readonly state: string | undefined;
}

export interface Operation {
  /** Ids for log lines; undefined where no span is made. */
  readonly span: SpanIds | undefined;
  /** The tool's own failure, which is a result to MCP. */
  toolFailed(code: ErrorCode): void;
  /** @param rpcCode of the JSON-RPC error that was answered. */
  end(rpcCode?: number): void;
}

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

export interface QueryFacts {
  /** The dialect's own name. */
  readonly dialect: string;
  /** As the caller wrote it. It is recorded only where the config says that statements are. */
  readonly sql: string;
  readonly organizationId: OrganizationId;
  /** The request that asks; undefined for the agent. */
  readonly operation: Operation | undefined;
}

export type QueryOutcome = { readonly rows: number } | { readonly failed: ErrorCode };

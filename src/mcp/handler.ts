import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Implementation } from '@modelcontextprotocol/client';
import type { Principal } from '../contract/issuer/index.ts';
import {
  ClientGone,
  type JsonObject,
  SightlineError,
  type ErrorCode,
  type Instruments,
  type Operation,
  type OperationFacts,
  type Tool,
} from '../contract/core/index.ts';
import { expectsContinue, type Admission } from '../limits/admission.ts';
import { readMessage } from './body.ts';
import { readAccept, readEra } from './era.ts';
import { answerBatch, BatchPart, takesBatches } from './batch.ts';
import { createCaller, type CallerOptions } from './call.ts';
import { type ToolCall, readTraceParent, traceFields } from './tool-context.ts';
import { createCatalog } from './catalog.ts';
import { Exchange } from './exchange.ts';
import { createMethods } from './methods.ts';
import { RequestFailure, requestFailure, legacyVersions, meta, modernVersion, rpcCode } from './protocol.ts';
import { createGate, noteRefusedHosts } from './host-check.ts';
import { serveView, type View } from './view.ts';
import { peekId, readRpcMessage, createRunningCalls, type RunningCalls } from './message.ts';

export interface McpHandlerOptions extends Omit<CallerOptions, 'catalog' | 'admit' | 'running' | 'modernTail'> {
  /** Served in this order. */
  readonly tools: readonly Tool[];
  readonly serverInfo: Implementation;
  /** What clients may show of results; absent where the operator wants none. */
  readonly view?: View | undefined;
  /** How to use the tools together, for the model. */
  readonly instructions: string;
  /** Rejects with a SightlineError: `invalid_token` becomes 401 with a challenge, `unavailable` 503. */
  readonly authenticate: (request: IncomingMessage, about: { readonly requestId: string }) => Promise<Principal>;
  /** `name` (any port) or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** Browser origins, e.g. `http://localhost:8080`. */
  readonly allowedOrigins: readonly string[];
  /** Undefined where nothing is recorded. */
  readonly instruments?: Instruments | undefined;
  /** Where other processes serve the same clients: knows their calls, too. */
  readonly running?: RunningCalls;
  /**
   * Counts calls once the caller is known; where it has no room the answer is 503. For a server that leaves
   * `Expect: 100-continue` to its listener: an admitted call gets its 100.
   */
  readonly admission?: Pick<Admission, 'hasRoom' | 'admit'>;
  readonly limits?: Partial<McpLimits>;
}

export type McpListener = (request: IncomingMessage, response: ServerResponse) => void;

export interface Mcp {
  readonly listener: McpListener;
  /**
   * A tool call of a request that has other work to do: with the scope, rate, limits and audit record of a client's, and
   * cancelled when the response closes early. Answers the JSON-RPC response, a failure too.
   */
  readonly call: (
    caller: Principal,
    params: { readonly name: string; readonly arguments: JsonObject },
    about: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ) => Promise<string>;
}

export interface McpLimits {
  /** 1 MiB. */
  readonly maxBodyBytes: number;
  /** Levels of JSON nesting: 64. */
  readonly maxDepth: number;
  /** From the first byte wanted to the last: 10 s. */
  readonly bodyTimeoutMs: number;
  /** Between comments on a silent event stream: 15 s. */
  readonly keepAliveMs: number;
}

const defaultLimits: McpLimits = {
  maxBodyBytes: 1024 * 1024,
  maxDepth: 64,
  bodyTimeoutMs: 10_000,
  keepAliveMs: 15_000,
};

/** Visible ASCII, as the protocol wants session ids; another value cannot have come from us. */
const sessionIdPattern = /^[\x21-\x7e]{1,128}$/;

/** A plain request listener: runs on node:http, or in Express ahead of any body parser. Misuse throws here, at once. */
export function createMcpHandler(options: McpHandlerOptions): McpListener {
  return createMcp(options).listener;
}

/** The listener, and the way on which its calls go for somebody who is known by something else than a token. */
export function createMcp(options: McpHandlerOptions): Mcp {
  const { tools, serverInfo, instructions, authenticate, challenge, allowedHosts, allowedOrigins } = options;
  const { rateLimit, logger, instruments, admission } = options;
  const limits: McpLimits = { ...defaultLimits, ...options.limits };

  const view = options.view && serveView(options.view, serverInfo);
  const catalog = createCatalog(tools, serverInfo, view);
  const gate = createGate(allowedHosts, allowedOrigins, noteRefusedHosts(logger));
  const running = options.running ?? createRunningCalls();
  const modernTail = `,"resultType":"complete","_meta":${JSON.stringify({ [meta.serverInfo]: serverInfo })}`;
  const answer = createMethods({ catalog, view, serverInfo, instructions });
  const preflight = {
    // SDKs end a session by DELETE; the answer is a 405 that they understand, where a browser lets it through.
    'access-control-allow-methods': 'POST, DELETE',
    'access-control-allow-headers': [
      'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name',
      ...catalog.paramHeaderNames.map((name) => `Mcp-Param-${name}`),
    ].join(', '),
    'access-control-max-age': '600',
  };

  const admit = (principal: Principal, tool?: string): void => {
    const wait = rateLimit.take(principal, tool);
    if (wait === 0) return;
    throw requestFailure(
      new SightlineError('rate_limited', 'There are too many requests.', {
        hint: `Wait ${Math.max(1, Math.ceil(wait))} s.`,
        retryAfterSeconds: wait,
      }),
    );
  };
  const callTool = createCaller({ ...options, catalog, admit, running, modernTail });

  function unidentified(error: unknown, exchange: Exchange): unknown {
    if (!(error instanceof SightlineError)) return error;
    if (error.cause !== undefined) {
      logger.warn({ error: error.cause, code: error.code, request_id: exchange.requestId }, 'authentication failed');
    }
    if (error.code !== 'invalid_token') return requestFailure(error);
    const kind = /^bearer /i.test(exchange.request.headers.authorization ?? '') ? 'invalid_token' : 'missing';
    return new RequestFailure(401, 401, error.message, {
      data: { code: 'invalid_token', ...(error.hint !== undefined && { hint: error.hint }) },
      headers: { 'www-authenticate': challenge(kind, undefined, exchange.request) },
    });
  }

  async function serve(exchange: Exchange, since: number): Promise<void> {
    const { request } = exchange;
    try {
      exchange.origin = gate.check(request);
      if (request.method === 'OPTIONS') {
        exchange.empty(204, { allow: 'POST', ...(exchange.origin === undefined ? {} : preflight) });
        return;
      }
      // Under overload most are refused: without the work of authenticating them, though only who is known is counted.
      if (admission?.hasRoom(request.socket) === false) throw overloaded;
      let principal;
      try {
        principal = await authenticate(request, exchange);
      } catch (error) {
        throw unidentified(error, exchange);
      }
      // After the token: a client that asks by GET learns from the challenge that it has to sign in.
      if (request.method !== 'POST') {
        throw new RequestFailure(405, 405, 'Only POST is served here.', { headers: { allow: 'POST' } });
      }
      if (admission !== undefined) {
        if (!admission.admit(request.socket, exchange.response)) throw overloaded;
        if (expectsContinue(request)) exchange.response.writeContinue();
      }
      exchange.accepted = readAccept(request.headers.accept);
      const body = readMessage(request, limits);
      const sent = body instanceof Promise ? await body : body;
      const called =
        Array.isArray(sent) && takesBatches(request.headers)
          ? answerBatch(exchange, sent, limits, (part, message) =>
              settle(part, () => dispatch(part, principal, message, since)),
            )
          : dispatch(exchange, principal, sent, since);
      if (called !== undefined) await called;
      exchange.operation?.end();
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** Returns a promise only for tool calls; everything else is answered synchronously. */
  function dispatch(exchange: Exchange, principal: Principal, body: unknown, since: number): Promise<void> | undefined {
    exchange.id = peekId(body);
    const { headers } = exchange.request;
    const message = readRpcMessage(body);
    const era = readEra(headers, message);
    const session = headers['mcp-session-id'];
    const sessionId = typeof session === 'string' && sessionIdPattern.test(session) ? session : undefined;
    if (instruments !== undefined) {
      const { organizationId } = principal;
      exchange.operation = begin(instruments, { exchange, message, era, sessionId, organizationId, since });
    }
    if (message.id === undefined) {
      if (era === 'legacy' && message.method === 'notifications/cancelled') {
        running.cancel(principal, sessionId, message.params['requestId']);
      }
      exchange.empty(202);
      return undefined;
    }
    if (message.method === 'tools/call') return callTool({ exchange, principal, message, era, sessionId });
    admit(principal);
    answer(exchange, message, era);
    return undefined;
  }

  async function settle(exchange: Exchange, called: () => Promise<void> | undefined): Promise<void> {
    try {
      await called();
      exchange.operation?.end();
    } catch (error) {
      fail(exchange, error);
    }
  }

  function begin(
    recording: Instruments,
    {
      exchange,
      message,
      era,
      ...facts
    }: Pick<ToolCall, 'exchange' | 'message' | 'era' | 'sessionId'> & Pick<OperationFacts, 'organizationId' | 'since'>,
  ): Operation {
    const { headers } = exchange.request;
    const { method, params } = message;
    const tool =
      method === 'tools/call' && typeof params['name'] === 'string' ? catalog.entries.get(params['name']) : undefined;
    const named = headers['mcp-protocol-version'];
    return recording.operation({
      ...facts,
      requestId: exchange.requestId,
      method,
      tool: tool?.tool.name,
      protocolVersion: era === 'modern' ? modernVersion : legacyVersions.find((version) => version === named),
      rpcId: message.id,
      parent: readTraceParent(message.meta, headers),
    });
  }

  function fail(exchange: Exchange, error: unknown): void {
    if (error instanceof ClientGone) return;
    if (error instanceof RequestFailure) {
      if (error.status === 429 || error.status === 503) instruments?.refused('mcp', refusalOf(error));
      exchange.failure(error);
      exchange.operation?.end(error.code);
      return;
    }
    const { operation, requestId } = exchange;
    logger.error({ error, request_id: requestId, ...traceFields(undefined, operation) }, 'request failed unexpectedly');
    exchange.failure(
      new RequestFailure(500, rpcCode.internalError, 'Something went wrong in the gateway.', {
        data: { code: 'internal', request_id: requestId },
      }),
    );
    operation?.end(rpcCode.internalError);
  }

  const call: Mcp['call'] = async (principal, params, { request, response }) => {
    const part = new BatchPart(request, response, limits);
    const method = 'tools/call';
    part.id = 1;
    part.operation = instruments?.operation({
      requestId: part.requestId,
      organizationId: principal.organizationId,
      since: performance.now(),
      method,
      tool: catalog.entries.get(params.name)?.tool.name,
      protocolVersion: undefined,
      sessionId: undefined,
      rpcId: part.id,
      parent: undefined,
    });
    const message = { id: part.id, method, params, meta: undefined };
    await settle(part, () => callTool({ exchange: part, principal, message, era: 'modern', sessionId: undefined }));
    // Nothing is answered where the reader is gone.
    if (part.text === undefined) throw new ClientGone();
    return part.text;
  };

  return {
    listener: (request, response) => {
      const since = instruments === undefined ? 0 : performance.now();
      void serve(new Exchange(request, response, limits), since);
    },
    call,
  };
}

/** Made once: under overload it is thrown thousands of times a second. */
const overloaded = requestFailure(
  new SightlineError('overloaded', 'This gateway has more requests than it can answer at once.', {
    hint: 'Wait a second, then send the request again.',
    retryAfterSeconds: 1,
  }),
);

/** One of the three that a refusal for want of room can be. */
function refusalOf({ data }: RequestFailure): ErrorCode {
  const code = data?.['code'];
  return code === 'rate_limited' || code === 'overloaded' ? code : 'unavailable';
}

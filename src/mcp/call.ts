import type { IncomingMessage } from 'node:http';
import { SightlineError, type Logger, type ToolResult, isObject, type JsonObject } from '../contract/core/index.ts';
import type { Principal, Scope } from '../contract/issuer/index.ts';
import type { AuditLog, AuditRecord, Recording } from '../contract/storage/index.ts';
import { type CallsAtOnce, HeldAnswers } from '../limits/at-once.ts';
import { hashArguments, parseArguments, readArguments } from './arguments.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { RequestFailure, requestFailure, meta, quote, rpcCode, type Era } from './protocol.ts';
import type { RpcMessage, RunningCalls } from './message.ts';
import { checkParamHeaders } from './param-headers.ts';
import { byteLength, errorResultJson, maxResultBytes, resultJson } from './result.ts';
import { CallContext, readTraceParent, traceFields, type ToolCall } from './tool-context.ts';

export interface RateLimit {
  /** Counts one request, a call of the tool if there is one; 0 if it may go on, else the seconds until the next one may. */
  take(principal: Principal, tool?: string): number;
}

/** The value of a WWW-Authenticate header, the answer to this request. */
export type Challenge = (
  kind: 'missing' | 'invalid_token' | 'insufficient_scope',
  scope: Scope | undefined,
  request: Pick<IncomingMessage, 'headers' | 'url'>,
) => string;

export interface CallerOptions {
  readonly catalog: Catalog;
  readonly audit: AuditLog;
  /** Whether records hold the SQL of a call. */
  readonly auditStatements?: boolean;
  readonly admit: (principal: Principal, tool: string) => void;
  readonly rateLimit: RateLimit;
  readonly callsAtOnce: CallsAtOnce;
  readonly challenge: Challenge;
  readonly running: RunningCalls;
  readonly logger: Logger;
  readonly modernTail: string;
}

const longestStatement = 64_000;

/** `tools/call`: look-up → headers → capabilities → scope → rate → calls at once → a place in the audit → arguments → run → answer → record. */
export function createCaller(options: CallerOptions): (call: ToolCall) => Promise<void> {
  const { catalog, audit, auditStatements = false, admit, rateLimit, callsAtOnce, challenge } = options;
  const { running, logger, modernTail } = options;
  const held = new HeldAnswers();

  return async function callTool(call) {
    const { exchange, principal, message, era } = call;
    const { requestId } = exchange;
    const { entry, args: sent } = findTool(catalog, message);
    const { tool } = entry;
    const startedAt = new Date();
    const started = performance.now();
    const record = (
      outcome: AuditRecord['outcome'],
      facts?: Pick<AuditRecord, 'rows' | 'bytes' | 'truncated'>,
    ): AuditRecord => ({
      at: startedAt,
      event: 'tool.call',
      subject: principal.subject,
      requestId,
      target: tool.name,
      outcome,
      argumentsHash: hashArguments(sent),
      ...(auditStatements && statementOf(entry, sent)),
      durationMs: Math.round(performance.now() - started),
      ...facts,
    });

    if (era === 'modern' && entry.paramHeaders.length > 0) {
      checkParamHeaders(entry.paramHeaders, canonicalOrSent(entry, sent), exchange.request.headers);
    }
    checkCapabilities(entry, message, era);
    if (!principal.scopes.has(tool.scope)) {
      // Refusals are recorded too, but only as many as the rate limit lets through: else they would fill the store.
      if (rateLimit.take(principal, tool.name) === 0) (await reserve(audit, principal))(record('insufficient_scope'));
      throw new RequestFailure(403, 403, `${tool.name} needs the scope ${tool.scope}.`, {
        data: { code: 'insufficient_scope', scope: tool.scope },
        headers: { 'www-authenticate': challenge('insufficient_scope', tool.scope, exchange.request) },
      });
    }
    admit(principal, tool.name);
    const heldTooMuch = held.refusal(principal.organizationId);
    if (heldTooMuch !== undefined) throw requestFailure(heldTooMuch);
    if (!callsAtOnce.enter(principal, tool.name)) throw tooManyAtOnce();
    const tail = era === 'modern' ? modernTail : '';
    const controller = new AbortController();
    const unwatch = watch(call, controller, running);
    let write;
    try {
      write = await reserve(audit, principal, controller.signal);
    } catch (error) {
      unwatch();
      callsAtOnce.leave(principal, tool.name);
      if (controller.signal.aborted && exchange.abandon()) return;
      throw error;
    }
    const log = (): Logger =>
      logger.child({
        request_id: requestId,
        tool: tool.name,
        ...traceFields(readTraceParent(message.meta, exchange.request.headers), exchange.operation),
      });
    let kept: AuditRecord | undefined;
    let answer: ToolResult | string | RequestFailure;
    try {
      const input = parseArguments(entry, readArguments(entry, sent));
      answer = await tool.run(input, new CallContext(call, controller.signal, log));
      const bytes = checkResult(answer);
      kept = record('ok', { ...answer.facts, bytes });
    } catch (error) {
      const shown = showable(error, controller.signal, log);
      if (isRefusal(shown)) {
        answer = requestFailure(shown);
      } else {
        exchange.operation?.toolFailed(shown.code);
        answer = errorResultJson(shown, requestId, tail);
      }
      kept = record(shown.code);
    } finally {
      unwatch();
      callsAtOnce.leave(principal, tool.name);
      write(kept ?? record('internal'));
    }
    if (controller.signal.aborted && exchange.abandon()) return;
    if (answer instanceof RequestFailure) throw answer;
    const json = typeof answer === 'string' ? answer : resultJson(answer, tail);
    held.add(principal.organizationId, exchange.result(json), exchange.response);
  };
}

function tooManyAtOnce(): RequestFailure {
  return requestFailure(
    new SightlineError('rate_limited', 'There are too many calls at once.', {
      hint: 'Wait for the answers to earlier calls.',
      retryAfterSeconds: 1,
    }),
  );
}

function findTool(catalog: Catalog, { params }: RpcMessage): { entry: CatalogEntry; args: JsonObject } {
  const { name } = params;
  const args = params['arguments'] ?? {};
  if (typeof name !== 'string') throw new RequestFailure(200, rpcCode.invalidParams, 'params.name must name a tool.');
  const entry = catalog.entries.get(name);
  if (entry === undefined) throw new RequestFailure(200, rpcCode.invalidParams, `There is no tool ${quote(name)}.`);
  if (!isObject(args)) throw new RequestFailure(200, rpcCode.invalidParams, 'params.arguments must be an object.');
  return { entry, args };
}

/** An argument sent under two names is refused later, as the mistake in the arguments that it is. */
function canonicalOrSent(entry: CatalogEntry, args: JsonObject): JsonObject {
  try {
    return readArguments(entry, args);
  } catch {
    return args;
  }
}

/** As sent, also where the arguments are refused later; what is longer than any statement may be is cut. */
function statementOf(entry: CatalogEntry, sent: JsonObject): Pick<AuditRecord, 'statement'> {
  const { statement: name } = entry.tool;
  const sql = name === undefined ? undefined : canonicalOrSent(entry, sent)[name];
  return typeof sql === 'string' ? { statement: sql.slice(0, longestStatement).toWellFormed() } : {};
}

function checkCapabilities({ tool }: CatalogEntry, message: RpcMessage, era: Era): void {
  if (tool.clientCapabilities === undefined) return;
  // A 2025 client declared its capabilities to a session, and there are none: nothing is known, so nothing is relied on.
  const declared = era === 'modern' ? message.meta?.[meta.clientCapabilities] : undefined;
  const missing = Object.entries(tool.clientCapabilities).filter(
    ([name]) => !isObject(declared) || !Object.hasOwn(declared, name),
  );
  if (missing.length === 0) return;
  throw new RequestFailure(
    era === 'modern' ? 400 : 200,
    rpcCode.missingClientCapability,
    `${tool.name} needs a client capability that was not declared.`,
    { data: { requiredCapabilities: Object.fromEntries(missing) } },
  );
}

async function reserve(audit: AuditLog, principal: Principal, signal?: AbortSignal): Promise<Recording> {
  try {
    return await audit.reserve(principal.organizationId, signal);
  } catch (error) {
    throw error instanceof SightlineError ? requestFailure(error) : error;
  }
}

function watch(
  { exchange, principal, message, era, sessionId }: ToolCall,
  controller: AbortController,
  running: RunningCalls,
) {
  if (era === 'legacy') {
    // Here a lost connection is no cancellation (2025-11-25 transports); only notifications/cancelled is.
    return message.id === undefined ? () => {} : running.add(principal, sessionId, message.id, controller);
  }
  const { response } = exchange;
  const onClose = (): void => controller.abort();
  if (response.destroyed) onClose();
  response.once('close', onClose);
  return () => void response.off('close', onClose);
}

function checkResult({ structured, text, content }: ToolResult): number {
  const bytes = byteLength(structured);
  if (!(typeof structured === 'string' ? structured : structured.before).startsWith('{'))
    throw new Error('structured content must be a JSON object');
  const shown = content === undefined ? text : JSON.stringify(content);
  if (bytes > maxResultBytes || byteLength(shown) > maxResultBytes) {
    throw new SightlineError('payload_too_large', 'The result is larger than 5 MB.', { hint: 'Ask for less of it.' });
  }
  return bytes;
}

/** Nothing was done, for want of room: 429 or 503 with Retry-After, which clients and proxies know how to take. */
function isRefusal({ code }: SightlineError): boolean {
  return code === 'rate_limited' || code === 'overloaded';
}

/** What the caller may read of a failure; the rest goes to the log under the request's id. */
function showable(error: unknown, signal: AbortSignal, log: () => Logger): SightlineError {
  if (error instanceof SightlineError) {
    if (error.cause !== undefined) log().warn({ error: error.cause, code: error.code }, 'tool call failed');
    return error;
  }
  if (signal.aborted) return new SightlineError('query_cancelled', 'The call was cancelled.');
  log().error({ error }, 'tool call failed unexpectedly');
  return new SightlineError('internal', 'Something went wrong in the gateway.', {
    hint: 'Quote the request_id to the operator.',
  });
}

import type {
  DiscoverResult,
  Implementation,
  InitializeResult,
  ServerCapabilities,
  SubscriptionsAcknowledgedNotification,
} from '@modelcontextprotocol/client';
import { isObject } from '../contract/core/index.ts';
import { cacheHints, type Catalog } from './catalog.ts';
import type { Exchange } from './exchange.ts';
import type { RpcMessage } from './message.ts';
import {
  RequestFailure,
  latestLegacyVersion,
  legacyVersions,
  meta,
  modernVersion,
  quote,
  refuseCursor,
  rpcCode,
  type Era,
} from './protocol.ts';
import { newSessionId } from './tool-context.ts';
import type { ServedView } from './view.ts';

export interface MethodsOptions {
  readonly catalog: Catalog;
  /** Absent where the operator wants none. */
  readonly view: ServedView | undefined;
  readonly serverInfo: Implementation;
  readonly instructions: string;
}

/** Answers every method but `tools/call`, at once. Throws a RequestFailure. */
export type AnswerMethod = (exchange: Exchange, message: RpcMessage, era: Era) => void;

export function createMethods({ catalog, view, serverInfo, instructions }: MethodsOptions): AnswerMethod {
  const capabilitiesFor = (clientInfo: unknown, clientCapabilities: unknown): ServerCapabilities =>
    view?.capabilities(clientInfo, clientCapabilities) ?? bareCapabilities;

  function answer(exchange: Exchange, message: RpcMessage, era: Era): void {
    const { method, params } = message;
    if (method === 'tools/list') {
      refuseCursor(params);
      exchange.prepared(era === 'modern' ? catalog.modernList : catalog.legacyList);
    } else if (era === 'modern' && method === 'server/discover') {
      exchange.result(JSON.stringify(discovery(message)));
    } else if (era === 'modern' && method === 'subscriptions/listen') {
      listen(exchange, message);
    } else if (era === 'legacy' && method === 'initialize') {
      initialize(exchange, message);
    } else if (era === 'legacy' && method === 'ping') {
      exchange.result('{}');
    } else if (view?.answers(method) === true) {
      exchange.result(JSON.stringify(view.answer(message, era)));
    } else if (era === 'legacy' && emptyLists.has(method)) {
      refuseCursor(params);
      exchange.result(`{"${emptyLists.get(method) ?? ''}":[]}`);
    } else {
      // A 404 would tell a 2025 client that its session is gone.
      throw new RequestFailure(
        era === 'modern' ? 404 : 200,
        rpcCode.methodNotFound,
        `There is no method ${quote(method)}.`,
      );
    }
  }

  function discovery({ meta: about }: RpcMessage): DiscoverResult {
    return {
      supportedVersions: [modernVersion],
      capabilities: capabilitiesFor(about?.[meta.clientInfo], about?.[meta.clientCapabilities]),
      instructions,
      ...cacheHints,
      resultType: 'complete',
      _meta: { [meta.serverInfo]: serverInfo },
    };
  }

  function initialize(exchange: Exchange, { params }: RpcMessage): void {
    const requested = params['protocolVersion'];
    if (typeof requested !== 'string') {
      throw new RequestFailure(200, rpcCode.invalidParams, 'params.protocolVersion must be a string.');
    }
    const protocolVersion = legacyVersions.includes(requested) ? requested : latestLegacyVersion;
    const capabilities = capabilitiesFor(params['clientInfo'], params['capabilities']);
    const result: InitializeResult = { protocolVersion, capabilities, serverInfo, instructions };
    // Nothing is kept under the id. It tells one client's calls from another's when one of them is cancelled.
    exchange.result(JSON.stringify(result), { 'mcp-session-id': newSessionId(params) });
  }

  /** Nothing here ever changes while it runs, so the subscription is acknowledged as empty and ends. */
  function listen(exchange: Exchange, { id, params }: RpcMessage): void {
    if (!isObject(params['notifications'])) {
      throw new RequestFailure(400, rpcCode.invalidParams, 'params.notifications must be an object.');
    }
    if (!exchange.accepted.eventStream) {
      throw new RequestFailure(406, 406, 'A subscription needs Accept: text/event-stream.');
    }
    const about = { [meta.subscriptionId]: id };
    const acknowledged: SubscriptionsAcknowledgedNotification = {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {}, _meta: about },
    };
    exchange.event({ jsonrpc: '2.0', ...acknowledged });
    exchange.result(JSON.stringify({ resultType: 'complete', _meta: { ...about, [meta.serverInfo]: serverInfo } }));
  }

  return answer;
}

const bareCapabilities: ServerCapabilities = { tools: {} };

/** What is not offered, by the member that lists it: older clients ask all the same, and take an error for a broken server. */
const emptyLists: ReadonlyMap<string, string> = new Map([
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);

import type { RequestId } from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../contract/core/index.ts';
import { RequestFailure, rpcCode } from './protocol.ts';
import type { Principal } from '../contract/issuer/index.ts';

export type { RequestId };

/** One JSON-RPC request, or a notification where `id` is undefined. */
export interface RpcMessage {
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject | undefined;
}

/** Characters. */
const maxIdLength = 256;
const maxMethodLength = 128;

/** The message in a parsed body. Throws -32600 for batches, responses, and anything that is no message. */
export function readRpcMessage(body: unknown): RpcMessage {
  if (Array.isArray(body)) throw invalid('Batches are not supported: send one message per request.');
  if (!isObject(body) || body['jsonrpc'] !== '2.0') throw invalid('The body is not a JSON-RPC 2.0 message.');
  const { method } = body;
  if (typeof method !== 'string' || method === '' || method.length > maxMethodLength) {
    throw invalid(
      'result' in body || 'error' in body ? 'Responses are not expected here.' : 'The method is not valid.',
    );
  }
  const id = 'id' in body ? readId(body['id']) : undefined;
  const params = body['params'] ?? {};
  if (!isObject(params)) throw invalid('params must be an object.');
  const found = params['_meta'];
  if (found !== undefined && !isObject(found)) {
    throw new RequestFailure(400, rpcCode.invalidParams, 'params._meta must be an object.');
  }
  return { id, method, params, meta: found };
}

/** The id of a message that is otherwise wrong, so that the error can carry it. */
export function peekId(body: unknown): RequestId | undefined {
  const id = isObject(body) ? body['id'] : undefined;
  return isRequestId(id) ? id : undefined;
}

function readId(id: unknown): RequestId {
  if (isRequestId(id)) return id;
  throw invalid('id must be a string of at most 256 characters or a safe integer.');
}

/** A number beyond the safe range would come back changed. */
function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= maxIdLength : Number.isSafeInteger(id);
}

function invalid(message: string): RequestFailure {
  return new RequestFailure(400, rpcCode.invalidRequest, message);
}

type Caller = Pick<Principal, 'organizationId' | 'subject'>;

/** Running calls that a 2025 client may cancel with a second request. Best effort: not other replicas', nor beyond `limit`. */
export interface RunningCalls {
  /** Returns the function that removes the call. */
  add(caller: Caller, sessionId: string | undefined, id: RequestId, controller: AbortController): () => void;
  cancel(caller: Caller, sessionId: string | undefined, id: unknown): boolean;
}

const ignore = (): void => {};

export function createRunningCalls(limit = 10_000): RunningCalls {
  const running = new Map<string, AbortController>();
  return {
    add(caller, sessionId, id, controller) {
      if (sessionId === undefined || running.size >= limit) return ignore;
      const key = keyOf(caller, sessionId, id);
      running.set(key, controller);
      return () => {
        // A client that reuses an id has replaced the entry; it is the later call's.
        if (running.get(key) === controller) running.delete(key);
      };
    },
    cancel(caller, sessionId, id) {
      if (sessionId === undefined || (typeof id !== 'string' && typeof id !== 'number')) return false;
      const controller = running.get(keyOf(caller, sessionId, id));
      controller?.abort();
      return controller !== undefined;
    },
  };
}

function keyOf({ organizationId, subject }: Caller, sessionId: string, id: RequestId): string {
  return JSON.stringify([organizationId, subject, sessionId, id]);
}

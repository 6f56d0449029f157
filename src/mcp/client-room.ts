import { randomUUID } from 'node:crypto';
import { isObject } from '../contract/core/index.ts';
import { meta } from './protocol.ts';
import type { RpcMessage } from './message.ts';

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
export function roomBytes(message: RpcMessage, sessionId: string | undefined): number | undefined {
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

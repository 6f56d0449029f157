import { isObject } from '../contract/core/index.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { RequestFailure, legacyVersions, meta, modernVersion, quote, rpcCode, type Era } from './protocol.ts';
import { decodeHeader, headerMismatch } from './param-headers.ts';
import type { RpcMessage } from './message.ts';

/**
 * The protocol era of a message; checks the header rules of 2026-07-28. The body decides: a protocol version in
 * `params._meta` makes it modern, `initialize` without one is the older handshake, and the header has to agree. A header
 * that names a modern revision over a body that does not is an error, never a silent fallback.
 */
export function readEra(headers: IncomingHttpHeaders, message: RpcMessage): Era {
  const named = trimmed(headers['mcp-protocol-version']);
  const claimed = message.meta?.[meta.protocolVersion];
  // Revisions are dates, so they sort.
  const headerIsModern = named !== undefined && named >= modernVersion;

  if (claimed === undefined) {
    if (!headerIsModern) return checkLegacy(named, message);
    if (message.method === 'initialize') {
      throw headerMismatch(
        `initialize is not a method of the revision that MCP-Protocol-Version names (${quote(named)}).`,
      );
    }
    if (message.id !== undefined) throw missingMeta(meta.protocolVersion);
    checkModernHeaders(headers, message);
    return 'modern';
  }

  if (typeof claimed !== 'string') throw missingMeta(meta.protocolVersion);
  if (named !== undefined && named !== claimed) {
    throw headerMismatch(`MCP-Protocol-Version is ${quote(named)} but the body says ${quote(claimed)}.`);
  }
  if (claimed !== modernVersion) {
    const message = `Protocol version ${quote(claimed)} is not supported.`;
    const data = { supported: [modernVersion], requested: claimed.slice(0, 64) };
    throw new RequestFailure(400, rpcCode.unsupportedProtocolVersion, message, { data });
  }
  checkModernHeaders(headers, message);
  if (message.id !== undefined && !isObject(message.meta?.[meta.clientCapabilities])) {
    throw missingMeta(meta.clientCapabilities);
  }
  return 'modern';
}

function checkLegacy(named: string | undefined, message: RpcMessage): Era {
  // At `initialize` the body is what negotiates; absent later means 2025-03-26 (2025-06-18 transports).
  if (named !== undefined && message.method !== 'initialize' && !legacyVersions.includes(named)) {
    throw new RequestFailure(400, rpcCode.invalidRequest, `MCP-Protocol-Version ${quote(named)} is not supported.`, {
      data: { supported: [modernVersion, ...legacyVersions], requested: named.slice(0, 64) },
    });
  }
  return 'legacy';
}

/** 2026-07-28 transports, "Request Metadata". What the headers say has to be what the body says; a proxy may act on either. */
function checkModernHeaders(headers: IncomingHttpHeaders, { id, method, params }: RpcMessage): void {
  const named = trimmed(headers['mcp-method']);
  if (id === undefined) {
    // The revision does not require these headers on notifications, but a present one must match the body.
    if (named !== undefined && named !== method)
      throw headerMismatch('Mcp-Method does not name the method of the body.');
    return;
  }
  if (headers['mcp-protocol-version'] === undefined)
    throw headerMismatch('The MCP-Protocol-Version header is missing.');
  if (named === undefined) throw headerMismatch('The Mcp-Method header is missing.');
  if (named !== method) throw headerMismatch('Mcp-Method does not name the method of the body.');
  const field = nameField(method);
  if (field === undefined) return;
  const value = params[field];
  const header = trimmed(headers['mcp-name']);
  if (header === undefined) {
    if (value !== undefined) throw headerMismatch('The Mcp-Name header is missing.');
    return;
  }
  const decoded = decodeHeader(header);
  if (decoded === undefined) throw headerMismatch('Mcp-Name is not valid Base64.');
  if (decoded !== value) throw headerMismatch(`Mcp-Name does not name params.${field} of the body.`);
}

function nameField(method: string): 'name' | 'uri' | undefined {
  if (method === 'tools/call' || method === 'prompts/get') return 'name';
  return method === 'resources/read' ? 'uri' : undefined;
}

function missingMeta(key: string): RequestFailure {
  return new RequestFailure(400, rpcCode.invalidParams, `params._meta lacks a valid ${quote(key)}.`, {
    data: { missing: [key] },
  });
}

function trimmed(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header.trim() : undefined;
}

export interface Accepted {
  readonly json: boolean;
  /** Named itself, not by a wildcard: only then may a response turn into an event stream. */
  readonly eventStream: boolean;
}

const both: Accepted = { json: true, eventStream: true };
const jsonOnly: Accepted = { json: true, eventStream: false };
/**
 * What a client takes. The protocol asks for both types in Accept; scripts send neither or a wildcard and get JSON. A client that
 * admits `text/event-stream` alone gets its one answer as an event.
 */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined) return jsonOnly;
  if (header === 'application/json, text/event-stream') return both;
  let json = false;
  let eventStream = false;
  for (const type of admitted(header)) {
    if (type === 'application/json' || type === 'application/*' || type === '*/*' || type === '') json = true;
    if (type === 'text/event-stream') eventStream = true;
  }
  if (!json && !eventStream) {
    throw new RequestFailure(406, 406, 'Accept must admit application/json or text/event-stream.');
  }
  return { json, eventStream };
}

/** RFC 9110 §12.5.3. Named itself: who takes anything may not have thought of this. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string') return false;
  // As nearly all write it, whatever else they take.
  if (header.startsWith('gzip, ')) return true;
  return admitted(header).includes('gzip');
}

/** What such a header names, in lower case, but for what has a quality of nothing. */
function admitted(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([named = '']) => named);
}

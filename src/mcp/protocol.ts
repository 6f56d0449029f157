import type { SightlineError, JsonObject } from '../contract/core/index.ts';

/** The stateless revision: each request carries its own metadata. */
export const modernVersion = '2026-07-28';

/** Revisions with an `initialize` handshake, newest first. */
export const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const latestLegacyVersion = '2025-11-25';

export type { ProtocolEra as Era } from '@modelcontextprotocol/client';

/** Keys of `params._meta` (2026-07-28, basic/index: "Request metadata"). */
export const meta = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** JSON-RPC 2.0 and the three codes that 2026-07-28 adds. */
export const rpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Before 2026-07-28, which says invalidParams. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** A caller's text as we quote it in a message: short, on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}

interface FailureDetails {
  readonly data?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** The rest of the body is not wanted: the connection ends after the answer. */
  readonly close?: boolean;
}

/** A JSON-RPC error with its own HTTP status. The transport's refusals (403, 405 …) use the status as code. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly code: number;
  readonly data: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly close: boolean;

  constructor(status: number, code: number, message: string, details: FailureDetails = {}) {
    super(message);
    this.name = 'RequestFailure';
    this.status = status;
    this.code = code;
    this.data = details.data;
    this.headers = details.headers;
    this.close = details.close ?? false;
  }
}

/** An error of ours as the refusal of a whole request. */
export function requestFailure(error: SightlineError): RequestFailure {
  const { status, code, message, hint, retryAfterSeconds } = error;
  return new RequestFailure(status, status, message, {
    data: { code, ...(hint === undefined ? {} : { hint }) },
    ...(retryAfterSeconds === undefined
      ? {}
      : { headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) } }),
  });
}

/** Some clients send a cursor that is none with the first page. */
export function refuseCursor({ cursor }: JsonObject): void {
  if (cursor === undefined || cursor === null || cursor === '') return;
  throw new RequestFailure(200, rpcCode.invalidParams, 'The cursor is unknown: the list has one page.');
}

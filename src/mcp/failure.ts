import type { SightlineError, JsonObject } from '../contract/core/index.ts';

export interface FailureDetails {
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

/** Every failure the product can name, with its HTTP status. The codes are stable: clients and runbooks switch on them. */
export const errorStatus = {
  invalid_argument: 400,
  not_found: 404,
  forbidden: 403,
  conflict: 409,
  payload_too_large: 413,
  rate_limited: 429,
  unavailable: 503,
  overloaded: 503,
  internal: 500,
  invalid_token: 401,
  insufficient_scope: 403,
  config_invalid: 500,
  plugin_failed: 500,
  sql_too_large: 400,
  sql_syntax: 400,
  sql_multiple_statements: 400,
  sql_not_read_only: 400,
  sql_refused: 400,
  sql_failed: 400,
  unknown_table: 400,
  unknown_column: 400,
  unknown_function: 400,
  query_timeout: 504,
  query_memory: 507,
  query_cancelled: 499,
  query_too_costly: 400,
  scan_budget_exceeded: 429,
  result_expired: 410,
  telemetry_unavailable: 503,
  telemetry_full: 507,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorStatus, code);
}

export interface ErrorDetails {
  /** What the reader of the error can do next. */
  readonly hint?: string;
  /** Arguments that can be sent as they are, for a model to repair its call. */
  readonly retry?: Readonly<Record<string, unknown>>;
  /** 1-based position in the caller's SQL. */
  readonly position?: number;
  readonly retryAfterSeconds?: number;
  /** The message for operators, with files and keys. Goes to the log and the command line, never to a caller. */
  readonly operatorMessage?: string;
  /** Goes to the log, never to the caller. */
  readonly cause?: unknown;
}

/** A failure whose message we wrote ourselves: safe to show to the caller. Anything else thrown is `internal`. */
export class SightlineError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retry: Readonly<Record<string, unknown>> | undefined;
  readonly position: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly operatorMessage: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.name = 'SightlineError';
    this.code = code;
    this.hint = details.hint;
    this.retry = details.retry;
    this.position = details.position;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.operatorMessage = details.operatorMessage;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

/** The client closed the connection before the end of its request, so that no answer is possible. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}

/** The `code` of what the operating system, Node or a driver threw. By shape: an error of another realm is no `instanceof`. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

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

export type Reason = readonly [cause: string, hint?: string];

/** What codes mean in words for an operator. Codes that mean the same stand together, separated by spaces. */
export function reasons(table: Readonly<Record<string, Reason>>): ReadonlyMap<string, Reason> {
  return new Map(Object.entries(table).flatMap(([codes, reason]) => codes.split(' ').map((code) => [code, reason])));
}

/** What the operating system or TLS said of a connection. */
export const connectionTrouble = reasons({
  ECONNREFUSED: ['nothing listens there', 'Check that the server runs, and its host and port.'],
  'ENOTFOUND EAI_AGAIN': ["the host's name cannot be resolved", 'Check the host name and the name server.'],
  ENOENT: ['there is no such socket', 'Check the path given as host.'],
  'EHOSTUNREACH ENETUNREACH': ['the host cannot be reached', 'Check the network.'],
  'ETIMEDOUT PROTOCOL_SEQUENCE_TIMEOUT': [
    'the server does not answer',
    'Check the network and the load of the server.',
  ],
  EACCES: ['this user may not use the socket', 'Check its owner and mode.'],
  'ECONNRESET EPIPE ECONNABORTED PROTOCOL_CONNECTION_LOST': ['the connection was lost', "Look at the server's log."],
  CERT_HAS_EXPIRED: ["the server's certificate has expired"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["the server's certificate is for another host"],
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    ["the server's certificate is of an authority that is not known", 'Give it as ca, under ssl or tls.'],
});

/** The code behind an error, however deep: `fetch` itself says no more than "fetch failed". */
export function codeBehind(error: unknown): string | undefined {
  let found: string | undefined;
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth += 1) {
    const code = errorCode(at);
    if (typeof code === 'string') found = code;
    if (found !== undefined && connectionTrouble.has(found)) return found;
    // Several addresses were tried: the last says why.
    const tried: unknown = Reflect.get(at, 'errors');
    at = Reflect.get(at, 'cause') ?? (Array.isArray(tried) ? tried.at(-1) : undefined);
  }
  return found;
}

/** Codes of TLS where a certificate's authority is not known. */
export const unknownAuthority = /SELF_SIGNED|ISSUER_CERT|LEAF_SIGNATURE/;

/** What an operator does where a server's certificate is of an authority of the company's own. */
export const authorityHint = 'Name its certificate in the configuration, network.ca, or in NODE_EXTRA_CA_CERTS.';

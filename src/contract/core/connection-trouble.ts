import { errorCode } from './errors.ts';

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
  CERT_HAS_EXPIRED: ["the server's certificate has expired", "Renew it, or check this machine's clock."],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "the server's certificate is for another host",
    'Use a host name that the certificate is for.',
  ],
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    ["the server's certificate is of an authority that is not known", 'Give it as ca, under ssl or tls.'],
});

/** The code behind an error, however deep: `fetch` itself says no more than "fetch failed". */
function codeBehind(error: unknown): string | undefined {
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
const unknownAuthority = /SELF_SIGNED|ISSUER_CERT|LEAF_SIGNATURE/;

/** What an operator does where a server's certificate is of an authority of the company's own. */
export const authorityHint = 'Name its certificate in the configuration, network.ca, or in NODE_EXTRA_CA_CERTS.';

export interface Trouble {
  /** In words for an operator, the code among them; no address, and nothing that the other side said. */
  readonly reason: string;
  readonly code?: string;
  readonly hint?: string;
}

/** Of the list in Fetch §2.9, 6000 and 10080 among them; `fetch` gives such a failure no code. */
function isBlockedPort(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port';
}

/** Why `fetch` failed, of which it says no more than "fetch failed". */
export function troubleBehind(error: unknown): Trouble {
  const code = codeBehind(error);
  // As codes are written; else it may be a text.
  if (code === undefined || !/^[A-Z0-9_]{3,60}$/.test(code)) {
    return isBlockedPort(error)
      ? { reason: 'HTTP is not sent to its port, which belongs to another protocol', hint: 'Use another port.' }
      : { reason: 'no connection' };
  }
  const [words, known] = connectionTrouble.get(code) ?? [];
  const hint = unknownAuthority.test(code) ? authorityHint : known;
  return { reason: words === undefined ? code : `${words} (${code})`, code, ...(hint !== undefined && { hint }) };
}

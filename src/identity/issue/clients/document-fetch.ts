import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isPublicAddress } from './addresses.ts';
import type { UrlRules } from './document-urls.ts';
import type { FetchBudget } from './fetch-budget.ts';
import type { Network } from './network.ts';

/** For everything: name server, connection, headers and body. */
const timeoutMs = 5_000;
const maxBytes = 65_536;

export interface FetchedDocument {
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** A document could not be had. The message is for the log: told to a stranger it would describe our network. */
export class DocumentUnavailable extends Error {
  /** The host answers that there is no such document (any more). */
  readonly withdrawn: boolean;
  constructor(message: string, { withdrawn = false, cause }: { withdrawn?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.withdrawn = withdrawn;
  }
}

export type DocumentFetch = (url: URL) => Promise<FetchedDocument>;

export interface DocumentFetchOptions {
  readonly rules: UrlRules;
  readonly network: Network;
  readonly budget: FetchBudget;
}

/**
 * Reads JSON from a URL that a stranger chose, and reaches nothing but the open internet with it: the host's name is
 * resolved once, each of its addresses has to be public, and the connection goes to those. Redirects are not followed,
 * compressed bodies not taken. Rejects with `DocumentUnavailable`, or with `BudgetExceeded` before anything was sent.
 */
export function createDocumentFetch({ rules, network, budget }: DocumentFetchOptions): DocumentFetch {
  return async (url) => {
    if (!rules(url)) throw new DocumentUnavailable('nothing is fetched from this URL');
    const release = budget.take(url.host);
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const addresses = await within(network.resolve(url.hostname, signal), signal);
      if (addresses.length === 0) throw new DocumentUnavailable('the host has no address');
      if (!addresses.every(isPublicAddress))
        throw new DocumentUnavailable('the host has an address that is not public');
      return await get(url, addresses, network, signal);
    } catch (cause) {
      if (cause instanceof DocumentUnavailable) throw cause;
      throw new DocumentUnavailable('the host cannot be reached', { cause });
    } finally {
      release();
    }
  };
}

function get(url: URL, addresses: readonly string[], network: Network, signal: AbortSignal): Promise<FetchedDocument> {
  const { promise, resolve, reject } = Promise.withResolvers<FetchedDocument>();
  const port = url.port === '' ? 443 : Number(url.port);
  const request = httpsRequest(url, {
    // Without an agent no connection is shared, and no proxy of the environment stands between.
    defaultPort: 443,
    createConnection: () => network.connect({ host: url.hostname, port, addresses }),
    headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Sightline' },
    maxHeaderSize: 16_384,
    signal,
  });
  const fail = (error: Error): void => {
    reject(error);
    request.destroy();
  };
  request.on('error', fail);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('error', fail);
    const fault = faultOf(response.statusCode, response.headers);
    if (fault) return fail(fault);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return fail(tooLarge());
      chunks.push(chunk);
    });
    response.on('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8'), headers: response.headers }));
  });
  request.end();
  return promise;
}

function faultOf(status: number | undefined, headers: IncomingHttpHeaders): DocumentUnavailable | undefined {
  if (status !== 200) {
    return new DocumentUnavailable(`the host answers ${status}`, { withdrawn: status === 404 || status === 410 });
  }
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    return new DocumentUnavailable('the document is not of a JSON type');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    return new DocumentUnavailable('the document is compressed, which was not asked for');
  }
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge() : undefined;
}

function tooLarge(): DocumentUnavailable {
  return new DocumentUnavailable(`the document has more than ${maxBytes} bytes`);
}

function within<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIPv4, isIPv6, type LookupFunction } from 'node:net';
import { Resolver } from 'node:dns/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { UrlRules } from './urls.ts';
import { callerOf } from '../../../limits/network.ts';
import { createThrottle } from '../../../limits/rate-limit.ts';

/** Nothing was fetched, for too much is being fetched already. It says nothing about the document. */
export class BudgetExceeded extends Error {}

interface FetchBudget {
  /** Before each fetch; answers what to call at its end. Throws `BudgetExceeded`. */
  take(host: string): () => void;
}

const atOnce = 16;
const callerPerMinute = 30;
const hostPerMinute = 60;

/** Anyone can have us fetch what they like: so much that one instance is of no use against another host, nor can be held up. */
/** @param caller the network address of who is the cause. */
export function createFetchBudget(options: { readonly now: () => Date; readonly caller: () => string }): FetchBudget {
  const { now, caller } = options;
  const ofCaller = createThrottle({ perMinute: callerPerMinute, burst: callerPerMinute, now });
  const ofHost = createThrottle({ perMinute: hostPerMinute, burst: hostPerMinute, now });
  let running = 0;
  return {
    take(host) {
      if (running >= atOnce) throw new BudgetExceeded('too many documents are being fetched at once');
      if (ofCaller(callerOf(caller())) > 0) throw new BudgetExceeded('too many documents were fetched for this caller');
      if (ofHost(host) > 0) throw new BudgetExceeded('too many documents were fetched from this host');
      running += 1;
      return () => {
        running -= 1;
      };
    },
  };
}

/** IANA's special-purpose registry, multicast and the reserved rest. */
const special4 = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's platform address, which is in no reserved range.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  special4.addSubnet(network, prefix, 'ipv4');
}

/** What is handed out to networks. All that wraps an IPv4 address stands outside of it, but for 6to4 and Teredo. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

const special6 = new BlockList();
for (const [network, prefix] of [
  // Protocol assignments, Teredo among them.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const) {
  special6.addSubnet(network, prefix, 'ipv6');
}

/** Whether an address is public: not of this machine, a private network or the cloud's metadata service. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/** For everything: name server, connection, headers and body. */
const timeoutMs = 5_000;
const maxBytes = 65_536;

interface FetchedDocument {
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

interface DocumentFetchOptions {
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

/** The world outside, as far as a document's fetch needs it. */
export interface Network {
  /** All addresses of a host name. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
  /** A TLS connection to one of these addresses and to no other, with a certificate for the host name. */
  connect(target: Target): TLSSocket;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** Not getaddrinfo: a slow name server of a stranger's would hold the threads that files and hashes need. */
async function resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Never through a proxy: the addresses that were checked are those that are connected to. */
function connect({ host, port, addresses }: Target): TLSSocket {
  const checked = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = checked;
    if (!first) callback(new Error('no address'), '');
    else if (options.all === true) callback(null, checked);
    else callback(null, first.address, first.family);
  };
  return connectTls({ host, port, servername: host, lookup, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] });
}

export const internet: Network = { resolve, connect };

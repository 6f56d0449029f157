import { Resolver } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

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

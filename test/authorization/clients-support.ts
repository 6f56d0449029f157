import { createServer, type Server } from 'node:https';
import type { RequestListener } from 'node:http';
import { setDefaultCACertificates, getCACertificates } from 'node:tls';
import type { Logger } from '../../src/contract/core/index.ts';
import { internet, type Network, type Target } from '../../src/identity/issue/clients/document-fetch.ts';
import { selfSigned } from '../support/certificate.ts';
import { listen } from '../support/listen.ts';

export const publicAddress = '93.184.215.14';

export interface Internet extends Network {
  /** What the hosts of the test answer. */
  serve: RequestListener;
  /** What the name servers answer, by host; `publicAddress` for all others. */
  readonly names: Map<string, readonly string[]>;
  readonly resolved: string[];
  readonly connected: Target[];
  readonly requested: string[];
  close(): Promise<void>;
}

/** Name servers of the test, and one https server in the place of all public addresses, reached by the real connection. */
export async function testInternet(): Promise<Internet> {
  const hosts = ['client.example', 'keys.example', 'claude.ai', 'vscode.dev', 'chatgpt.com'];
  const certificate = selfSigned(...hosts);
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
  const server: Server = createServer(certificate, (request, response) => {
    net.requested.push(`https://${request.headers.host}${request.url}`);
    net.serve(request, response);
  });
  const port = await listen(server);
  const net: Internet = {
    serve: (_request, response) => response.writeHead(404).end(),
    names: new Map(),
    resolved: [],
    connected: [],
    requested: [],
    async resolve(host) {
      net.resolved.push(host);
      return net.names.get(host) ?? [publicAddress];
    },
    connect(target) {
      net.connected.push(target);
      return internet.connect({ host: target.host, port, addresses: ['127.0.0.1'] });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return net;
}

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

export function recordingLogger(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return { logger, lines };
}

/** A clock that stands still until it is turned. */
export function stoppedClock(): { readonly now: () => Date; advance(ms: number): void } {
  let time = Date.UTC(2026, 10, 21);
  return { now: () => new Date(time), advance: (ms) => void (time += ms) };
}

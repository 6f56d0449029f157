import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** Where a request is lost: on its way there, or its answer on the way back. */
export type Cut = 'request' | 'answer';

/** A network in front of a server that loses one request, and everything after it, when told to. */
export class CuttingProxy {
  /** What every request said in its URL. */
  readonly seen: URLSearchParams[] = [];
  readonly #server: Server;
  readonly #target: string;
  #writes = 0;
  #cut: { readonly write: number; readonly where: Cut } | undefined;
  #down = false;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#forward(request, response));
  }

  static async start(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The n-th insert from now on (from 0) is lost, and nothing goes through any more. */
  cutAt(write: number, where: Cut): void {
    this.#writes = 0;
    this.#cut = { write, where };
  }

  get wasCut(): boolean {
    return this.#down;
  }

  heal(): void {
    this.#cut = undefined;
    this.#down = false;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(Buffer.from(part));
    const { searchParams } = new URL(request.url ?? '/', 'http://proxy');
    this.seen.push(searchParams);
    const isWrite = searchParams.get('query')?.startsWith('INSERT') === true;
    const cut = isWrite && this.#writes === this.#cut?.write ? this.#cut.where : undefined;
    if (isWrite) this.#writes += 1;
    if (this.#down || cut === 'request') {
      this.#down = true;
      response.destroy();
      return;
    }
    const { method, headers, url } = request;
    const upstream = send(`${this.#target}${url ?? '/'}`, { ...(method && { method }), headers });
    upstream.on('error', () => response.destroy());
    upstream.end(Buffer.concat(parts));
    upstream.on('response', (answer) => {
      if (cut === undefined) {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
        return;
      }
      this.#down = true;
      answer.resume().on('end', () => response.destroy());
    });
  }
}

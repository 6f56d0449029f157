import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { rm } from 'node:fs/promises';
import { ClickHouseServer } from './server.ts';

export interface PolicyRouterOptions {
  /** Every setting that a restricted session may still set. */
  readonly readonlyExcept: readonly string[];
  /** The access of one tenant's engine, asked once all rows are written. */
  usersXml(tenant: string, admin: ClickHouseServer): Promise<string>;
}

/**
 * A server whose row policies go by the tenant before the colon of the query id. The embedded engine shows query ids to no
 * policy, so that each tenant has an engine of its own, over a copy of the data, whose policies name that tenant. Until the
 * first query of a tenant everything goes to one engine that may do everything: then the data is copied.
 */
export class PolicyRouter {
  readonly #options: PolicyRouterOptions;
  readonly #server: Server;
  readonly #admin: ClickHouseServer;
  readonly #engines = new Map<string, Promise<ClickHouseServer>>();
  readonly #copies: string[] = [];

  private constructor(options: PolicyRouterOptions, admin: ClickHouseServer) {
    this.#options = options;
    this.#admin = admin;
    this.#server = createServer((request, response) => {
      this.#route(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(options: PolicyRouterOptions): Promise<PolicyRouter> {
    const router = new PolicyRouter(options, await ClickHouseServer.start());
    router.#server.listen(0, '127.0.0.1').unref();
    await once(router.#server, 'listening');
    return router;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The engine that may do everything; until a tenant asks, what it writes is seen by all. */
  get admin(): ClickHouseServer {
    return this.#admin;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#admin.stop();
    for (const engine of this.#engines.values()) await (await engine).stop();
    for (const copy of this.#copies) await rm(copy, { recursive: true, force: true });
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = new URL(request.url ?? '/', 'http://router').searchParams.get('query_id') ?? '';
    const tenant = id.includes(':') ? decodeURIComponent(id.slice(0, id.indexOf(':'))) : undefined;
    const engine = tenant === undefined ? await this.#any() : await this.#engineOf(tenant);
    const { method, headers, url } = request;
    const upstream = send(`${engine.url}${url ?? '/'}`, { ...(method && { method }), headers });
    response.on('close', () => upstream.destroy());
    upstream.on('error', () => response.destroy());
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    request.pipe(upstream);
  }

  async #any(): Promise<ClickHouseServer> {
    const [first] = this.#engines.values();
    return (await first) ?? this.#admin;
  }

  #engineOf(tenant: string): Promise<ClickHouseServer> {
    const known = this.#engines.get(tenant);
    if (known !== undefined) return known;
    const starting = this.#restricted(tenant);
    this.#engines.set(tenant, starting);
    return starting;
  }

  async #restricted(tenant: string): Promise<ClickHouseServer> {
    const usersXml = await this.#options.usersXml(tenant, this.#admin);
    const directory = await this.#admin.copy();
    this.#copies.push(directory);
    return await ClickHouseServer.start({ directory, usersXml, readonlyExcept: this.#options.readonlyExcept });
  }
}

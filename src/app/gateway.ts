import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { SightlineError } from '../contract/index.ts';
import type { Component } from '../contract/index.ts';
import { errorField } from '../kernel/error-field.ts';
import { holdExclusively } from '../kernel/exclusive.ts';
import type { Exclusive } from '../kernel/exclusive.ts';
import { createLifecycle } from '../kernel/lifecycle.ts';
import type { Lifecycle } from '../kernel/lifecycle.ts';
import { loadPlugin } from '../kernel/registry.ts';
import { holdBoundary } from './boundary.ts';
import { createGatewayContainer } from './container.ts';
import type { Given, LoadedPlugins } from './container.ts';
import type { Cradle, Router } from './cradle.ts';
import { drain } from './drain.ts';
import { receivingSink } from './ingest-source.ts';
import type { Serving } from './serving.ts';
import type { Settings } from './settings.ts';
import { deriveUrls } from './urls.ts';
import { layFoundation } from './workspace.ts';
import type { Foundation } from './workspace.ts';

export interface Gateway {
  /** Resolves once requests are served. A failure names the part, the config key and the cause; `stop` then clears up. */
  start(): Promise<void>;
  /** Finishes the requests in flight, then stops the parts in reverse order. Safe unstarted, safe twice. */
  stop(): Promise<void>;
  /** {base_url}; known once started. */
  readonly url: string;
  /** Whether telemetry can be sent to it; false where a warehouse is fed by another way. Known once started. */
  readonly receives: boolean;
  /** The config file in use, if there is one. */
  readonly configFile: string | undefined;
  readonly dataDirectory: string;
  /** For the first start: what the workspace is set up with. Known once started. */
  readonly workspace: Pick<Cradle, 'storage' | 'keys' | 'ingestTokens' | 'organizations' | 'worker' | 'agent'>;
}

const startTimeoutMs = 30_000;
const stopTimeoutMs = 10_000;
/** A `read_chat` may wait 25 s; a query as long as the configuration lets it. */
const longestWaitMs = 25_000;

export async function createGateway(settings: Settings): Promise<Gateway> {
  return new RunningGateway(await layFoundation(settings));
}

class RunningGateway implements Gateway {
  readonly #foundation: Foundation;
  readonly #lifecycle: Lifecycle;
  readonly #serving: Serving;
  #server: Server | undefined;
  #hold: Exclusive | undefined;
  #cradle: Cradle | undefined;
  #stopped: Promise<void> | undefined;

  constructor(foundation: Foundation) {
    this.#foundation = foundation;
    this.#lifecycle = createLifecycle({ logger: foundation.logger, startTimeoutMs, stopTimeoutMs });
    this.#serving = { ready: false, health: () => this.#lifecycle.health() };
  }

  get url(): string {
    return this.#started().urls.publicUrl;
  }

  get receives(): boolean {
    return receivingSink(this.#foundation.config, this.#started().telemetry) !== undefined;
  }

  get workspace(): Gateway['workspace'] {
    return this.#started();
  }

  get configFile(): string | undefined {
    return this.#foundation.file;
  }

  get dataDirectory(): string {
    return this.#foundation.dataDirectory;
  }

  async start(): Promise<void> {
    const { config, dataDirectory, file } = this.#foundation;
    this.#hold = holdExclusively(dataDirectory);
    const plugins = await loadPlugins(this.#foundation);
    let router: Router = (_request, response) => {
      response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end();
    };
    // Listening first: the port, when it is a free one, is part of the issuer's name, and a port in use is told at once.
    const server = createServer({ requestTimeout: 120_000, headersTimeout: 15_000 }, (request, response) => {
      if (!server.listening) response.shouldKeepAlive = false;
      router(request, response, false);
    });
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => router(request, response, true));
    server.keepAliveTimeout = 65_000;
    this.#server = server;
    const port = await listen(server, config.listen);
    const urls = deriveUrls(config, port);
    const given: Given = {
      foundation: this.#foundation,
      urls,
      serving: this.#serving,
      plugins,
    };
    const { cradle } = createGatewayContainer(given);
    this.#cradle = cradle;

    const start = (name: string, component: Component): Promise<void> => this.#lifecycle.start({ name, component });
    await start(plugins.storage.label, cradle.storage);
    await cradle.storage.migrate();
    await start(plugins.issuer.label, cradle.issuer);
    await start(plugins.telemetry.label, cradle.telemetry);
    await holdBoundary(cradle.telemetry, plugins.telemetry.label, this.#foundation.logger);
    await start(plugins.agent.label, cradle.agent);
    await start('the audit', partOf({ stop: () => cradle.audit.stop() }));
    await start('the OTLP receiver', cradle.receiver);
    await start(
      'the investigation worker',
      partOf({ start: () => cradle.worker.start(), stop: () => cradle.worker.stop() }),
    );
    await start('kept results', partOf({ stop: async () => cradle.keptResults.clear() }));

    ({ router } = cradle);
    this.#serving.ready = true;
    this.#hold.announce(localUrl(config.listen.host, port));
    this.#foundation.logger.info({ url: urls.publicUrl, config: file ?? 'defaults', dataDirectory }, 'serving');
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#serving.ready = false;
    const { queryTimeoutSeconds } = this.#foundation.config.limits;
    const longestCallMs = Math.max(longestWaitMs, queryTimeoutSeconds * 1_000);
    if (this.#server) await drain(this.#server, longestCallMs + 5_000);
    await this.#lifecycle.stop();
    this.#hold?.release();
  }

  #started(): Cradle {
    if (!this.#cradle) throw new Error('the gateway has not been started');
    return this.#cradle;
  }
}

async function loadPlugins({ config, file }: Foundation): Promise<LoadedPlugins> {
  const { storage, issuer, telemetry, agent } = config;
  const reference = ({ plugin, ...rest }: typeof storage) => ({ plugin, config: rest });
  return {
    storage: await loadPlugin('storage', { kind: 'storage', ...reference(storage) }, file),
    issuer: await loadPlugin('issuer', { kind: 'issuer', ...reference(issuer) }, file),
    telemetry: await loadPlugin('telemetry', { kind: 'telemetry', ...reference(telemetry) }, file),
    agent: await loadPlugin('agent', { kind: 'agent', ...reference(agent) }, file),
  };
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const code = errorField(cause, 'code');
    const why =
      code === 'EADDRINUSE'
        ? 'another program listens there'
        : code === 'EACCES'
          ? 'this user may not'
          : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
            ? 'this machine has no such address'
            : 'the operating system refused';
    throw new SightlineError('unavailable', `Cannot listen on ${host}, port ${port}: ${why}.`, {
      cause,
      hint: 'Choose another with --port N, SIGHTLINE_PORT or listen.port; 0 takes a free one.',
    });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('unreachable: a TCP server has a port');
  return address.port;
}

/** Where the commands of this machine reach the gateway, whatever stands before it for others. */
function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function partOf(life: { start?: () => void; stop: () => Promise<void> }): Component {
  return { start: async () => life.start?.(), stop: life.stop, health: async () => ({ ok: true }) };
}

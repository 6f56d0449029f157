import { setTimeout as delay } from 'node:timers/promises';
import { SightlineError, type Component, type Logger } from '../../contract/core/index.ts';
import { createHttpServer, createMessages, serverLimits, type Messages } from '../http/server.ts';
import { onceEach } from '../../limits/once-each.ts';
import { holdExclusively, joinHold, type Exclusive } from '../process/exclusive.ts';
import { createLifecycle, type Lifecycle } from '../process/lifecycle.ts';
import type { OwnTelemetry } from '../own-telemetry/index.ts';
import { loadPlugin } from '../process/registry.ts';
import { holdBoundary } from './boundary.ts';
import { Connections } from './connections.ts';
import { createGatewayContainer } from './container.ts';
import { loadPlugins } from './plugins.ts';
import type { Cradle, Listener, LoadedPlugins } from './cradle.ts';
import { receivingSink } from './ingest-source.ts';
import { createConfiguredTelemetry, observeGateway, ownTelemetryPart } from './own-telemetry.ts';
import { createGrpcFront, type GrpcFront } from '../../telemetry/ingest/grpc.ts';
import { listen, localUrl, longestCallMs, type Serving } from './listen.ts';
import type { Settings } from './settings.ts';
import { deriveUrls } from './urls.ts';
import { leaveToOthers, type Seat } from '../workers/seat.ts';
import { layFoundation, type Foundation } from './workspace.ts';

export interface Gateway {
  /** Resolves once requests are served. A failure names the part, the config key and the cause; `stop` then clears up. */
  start(): Promise<void>;
  /**
   * Starts as `start` does, but listens nowhere: answers a listener of requests for a server of your own, such as an Express
   * app. `publicUrl` in the config is the address of that server; without it this rejects with `config_invalid`.
   */
  attach(): Promise<Listener>;
  /** Finishes the requests in flight, then stops the parts in reverse order. Safe unstarted, safe twice. */
  stop(): Promise<void>;
  /** Rereads the configuration, applies the settings that a running gateway can change, and logs them. Never rejects. */
  reload(): Promise<void>;
  /** Stops as one of several processes, of which the others are ready. */
  retire(): Promise<void>;
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
/** The storage's schema is brought up to date meanwhile. A server that does not answer is known by the plugin's own time-outs. */
const migrationMs = 24 * 3_600_000;
const stopTimeoutMs = 10_000;

export interface GatewaySettings extends Settings {
  /** Instead of JSON lines on standard error; it decides itself what it writes, whatever `log.level` says. */
  readonly logger?: Logger | undefined;
}

/**
 * A gateway in this process: `createGateway({ config: { listen: { port: 0 } }, logger })`. `config` is checked like a file, and
 * relative paths in it start at the working directory; without it a config file is looked for. `data` and `port` beat it.
 * Rejects with `config_invalid`, or `unavailable` where the data directory cannot be used.
 * @param seat where several processes are one gateway: the place of this one, which another process holds the data for.
 */
export async function createGateway({ logger, ...settings }: GatewaySettings, seat?: Seat): Promise<Gateway> {
  return new RunningGateway(await layFoundation(settings, seat && { worker: seat.number }, logger), seat);
}

class RunningGateway implements Gateway {
  readonly #foundation: Foundation;
  readonly #lifecycle: Lifecycle;
  readonly #serving: Serving;
  readonly #seat: Seat | undefined;
  #connections: Connections | undefined;
  #grpc: GrpcFront | undefined;
  #hold: Exclusive | undefined;
  #cradle: Cradle | undefined;
  #own: OwnTelemetry | undefined;
  #stopped: Promise<void> | undefined;

  constructor(foundation: Foundation, seat: Seat | undefined) {
    this.#foundation = foundation;
    this.#seat = seat;
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
    const { config, dataDirectory, file, logger } = this.#foundation;
    const seat = this.#seat;
    const plugins = await this.#prepare();
    const messages = createMessages();
    const server = createHttpServer(() => silentMs(this.#foundation.config), serverLimits, messages);
    const connections = new Connections(
      server,
      onceEach((from) => logger.warn({ from }, grpcAtHttp(config))),
    );
    this.#connections = connections;
    if (seat) leaveToOthers(server);
    // Listen first: the chosen port is part of the issuer's URL, and a port in use fails at once. A worker gets its port from
    // the primary and accepts connections only when it is ready.
    const port = seat ? seat.port : await listen(server, config.listen);
    const cradle = await this.#run(plugins, port, messages);
    connections.listener = cradle.app;
    const grpc = await this.#listenForGrpc();
    this.#serving.ready = true;
    if (seat) {
      await listen(server, { host: config.listen.host, port });
      seat.tell({ kind: 'serving' });
      logger.info({ pid: process.pid, grpc }, 'a worker serves');
      return;
    }
    this.#hold?.announce(localUrl(config.listen.host, port));
    logger.info({ url: cradle.urls.publicUrl, grpc, config: file ?? 'defaults', dataDirectory }, 'serving');
  }

  /** Answers the port; undefined where gRPC is not taken. */
  async #listenForGrpc(): Promise<number | undefined> {
    const { config, logger } = this.#foundation;
    const { grpc } = config.ingest;
    if (grpc === undefined || !this.receives) return undefined;
    this.#grpc = createGrpcFront(
      this.#started().receiver,
      onceEach((from) => logger.warn({ from }, httpAtGrpc(config))),
    );
    if (this.#seat) leaveToOthers(this.#grpc.server);
    const hint = 'Choose another with ingest.grpc.port.';
    return listen(this.#grpc.server, { host: grpc.host ?? config.listen.host, port: grpc.port }, hint);
  }

  async attach(): Promise<Listener> {
    const { config, logger } = this.#foundation;
    if (config.publicUrl === undefined) {
      throw new SightlineError('config_invalid', 'A gateway in a server of yours needs publicUrl.', {
        hint: 'Set publicUrl to the address under which clients reach that server.',
      });
    }
    const { app, urls } = await this.#run(await this.#prepare(), config.listen.port);
    this.#serving.ready = true;
    this.#hold?.announce(urls.publicUrl);
    logger.info({ url: urls.publicUrl }, 'attached to a server');
    return app;
  }

  async #prepare(): Promise<LoadedPlugins> {
    const { dataDirectory } = this.#foundation;
    if (this.#seat) joinHold(dataDirectory);
    else this.#hold = holdExclusively(dataDirectory);
    return loadPlugins(this.#foundation);
  }

  async #run(plugins: LoadedPlugins, port: number, messages?: Messages): Promise<Cradle> {
    const { config } = this.#foundation;
    const seat = this.#seat;
    const urls = deriveUrls(config, port);
    this.#own = await createConfiguredTelemetry(this.#foundation);
    const { cradle } = createGatewayContainer({
      foundation: this.#foundation,
      urls,
      serving: this.#serving,
      messages,
      instruments: this.#own?.instruments,
      plugins,
      baseline: await loadPlugin('agent', { plugin: 'playbook' }),
      seat,
    });
    this.#cradle = cradle;

    const start = (name: string, component: Component): Promise<void> => this.#lifecycle.start({ name, component });
    const startPlugin = (name: string, component: Component & { readonly inDataDirectory?: boolean }): Promise<void> =>
      this.#lifecycle.start({ name, component, shared: component.inDataDirectory !== true });
    if (this.#own) await start('own telemetry', ownTelemetryPart(this.#own, this.#foundation, seat));
    const { label: name } = plugins.storage;
    const shared = cradle.storage.inDataDirectory !== true;
    await this.#lifecycle.start({ name, component: cradle.storage, startTimeoutMs: migrationMs, shared });
    await cradle.storage.migrate();
    if (cradle.replicas) {
      this.#sayWhatMayNotBeTwo(cradle);
      await startPlugin('the other gateways', cradle.replicas);
    }
    await start('the audit', partOf(cradle.audit));
    await startPlugin(plugins.issuer.label, cradle.issuer);
    await startPlugin(plugins.telemetry.label, cradle.telemetry);
    await holdBoundary(cradle.telemetry, plugins.telemetry.label, this.#foundation.logger);
    await startPlugin(plugins.agent.label, cradle.agent);
    await start('the OTLP receiver', cradle.receiver);
    // Behind the receiver, which reads what it has of an organization that is to be removed.
    await start('retention', partOf(cradle.retention));
    await start('the investigation worker', partOf(cradle.worker));
    if (cradle.webhookSender) await start('the webhook sender', partOf(cradle.webhookSender));
    await start('kept results', partOf({ stop: async () => cradle.keptResults.clear() }));

    if (this.#own) observeGateway(this.#own, cradle);
    return cradle;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#leave().then(() => this.#stop());
    return this.#stopped;
  }

  async reload(): Promise<void> {
    await this.#foundation.reload();
  }

  retire(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Readiness fails first, so that load balancers move away before the first connection is refused. */
  async #leave(): Promise<void> {
    const { leaveSeconds } = this.#foundation.config.listen;
    if (this.#serving.ready && leaveSeconds > 0) {
      this.#serving.ready = false;
      await delay(leaveSeconds * 1_000);
    }
    this.#serving.ready = false;
  }

  async #stop(): Promise<void> {
    // Before connections are refused: its exporter may send to this gateway.
    await this.#own?.flush();
    const deadlineMs = longestCallMs(this.#foundation.config) + 5_000;
    await Promise.all([this.#connections?.drain(deadlineMs), this.#grpc?.drain(deadlineMs)]);
    await this.#lifecycle.stop();
    this.#hold?.release();
  }

  #sayWhatMayNotBeTwo({ storage, telemetry }: Cradle): void {
    if (telemetry.inDataDirectory !== true || storage.inDataDirectory === true) return;
    this.#foundation.logger.warn(
      {},
      'storage is on a server, but telemetry is in the data directory of this machine: run one gateway, or give telemetry a warehouse (telemetry.plugin: clickhouse, bigquery or postgres)',
    );
  }

  #started(): Cradle {
    if (!this.#cradle) throw new Error('the gateway has not been started');
    return this.#cradle;
  }
}

const overHttp = 'set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf';

function grpcAtHttp({ ingest: { grpc } }: Foundation['config']): string {
  const there = grpc
    ? `use port ${grpc.port}`
    : 'set ingest.grpc in the configuration of the gateway, and use port 4317';
  return `A gRPC sender came to the HTTP port: ${there}, or ${overHttp} at the sender.`;
}

function httpAtGrpc({ listen: { port } }: Foundation['config']): string {
  return `A sender came to the gRPC port without gRPC: use port ${port}, or set OTEL_EXPORTER_OTLP_PROTOCOL=grpc at the sender.`;
}

/** Of a connection: a call may be silent to its end. */
function silentMs(config: Foundation['config']): number {
  return longestCallMs(config) + 60_000;
}

function partOf(life: { start?(): void; stop(): Promise<void> }): Component {
  return { start: async () => life.start?.(), stop: () => life.stop(), health: async () => ({ ok: true }) };
}

import {
  keyValues,
  logRecord,
  nanos,
  spanOf,
  type Attributes,
  type OtlpEvent,
  type Severity,
  type SpanKind,
} from './otlp.ts';
import type { World } from './scenario.ts';
import type { Pod, ServiceName } from './shop.ts';
import type { DurationMetric, Failure, Site, Traits } from './world.ts';

type Values = Record<string, string | number | boolean | undefined>;

interface Run {
  readonly world: World;
  readonly traceId: string;
  readonly traits: Traits;
}

/** A job has no visitor. */
const nobody: Traits = {
  userId: '',
  tier: 'free',
  card: 'visa',
  currency: 'EUR',
  country: 'DE',
  userAgent: '',
};

interface Opening {
  readonly pod: Pod;
  readonly kind: SpanKind;
  readonly name: string;
  readonly attributes: Values;
  readonly parentSpanId?: string;
  readonly link?: string;
  /** Epoch microseconds. */
  readonly at: number;
}

interface Call {
  readonly client: Values;
  readonly server: Values;
  readonly metric: DurationMetric;
  readonly dimensions: Values;
  readonly status: (failure: Failure | undefined) => Values;
  readonly body: (frame: Frame) => void;
}

/** A span being recorded: its clock moves on with the work done and the calls made in it. */
export class Frame {
  /** Epoch microseconds. */
  now: number;
  failure: Failure | undefined;
  /** Of an answer that is no failure of ours: 404. */
  httpStatus: number | undefined;
  readonly pod: Pod;
  readonly spanId: string;
  readonly attributes: Values;
  readonly #run: Run;
  readonly #opening: Opening;
  readonly #events: OtlpEvent[] = [];
  #slowness = 1;

  constructor(run: Run, opening: Opening) {
    this.#run = run;
    this.#opening = opening;
    this.pod = opening.pod;
    this.spanId = run.world.random.hex(8);
    this.now = opening.at;
    this.attributes = { ...opening.attributes };
  }

  get traits(): Traits {
    return this.#run.traits;
  }

  get random(): World['random'] {
    return this.#run.world.random;
  }

  get build(): World['build'] {
    return this.#run.world.build;
  }

  get since(): ReturnType<World['since']> {
    return this.#run.world.since(this.now / 1000);
  }

  /** Own work around `ms` milliseconds. */
  work(ms: number): void {
    this.now += 1000 * this.random.lognormal(ms, 0.35) * this.#slowness * (this.build.pace.get(this.pod.service) ?? 1);
  }

  wait(ms: number): void {
    this.now += 1000 * ms;
  }

  event(name: string, attributes: Values): void {
    this.#events.push({ timeUnixNano: nanos(this.now), name, attributes: keyValues(attributes) });
  }

  log(severity: Severity, body: string, attributes: Values = {}): void {
    const { world, traceId } = this.#run;
    world.log(this.pod, { ...logRecord(this.now, severity, body, attributes), traceId, spanId: this.spanId, flags: 1 });
  }

  count(metric: Parameters<World['count']>[1], attributes: Values, by = 1): void {
    this.#run.world.count(this.pod, metric, attributes, by);
  }

  fail(failure: Failure): void {
    this.failure = failure;
    this.event('exception', {
      'exception.type': failure.type,
      'exception.message': failure.message,
      'exception.stacktrace': `${failure.type}: ${failure.message}\n    at ${this.#opening.name} (${this.pod.service})`,
    });
  }

  /** A gRPC call to another service. `attributes` are on the server span however it ends. True when it succeeded. */
  rpc(service: ServiceName, method: string, body: (frame: Frame) => void, attributes: Values = {}): boolean {
    const [rpcService = '', rpcMethod = ''] = method.split('/');
    const rpc = { 'rpc.system': 'grpc', 'rpc.service': `shop.${rpcService}`, 'rpc.method': rpcMethod };
    return this.#call(service, method, {
      client: { ...rpc, 'server.address': service, 'server.port': 8080 },
      server: { ...rpc, 'network.protocol.name': 'http', 'network.protocol.version': '2', ...attributes },
      metric: 'rpc.server.call.duration',
      dimensions: rpc,
      status: (failure) => ({ 'rpc.grpc.status_code': failure === undefined ? 0 : (failure.grpc ?? 13) }),
      body,
    });
  }

  /** The same over HTTP. */
  http(service: ServiceName, method: 'GET' | 'POST', route: string, body: (frame: Frame) => void): boolean {
    const request = { 'http.request.method': method };
    return this.#call(service, `${method} ${route}`, {
      client: {
        ...request,
        'url.full': `http://${service}:8080${route}`,
        'server.address': service,
        'server.port': 8080,
      },
      server: { ...request, 'http.route': route, 'url.path': route, 'url.scheme': 'http' },
      metric: 'http.server.request.duration',
      dimensions: { ...request, 'http.route': route },
      status: (failure) => ({ 'http.response.status_code': failure === undefined ? 200 : (failure.http ?? 500) }),
      body,
    });
  }

  /** As often as it takes and is allowed, with a pause in between. */
  #call(service: ServiceName, name: string, call: Call): boolean {
    const site = { ...this.#site('call', service), operation: name };
    const attempts = 1 + (this.since?.scenario.retries?.(site) ?? 0);
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      if (this.#attempt(service, name, call)) return true;
      this.wait(this.random.lognormal(20, 0.4));
    }
    return this.#attempt(service, name, call);
  }

  #attempt(service: ServiceName, name: string, call: Call): boolean {
    const client = this.#open('CLIENT', name, call.client);
    const trouble = this.#run.world.trouble(client.#site('call', service));
    client.wait(this.random.lognormal(0.35, 0.3) + (trouble?.addMs ?? 0));
    let failure = trouble?.failure;
    if (failure === undefined) {
      const pod = this.#run.world.pod(service, client.now / 1000);
      client.attributes['network.peer.address'] = pod.name;
      const served = Frame.serve(
        this.#run,
        { pod, name, attributes: call.server, at: client.now, parentSpanId: client.spanId },
        call,
      );
      client.now = served.now;
      failure = served.failure;
      client.wait(this.random.lognormal(0.3, 0.3));
    }
    Object.assign(client.attributes, call.status(failure));
    if (failure !== undefined) {
      client.failure = failure;
      client.attributes['error.type'] = failure.type;
    }
    this.now = client.close();
    return failure === undefined;
  }

  /** A statement sent to a database or cache. True when it succeeded. */
  query(database: Database, statement: { readonly name: string; readonly text: string; readonly ms: number }): boolean {
    const [operation = '', collection] = statement.name.split(' ');
    const client = this.#open('CLIENT', statement.name, {
      'db.system.name': database.system,
      'db.namespace': database.namespace,
      'db.operation.name': operation,
      'db.collection.name': collection,
      'db.query.summary': statement.name,
      'db.query.text': statement.text,
      'server.address': database.address,
      'server.port': database.port,
    });
    return this.#ask(client, 'query', database.system, statement.ms, () => {
      client.#observe('db.client.operation.duration', {
        'db.system.name': database.system,
        'db.operation.name': operation,
        'db.collection.name': collection,
      });
    });
  }

  /** A call out of the shop, of which only this side is seen. True when it succeeded. */
  external(host: string, method: 'GET' | 'POST', path: string, ms: number): boolean {
    const client = this.#open('CLIENT', method, {
      'http.request.method': method,
      'url.full': `https://${host}${path}`,
      'server.address': host,
      'server.port': 443,
    });
    return this.#ask(client, 'external', host, ms, (failure) => {
      client.attributes['http.response.status_code'] = failure === undefined ? 200 : (failure.http ?? 503);
    });
  }

  #ask(client: Frame, kind: Site['kind'], peer: string, ms: number, done: (failure?: Failure) => void): boolean {
    const trouble = this.#run.world.trouble(client.#site(kind, peer));
    client.#slowness = trouble?.factor ?? 1;
    client.wait(trouble?.addMs ?? 0);
    client.work(ms);
    if (trouble?.failure !== undefined) {
      client.fail(trouble.failure);
      client.attributes['error.type'] = trouble.failure.type;
    }
    done(trouble?.failure);
    this.now = client.close();
    if (trouble?.failure !== undefined) this.failure ??= trouble.failure;
    return trouble?.failure === undefined;
  }

  /** Publishes to Kafka; `consume` runs in the consumer's own span, `lagMs` later, while this goes on. */
  publish(topic: string, consumer: ServiceName, lagMs: number, consume: (frame: Frame) => void): void {
    const partition = this.random.integer(0, 5);
    const messaging = {
      'messaging.system': 'kafka',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'server.address': 'kafka.shop.svc',
      'server.port': 9092,
    };
    const producer = this.#open('PRODUCER', `send ${topic}`, {
      ...messaging,
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
    });
    producer.work(2.2);
    this.now = producer.close();
    const at = producer.now + lagMs * 1000;
    const opening: Opening = {
      pod: this.#run.world.pod(consumer, at / 1000),
      kind: 'CONSUMER',
      name: `process ${topic}`,
      attributes: {
        ...messaging,
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.consumer.group.name': consumer,
      },
      parentSpanId: producer.spanId,
      link: producer.spanId,
      at,
    };
    const frame = new Frame(this.#run, opening);
    frame.#endure('consume', consume);
    frame.#observe('messaging.process.duration', { 'messaging.destination.name': topic });
    frame.count('messaging.client.consumed.messages', { 'messaging.destination.name': topic });
    frame.close();
  }

  /** Until now, with the span as the exemplar. */
  #observe(metric: DurationMetric, attributes: Attributes): void {
    const seconds = (this.now - this.#opening.at) / 1e6;
    const { traceId, world } = this.#run;
    world.observe(this.pod, metric, attributes, { seconds, at: this.now, traceId, spanId: this.spanId });
  }

  #open(kind: SpanKind, name: string, attributes: Values): Frame {
    return new Frame(this.#run, { pod: this.pod, kind, name, attributes, parentSpanId: this.spanId, at: this.now });
  }

  #site(kind: Site['kind'], peer?: string): Site {
    const site = { kind, at: this.now / 1000, pod: this.pod, operation: this.#opening.name, traits: this.traits };
    return peer === undefined ? site : { ...site, peer };
  }

  /** Runs the body under whatever fault there is at this place. */
  #endure(kind: 'serve' | 'consume', body: (frame: Frame) => void): void {
    const trouble = this.#run.world.trouble(this.#site(kind));
    this.#slowness = trouble?.factor ?? 1;
    this.wait(trouble?.addMs ?? 0);
    if (trouble?.failure === undefined) return body(this);
    this.work(1.5);
    this.log('ERROR', trouble.failure.message, { 'exception.type': trouble.failure.type });
    this.fail(trouble.failure);
  }

  /** Hands the finished span over; answers the time it ended. */
  close(): number {
    const { kind, name, parentSpanId, link, at } = this.#opening;
    this.now = Math.max(this.now, at + 1);
    const { world, traceId } = this.#run;
    const { spanId, now: end, attributes } = this;
    const failure = this.failure?.message;
    const span = spanOf(
      { traceId, spanId, parentSpanId, name, kind, at, end, attributes, failure },
      {
        ...(this.#events.length > 0 && { events: this.#events }),
        ...(link !== undefined && { links: [{ traceId, spanId: link }] }),
      },
    );
    world.span(this.pod, span);
    return this.now;
  }

  /** Work that no request asks for, a trace of its own. Answers when it ended, in epoch microseconds. */
  static background(world: World, pod: Pod, name: string, at: number, body: (frame: Frame) => void): number {
    const run = { world, traceId: world.random.hex(16), traits: nobody };
    const frame = new Frame(run, { pod, kind: 'INTERNAL', name, attributes: {}, at });
    body(frame);
    return frame.close();
  }

  /** A server span, at the root of a trace or below a client span. */
  static serve(run: Run, opening: Omit<Opening, 'kind'>, server: Omit<Call, 'client' | 'server'>): Frame {
    const frame = new Frame(run, { ...opening, kind: 'SERVER' });
    frame.#endure('serve', server.body);
    const status = server.status(frame.failure);
    if (frame.httpStatus !== undefined && frame.failure === undefined) {
      status['http.response.status_code'] = frame.httpStatus;
    }
    Object.assign(frame.attributes, status);
    if (frame.failure !== undefined) frame.attributes['error.type'] = frame.failure.type;
    frame.close();
    frame.#observe(server.metric, { ...server.dimensions, ...status });
    return frame;
  }
}

export interface Database {
  readonly system: 'postgresql' | 'redis';
  readonly namespace: string;
  readonly address: string;
  readonly port: number;
}

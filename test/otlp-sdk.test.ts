import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ROOT_CONTEXT,
  SeverityNumber,
  SpanKind,
  SpanStatusCode,
  trace,
  ValueType,
  type Context,
} from '@opentelemetry/api';
import { Metadata } from '@grpc/grpc-js';
import { OTLPLogExporter as GrpcLogs } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as GrpcMetrics } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as GrpcTraces } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import {
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { otelTables, type TableName } from '../src/contract/telemetry/index.ts';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { listen } from './support/listen.ts';
import { grpcPort } from './support/senders.ts';

/*
 * The real OpenTelemetry SDK sends to a real gateway, and every column of every row is found again by query_otel, held
 * against what the SDK was given.
 */

const transports = [
  {
    name: 'protobuf with gzip',
    compression: 'gzip',
    contentType: 'application/x-protobuf',
    Traces: ProtobufTraces,
    Metrics: ProtobufMetrics,
    Logs: ProtobufLogs,
  },
  {
    name: 'JSON',
    compression: 'none',
    contentType: 'application/json',
    Traces: JsonTraces,
    Metrics: JsonMetrics,
    Logs: JsonLogs,
  },
  {
    name: 'gRPC with gzip',
    compression: 'gzip',
    contentType: undefined,
    Traces: GrpcTraces,
    Metrics: GrpcMetrics,
    Logs: GrpcLogs,
  },
] as const;

/** One organization a transport. */
const organizations: { readonly ingestToken: string; readonly accessToken: string }[] = [];
const base = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const at = (milliseconds: number) => new Date(base + milliseconds);
const resourceAttributes = {
  'service.name': 'checkout',
  'service.version': '2.3.4',
  'deployment.environment.name': 'staging',
  'host.cpus': 8,
};
const storedResource = { ...resourceAttributes, 'host.cpus': '8' };
const fromResource = {
  service_name: 'checkout',
  service_version: '2.3.4',
  deployment_environment: 'staging',
  resource_attributes: storedResource,
  scope_attributes: {},
  schema_url: '',
  otlp_fields: {},
};

let directory: string;
let gateway: RunningGateway;
let server: Server;
let url: string;
let grpcUrl: string;
const requests: IncomingHttpHeaders[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory();
  const config = join(directory, 'sightline.config.json');
  await writeFile(config, JSON.stringify({ ingest: { grpc: { port: 0 } } }));
  gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
  grpcUrl = `http://127.0.0.1:${grpcPort(gateway)}`;
  for (const { name } of transports) {
    const key = await createKey(directory, name);
    const { token } = await sightlineJson(
      directory,
      ['ingest', 'show', '--org', name],
      z.object({ token: z.string() }),
    );
    organizations.push({ ingestToken: token, accessToken: await exchange(gateway.url, key) });
  }
  // Passes everything on and remembers what the SDK sent along.
  server = createServer((incoming, outgoing) => {
    requests.push(incoming.headers);
    const { method = 'POST', headers } = incoming;
    incoming.pipe(
      request(`${gateway.url}${incoming.url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      }),
    );
  });
  url = `http://127.0.0.1:${await listen(server)}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await gateway.stop();
  await removeDirectory(directory);
});

const answered = z.object({ rows: z.array(z.array(z.unknown())) });

/** All rows of the table, as objects, once there are so many. */
async function rows(index: number, table: TableName, expected: number): Promise<Record<string, unknown>[]> {
  const columns = otelTables[table].columns.map(({ name }) => name);
  const order = table === 'logs' ? 'severity_number' : 'name';
  const selected = columns.map((name) => `"${name}"`).join(', ');
  const sql = `SELECT ${selected} FROM otel.${table} ORDER BY ${order}`;
  for (let tries = 0; ; tries += 1) {
    const called = await callTool(gateway.url, organizations[index]?.accessToken ?? '', 'query_otel', {
      sql,
      max_rows: 10_000,
      max_bytes: 5_000_000,
    });
    if (called.isError) throw new Error(called.text);
    const { rows: found } = answered.parse(called.structured);
    if (found.length >= expected || tries === 60) {
      return found.map((row) => Object.fromEntries(columns.map((name, column) => [name, row[column]])));
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

/** Times as the warehouse answers them, microseconds kept. */
const micros = (time: unknown) => {
  const [, whole = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(String(time)) ?? [];
  return `${whole}.${fraction.padEnd(6, '0')}`;
};
const ofDate = (date: Date) => `${date.toISOString().slice(0, -1)}000`;
const ofHr = ([seconds, nanos]: readonly [number, number]) =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}`;

describe.each(transports)('the OpenTelemetry SDK by $name', ({ compression, contentType, Traces, Metrics, Logs }) => {
  const index = transports.findIndex((transport) => transport.contentType === contentType);
  const headers: Record<string, string> = {};
  const metadata = new Metadata();
  const isGrpc = contentType === undefined;
  const to = (path: string) => (isGrpc ? { url: grpcUrl, metadata } : { url: url + path, headers });
  const resource = resourceFromAttributes(resourceAttributes);

  beforeAll(() => {
    headers['authorization'] = `Bearer ${organizations[index]?.ingestToken ?? ''}`;
    metadata.set('authorization', headers['authorization']);
    process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = compression;
    requests.length = 0;
  });
  afterAll(() => {
    delete process.env['OTEL_EXPORTER_OTLP_COMPRESSION'];
    if (isGrpc) return;
    expect(requests.length).toBeGreaterThanOrEqual(3);
    for (const sent of requests) {
      expect(sent['content-type']).toBe(contentType);
      expect(sent['content-encoding']).toBe(compression === 'gzip' ? 'gzip' : undefined);
    }
  });

  it('stores spans of every kind with attributes, events, links and status', async () => {
    const provider = new TracerProvider({
      resource,
      spanProcessors: [new BatchSpanProcessor({ exporter: new Traces(to('/v1/traces')) })],
    });
    const tracer = provider.getTracer('shop', '0.9');
    const kinds = [SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT, SpanKind.PRODUCER, SpanKind.CONSUMER];
    const root = tracer.startSpan('0 root', { startTime: at(0), kind: SpanKind.SERVER }, ROOT_CONTEXT);
    const within: Context = trace.setSpan(ROOT_CONTEXT, root);
    const linked = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
    const children = kinds.map((kind, number) => {
      const span = tracer.startSpan(
        `${number + 1} kind`,
        {
          kind,
          startTime: at(10 + number),
          attributes: {
            text: 'ä"\\\n',
            int: 42,
            large: 9007199254740991,
            float: 1.5,
            yes: true,
            list: ['a', 'b'],
            numbers: [1, 2.5],
          },
          links: number === 0 ? [{ context: linked, attributes: { why: 'retry' } }] : [],
        },
        within,
      );
      span.addEvent('exception', { 'exception.type': 'Boom', count: 3 }, at(12));
      span.addEvent('second', at(13));
      if (number === 1) span.setStatus({ code: SpanStatusCode.ERROR, message: 'it broke' });
      if (number === 2) span.setStatus({ code: SpanStatusCode.OK });
      span.end(at(20 + number));
      return span;
    });
    root.end([Math.floor(at(100).getTime() / 1000), 123_456_789]);
    await provider.forceFlush();
    await provider.shutdown();

    const stored = await rows(index, 'spans', 6);
    const common = {
      ...fromResource,
      trace_id: root.spanContext().traceId,
      trace_state: '',
      scope_name: 'shop',
      scope_version: '0.9',
    };
    const seen = stored.map((row) =>
      Object.assign(row, {
        time: micros(row['time']),
        start_time: micros(row['start_time']),
        end_time: micros(row['end_time']),
        // Bits 8 and 9 say whether the parent is remote; SDKs differ in when they set them.
        flags: Number(row['flags']) & 0xff,
        events: timesOf(row['events']),
      }),
    );
    expect(seen[0]).toEqual({
      ...common,
      time: ofDate(at(0)),
      start_time: ofDate(at(0)),
      end_time: ofHr([Math.floor(at(100).getTime() / 1000), 123_456_789]),
      duration_nano: '123456789',
      span_id: root.spanContext().spanId,
      parent_span_id: '',
      flags: 1,
      name: '0 root',
      kind: 'SERVER',
      status_code: 'UNSET',
      status_message: '',
      attributes: {},
      events: [],
      links: [],
    });
    const names = ['INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
    for (const [number, span] of children.entries()) {
      expect(seen[number + 1]).toEqual({
        ...common,
        time: ofDate(at(10 + number)),
        start_time: ofDate(at(10 + number)),
        end_time: ofDate(at(20 + number)),
        duration_nano: '10000000',
        span_id: span.spanContext().spanId,
        parent_span_id: root.spanContext().spanId,
        flags: 1,
        name: `${number + 1} kind`,
        kind: names[number],
        status_code: ['UNSET', 'ERROR', 'OK', 'UNSET', 'UNSET'][number],
        status_message: number === 1 ? 'it broke' : '',
        otlp_fields: number === 0 ? { 'links.flags': '[257]' } : {},
        attributes: {
          text: 'ä"\\\n',
          int: '42',
          large: '9007199254740991',
          float: '1.5',
          yes: 'true',
          list: '["a","b"]',
          numbers: '[1,2.5]',
        },
        events: [
          { time: ofDate(at(12)), name: 'exception', attributes: { 'exception.type': 'Boom', count: '3' } },
          { time: ofDate(at(13)), name: 'second', attributes: {} },
        ],
        links:
          number === 0
            ? [{ trace_id: linked.traceId, span_id: linked.spanId, trace_state: '', attributes: { why: 'retry' } }]
            : [],
      });
    }
  });

  it('stores every kind of metric point', async () => {
    const exporter = new Metrics(to('/v1/metrics'));
    const given: ResourceMetrics[] = [];
    const send = exporter.export.bind(exporter);
    exporter.export = (collected, done) => {
      given.push(collected);
      send(collected, done);
    };
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600_000 });
    const provider = new MeterProvider({
      resource,
      readers: [reader],
      views: [
        { instrumentName: 'e.histogram', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } },
        {
          instrumentName: 'd.histogram',
          aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: [5, 10.5] } },
        },
      ],
    });
    const meter = provider.getMeter('shop', '0.9');
    const attributes = { route: '/cart', code: 200 };
    meter.createCounter('a.counter', { unit: '{order}', description: 'orders' }).add(7, attributes);
    meter.createUpDownCounter('b.updown', { valueType: ValueType.INT }).add(-3, attributes);
    meter.createGauge('c.gauge', { unit: 'By' }).record(0.1 + 0.2, attributes);
    const histogram = meter.createHistogram('d.histogram', { unit: 'ms' });
    for (const value of [1, 7, 7.25, 1000]) histogram.record(value, attributes);
    const exponential = meter.createHistogram('e.histogram', { unit: 'ms' });
    for (const value of [0, 1, 2, 4, 64]) exponential.record(value, attributes);
    await provider.forceFlush();

    const metrics = [...(given[0]?.scopeMetrics[0]?.metrics ?? [])].sort((a, b) =>
      a.descriptor.name < b.descriptor.name ? -1 : 1,
    );
    const point = (name: string) => metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0];
    const stored = await rows(index, 'metrics', 5);
    await provider.shutdown();
    const absent = {
      value: null,
      count: null,
      sum: null,
      min: null,
      max: null,
      bucket_counts: [],
      explicit_bounds: [],
      scale: null,
      zero_count: null,
      positive_offset: null,
      positive_bucket_counts: [],
      negative_offset: null,
      negative_bucket_counts: [],
      quantile_values: [],
      as_int: null,
      zero_threshold: null,
      exemplars: [],
    };
    const expected = (name: string, fields: object) => {
      expect(point(name)).toBeDefined();
      return {
        ...fromResource,
        ...absent,
        name,
        unit: '',
        description: '',
        attributes: { route: '/cart', code: '200' },
        scope_name: 'shop',
        scope_version: '0.9',
        flags: '0',
        is_monotonic: null,
        ...fields,
      };
    };
    const cumulative = { aggregation_temporality: 'cumulative' };
    const buckets = point('e.histogram')?.value;
    if (typeof buckets !== 'object' || !('positive' in buckets)) throw new Error('no exponential histogram');
    const times = stored.map(({ time, start_time }) => [micros(time), micros(start_time)]);
    expect(stored.map(({ time: _time, start_time: _start, ...row }) => row)).toEqual([
      expected('a.counter', {
        ...cumulative,
        type: 'sum',
        unit: '{order}',
        description: 'orders',
        is_monotonic: true,
        value: 7,
      }),
      expected('b.updown', { ...cumulative, type: 'sum', is_monotonic: false, value: -3, as_int: '-3' }),
      expected('c.gauge', { type: 'gauge', aggregation_temporality: '', unit: 'By', value: 0.1 + 0.2 }),
      expected('d.histogram', {
        ...cumulative,
        type: 'histogram',
        unit: 'ms',
        count: '4',
        sum: 1015.25,
        min: 1,
        max: 1000,
        bucket_counts: ['1', '2', '1'],
        explicit_bounds: [5, 10.5],
      }),
      expected('e.histogram', {
        ...cumulative,
        type: 'exponential_histogram',
        unit: 'ms',
        count: '5',
        sum: 71,
        min: 0,
        max: 64,
        scale: String(buckets.scale),
        zero_count: '1',
        zero_threshold: 0,
        positive_offset: String(buckets.positive.offset),
        positive_bucket_counts: buckets.positive.bucketCounts.map(String),
        negative_offset: String(buckets.negative.offset),
        negative_bucket_counts: buckets.negative.bucketCounts.map(String),
      }),
    ]);
    expect(times).toEqual(
      metrics.map(({ dataPoints }) => [
        ofHr(dataPoints[0]?.endTime ?? [0, 0]),
        ofHr(dataPoints[0]?.startTime ?? [0, 0]),
      ]),
    );
  });

  it('stores log records with structured bodies, trace context and severity', async () => {
    const exporter = new Logs(to('/v1/logs'));
    const provider = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter })] });
    const logger = provider.getLogger('shop', '0.9');
    const spanContext = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
    const context = trace.setSpanContext(ROOT_CONTEXT, spanContext);
    logger.emit({
      timestamp: at(1),
      observedTimestamp: at(2),
      severityNumber: SeverityNumber.INFO,
      severityText: 'INFO',
      body: 'größe "x"',
      attributes: { user: 'u1', tries: 2 },
      eventName: 'order.placed',
      context,
    });
    logger.emit({
      observedTimestamp: at(4),
      timestamp: at(3),
      severityNumber: SeverityNumber.ERROR2,
      body: { reason: 'declined', codes: [1, 2], nested: { deep: true, none: null } },
      context: ROOT_CONTEXT,
    });
    await provider.forceFlush();
    await provider.shutdown();
    const stored = await rows(index, 'logs', 2);
    const seen = stored.map((row) =>
      Object.assign(row, { time: micros(row['time']), observed_time: micros(row['observed_time']) }),
    );
    const common = { ...fromResource, scope_name: 'shop', scope_version: '0.9' };
    expect(seen).toEqual([
      {
        ...common,
        time: ofDate(at(1)),
        observed_time: ofDate(at(2)),
        severity_number: '9',
        severity_text: 'INFO',
        body: 'größe "x"',
        event_name: 'order.placed',
        trace_id: spanContext.traceId,
        span_id: spanContext.spanId,
        flags: '1',
        attributes: { user: 'u1', tries: '2' },
      },
      {
        ...common,
        time: ofDate(at(3)),
        observed_time: ofDate(at(4)),
        severity_number: '18',
        severity_text: '',
        body: '{"reason":"declined","codes":[1,2],"nested":{"deep":true,"none":null}}',
        event_name: '',
        trace_id: '',
        span_id: '',
        flags: '0',
        attributes: {},
      },
    ]);
  });
});

/** Events with their times made comparable. */
function timesOf(events: unknown): unknown {
  if (!Array.isArray(events)) return events;
  return events.map((event: unknown) =>
    typeof event === 'object' && event !== null && 'time' in event ? { ...event, time: micros(event.time) } : event,
  );
}

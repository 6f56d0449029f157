import { gzipSync } from 'node:zlib';

/** Spans of one body; their attributes and their resource's. */
export const spansPerBody = 512;
const methods = ['GET', 'POST', 'PUT'];

/** A gzipped protobuf ExportTraceServiceRequest: 512 spans of one service, 12 attributes each and 8 of the resource. */
export function traceBody(seed: number, nowMs: number): Buffer {
  const service = seed % 10;
  const resource = attributes(1, {
    'service.name': `service-${service}`,
    'service.version': '1.4.2',
    'service.instance.id': `instance-${service}-0f8fad5b`,
    'deployment.environment.name': 'production',
    'host.name': `node-${service}`,
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '2.0.1',
  });
  const scope = [...text(1, '@opentelemetry/instrumentation-http'), ...text(2, '0.57.1')];
  const spans = Array.from({ length: spansPerBody }, (_, index) => field(2, span(seed * spansPerBody + index, nowMs)));
  return gzipSync(
    Buffer.concat([
      field(1, Buffer.concat([field(1, resource), field(2, Buffer.concat([field(1, scope), ...spans]))])),
    ]),
  );
}

/** One span with this name, not compressed. */
export function oneSpan(name: string, nowMs: number): Buffer {
  const times = [fixed64(7, nanos(nowMs, 0)), fixed64(8, nanos(nowMs, 5))];
  const span = Buffer.concat([id(1, 16, 1), id(2, 8, 1), text(5, name), ...times]);
  return field(1, field(2, field(2, span)));
}

function span(row: number, nowMs: number): Buffer {
  return Buffer.concat([
    id(1, 16, Math.floor(row / 8)),
    id(2, 8, row),
    id(4, 8, row ^ 1),
    text(5, `${methods[row % 3] ?? ''} /api/items/{id}/${row % 40}`),
    Buffer.from([0x30, 2]),
    fixed64(7, nanos(nowMs, row % 1000)),
    fixed64(8, nanos(nowMs, (row % 1000) + (row % 190))),
    attributes(9, {
      'http.request.method': methods[row % 3] ?? '',
      'http.route': `/api/items/{id}/${row % 40}`,
      'url.path': `/api/items/${row}`,
      'http.response.status_code': row % 50 === 0 ? 500 : 200,
      'server.address': `host-${row % 20}`,
      'server.port': 8080,
      'client.address': `10.0.${row % 250}.${row % 199}`,
      'user.id': `user-${(row * 2654435761) % 100_000}`,
      'session.id': (row * 40503).toString(36),
      'network.protocol.version': '1.1',
      'user_agent.original': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
      'thread.id': row % 16,
    }),
    ...(row % 50 === 0 ? [field(15, Buffer.from([0x18, 2]))] : []),
  ]);
}

function attributes(number: number, values: Readonly<Record<string, string | number>>): Buffer {
  return Buffer.concat(
    Object.entries(values).map(([key, value]) => {
      const any = typeof value === 'string' ? text(1, value) : Buffer.from([0x18, ...varint(value)]);
      return field(number, Buffer.concat([text(1, key), field(2, any)]));
    }),
  );
}

function nanos(nowMs: number, offsetMs: number): bigint {
  return BigInt(nowMs + offsetMs) * 1_000_000n;
}

function id(number: number, size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size, 0x5a);
  bytes.writeUInt32BE(value >>> 0, size - 4);
  return field(number, bytes);
}

function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = number * 8 + 1;
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
}

function text(number: number, value: string): Buffer {
  return field(number, Buffer.from(value));
}

function field(number: number, content: Uint8Array | readonly number[]): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return bytes;
}

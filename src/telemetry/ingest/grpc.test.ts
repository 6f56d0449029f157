import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Metadata, status } from '@grpc/grpc-js';
import { createGrpcFront, grpcLimits, type GrpcFront, type GrpcLimits } from './grpc.ts';
import { listen } from '../../../test/support/listen.ts';
import { receiverFixture, until, type Fixture } from '../../../test/support/otlp/gateway.ts';
import { exportPath, framed, grpcSender, traces, type GrpcSender } from '../../../test/support/otlp/grpc.ts';
import { protobuf } from '../../../test/support/otlp/protobuf.ts';

interface Opened extends Fixture {
  readonly front: GrpcFront;
  readonly grpcPort: number;
  readonly sender: GrpcSender;
  readonly session: ClientHttp2Session;
  /** Addresses of those who sent HTTP/1.1. */
  readonly foreign: (string | undefined)[];
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(
  options: Parameters<typeof receiverFixture>[0] = {},
  limits: Partial<GrpcLimits> = {},
): Promise<Opened> {
  const fixture = await receiverFixture(options);
  const foreign: (string | undefined)[] = [];
  const front = createGrpcFront(fixture.receiver, (address) => foreign.push(address), { ...grpcLimits, ...limits });
  const grpcPort = await listen(front.server);
  const sender = grpcSender(grpcPort, 'it_first');
  const session = connectHttp2(`http://127.0.0.1:${grpcPort}`);
  session.on('error', () => undefined);
  closing.push(async () => {
    sender.close();
    session.destroy();
    await front.drain(100);
    await fixture.close();
  });
  return { ...fixture, front, grpcPort, sender, session, foreign };
}

interface Raw {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
}

/** A call written by hand. Without `end` it goes on sending nothing. */
async function raw(
  session: ClientHttp2Session,
  body: Uint8Array,
  headers: Record<string, string> = {},
  end = true,
): Promise<Raw> {
  const stream = session.request({
    ':method': 'POST',
    ':path': exportPath('traces'),
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-api-key': 'it_first',
    ...headers,
  });
  let trailers: IncomingHttpHeaders = {};
  stream.on('error', () => undefined);
  stream.on('trailers', (received: IncomingHttpHeaders) => (trailers = received));
  stream.write(body);
  if (end) stream.end();
  const [received] = await once(stream, 'response');
  stream.resume();
  if (!stream.closed) await once(stream, 'close');
  return { headers: received, trailers };
}

const spans = (...names: string[]): Buffer => Buffer.from(protobuf('traces', traces(names)));

describe('OTLP over gRPC', () => {
  it('stores what it acknowledges, for the organization of the token, and says what it rejected', async () => {
    const { sender, sink, organizations } = await open();
    expect(await sender.spans(['a'])).toHaveLength(0);
    expect(await sender.spans(['b'], 'it_second')).toHaveLength(0);
    await until(() => sink.rows.length === 2, 'both rows');
    expect(organizations.map(({ id }) => sink.names(id))).toEqual([['a'], ['b']]);
    const old = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: '1717200000000' }] }] }] };
    const partial = await sender.send(exportPath('logs'), Buffer.from(protobuf('logs', old)));
    expect(partial.toString()).toContain('Records rejected: 1');
    expect(await sender.send(exportPath('metrics'), Buffer.alloc(0))).toHaveLength(0);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ])('takes messages compressed by %s, and stops at the limit of what one becomes', async (coding, compress) => {
    const { session, sink } = await open({ limits: { body: { bytes: 100_000, totalMs: 10_000, idleMs: 5_000 } } });
    const headers = { 'grpc-encoding': coding };
    const good = await raw(session, framed(compress(spans('small')), 1), headers);
    expect(good.trailers['grpc-status']).toBe('0');
    const bomb = await raw(session, framed(compress(Buffer.alloc(50_000_000)), 1), headers);
    expect([bomb.headers['grpc-status'], bomb.headers['grpc-message']]).toEqual([
      String(status.INVALID_ARGUMENT),
      expect.stringContaining('larger than'),
    ]);
    expect((await raw(session, framed(spans('plain')), headers)).trailers['grpc-status']).toBe('0');
    await until(() => sink.rows.length === 2, 'both rows');
  });

  it('refuses a stranger before the call has been read', async () => {
    const { sender, session } = await open();
    await expect(sender.spans(['a'], 'wrong')).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    await expect(sender.spans(['a'], '')).rejects.toMatchObject({ details: expect.stringContaining('x-api-key') });
    const { headers } = await raw(session, framed(spans('a')).subarray(0, 20), { 'x-api-key': 'wrong' }, false);
    expect(headers['grpc-status']).toBe(String(status.UNAUTHENTICATED));
  });

  it('refuses what is no call of OTLP', async () => {
    const { sender, session } = await open();
    await expect(sender.send('/other.Service/Export', Buffer.alloc(0))).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
    });
    const answers = [
      await raw(session, framed(spans('a')), { 'grpc-encoding': 'snappy' }),
      await raw(session, framed(spans('a')).subarray(0, 9)),
      await raw(session, Buffer.concat([framed(spans('a')), framed(spans('b'))])),
      await raw(session, framed(Buffer.from([0x0b]))),
      await raw(session, Buffer.alloc(0)),
    ];
    expect(answers.map(({ headers }) => Number(headers['grpc-status']))).toEqual([
      status.UNIMPLEMENTED,
      ...Array<number>(4).fill(status.INVALID_ARGUMENT),
    ]);
    const other = await raw(session, Buffer.from('{}'), { 'content-type': 'application/json' });
    expect(other.headers[':status']).toBe(415);
  });

  it('says when to come again, in the form that SDKs read', async () => {
    const { session, sender, receiver } = await open({ limits: { organization: { bytes: 1_000_000, requests: 1 } } });
    const slow = session.request({
      ':method': 'POST',
      ':path': exportPath('traces'),
      'content-type': 'application/grpc',
      'x-api-key': 'it_first',
    });
    slow.on('error', () => undefined).write(framed(spans('slow')).subarray(0, 10));
    const busy = (): Promise<unknown> => sender.spans(['b']).catch((error: unknown) => error);
    let refused = await busy();
    for (let tries = 0; Buffer.isBuffer(refused) && tries < 100; tries += 1) refused = await busy();
    expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: expect.stringContaining('at once') });
    // google.rpc.Status { details: [Any { RetryInfo { retry_delay { seconds: 1 } } }] }
    const metadata = refused instanceof Error && 'metadata' in refused ? refused.metadata : undefined;
    const [details] = metadata instanceof Metadata ? metadata.get('grpc-status-details-bin') : [];
    expect(details?.toString('latin1')).toContain('type.googleapis.com/google.rpc.RetryInfo\x12\x04\x0a\x02\x08\x01');
    // One that leaves in the middle of its message gives its place back.
    slow.destroy();
    let free = await busy();
    for (let tries = 0; !Buffer.isBuffer(free) && tries < 100; tries += 1) free = await busy();
    expect(free).toHaveLength(0);
    await receiver.stop();
    await expect(sender.spans(['late'])).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });

  it('keeps room for senders, however many strangers connect', async () => {
    const { sender, grpcPort, front } = await open({}, { strangers: 5, strangerMs: 300 });
    expect(await sender.spans(['known'])).toHaveLength(0);
    const idle = Array.from({ length: 20 }, () => connect(grpcPort, '127.0.0.1'));
    let ended = 0;
    for (const socket of idle)
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => (ended += 1));
    await until(() => ended >= 15, 'the oldest closed');
    await until(() => ended === 20, 'the others closed, since no good token came');
    expect(await sender.spans(['still known'])).toHaveLength(0);
    const connections = await new Promise((resolve) => front.server.getConnections((_error, count) => resolve(count)));
    expect(connections).toBe(1);
  });

  it('looks up no more tokens at once than it may', async () => {
    const { promise: looked, resolve: look } = Promise.withResolvers<undefined>();
    const directory = { ingestTokenByHash: () => looked, organizations: async () => [] };
    const { session } = await open({ directory }, { lookups: 3 });
    const calls = Array.from({ length: 5 }, () => raw(session, framed(spans('a'))));
    const refused = await Promise.race([calls[3], calls[4]]);
    expect(refused?.headers['grpc-status']).toBe(String(status.UNAVAILABLE));
    look(undefined);
    const codes = (await Promise.all(calls)).map(({ headers }) => Number(headers['grpc-status']));
    expect(codes.toSorted((a, b) => a - b)).toEqual([14, 14, 16, 16, 16]);
    expect((await raw(session, framed(spans('a')))).headers['grpc-status']).toBe('16');
  });

  it('tells of a sender that does not speak HTTP/2', async () => {
    const { url, grpcPort, foreign } = await open();
    expect(url).not.toContain(String(grpcPort));
    await expect(fetch(`http://127.0.0.1:${grpcPort}/v1/traces`, { method: 'POST', body: '{}' })).rejects.toThrow();
    expect(foreign).toEqual(['127.0.0.1']);
  });

  it('lets a call in flight finish when it stops', async () => {
    const { session, sink, front, grpcPort } = await open();
    const message = framed(spans('last'));
    const stream = session.request({
      ':method': 'POST',
      ':path': exportPath('traces'),
      'content-type': 'application/grpc',
      'x-api-key': 'it_first',
    });
    stream.write(message.subarray(0, 10));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const drained = front.drain(5_000);
    await once(session, 'goaway');
    await expect(once(connect(grpcPort, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
    stream.end(message.subarray(10)).resume();
    const [trailers] = await once(stream, 'trailers');
    expect(trailers['grpc-status']).toBe('0');
    await drained;
    await until(() => sink.rows.length === 1, 'the row');
  });
});

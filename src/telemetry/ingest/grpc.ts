import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server } from 'node:net';
import { ClientGone } from '../../contract/core/index.ts';
import { OtlpRefusal, protoBytes, retryLater, rpcCode } from './answers.ts';
import { codings } from './body.ts';
import type { Signal } from './fields.ts';
import type { Incoming } from './incoming.ts';
import type { OtlpReceiver } from './receiver.ts';

export interface GrpcLimits {
  readonly connections: number;
  /** Connections on which no token was good yet; one more, and the oldest of them is closed. */
  readonly strangers: number;
  /** For the first call with a good token. */
  readonly strangerMs: number;
  /** Without a byte, for a connection that had one. */
  readonly idleMs: number;
  /** Calls of a connection at once. */
  readonly streams: number;
  /** Calls whose token is being looked up, all connections together. */
  readonly lookups: number;
  /** Bytes of a call, and of a connection, that may be on the way unread. */
  readonly window: number;
  readonly headerBytes: number;
}

export const grpcLimits: GrpcLimits = {
  connections: 4_096,
  strangers: 512,
  strangerMs: 15_000,
  idleMs: 600_000,
  streams: 100,
  lookups: 256,
  window: 256 * 1024,
  headerBytes: 16 * 1024,
};

const services: ReadonlyMap<string, Signal> = new Map([
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'traces'],
  ['/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', 'metrics'],
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'logs'],
]);

export interface GrpcFront {
  /** Without its listener. */
  readonly server: Server;
  /** Stops accepting, lets calls in flight finish, and cuts what is left at the deadline. */
  drain(deadlineMs: number): Promise<void>;
}

/**
 * OTLP over gRPC, which is three unary calls over HTTP/2 (grpc/grpc, doc/PROTOCOL-HTTP2.md). A general gRPC server holds
 * messages in memory whole, before and beside what the receiver counts; here they are read by the receiver, as over HTTP.
 */
export function createGrpcFront(
  receiver: Pick<OtlpReceiver, 'call'>,
  onHttp: (address: string | undefined) => void,
  limits: GrpcLimits = grpcLimits,
): GrpcFront {
  const server = createServer({
    settings: {
      enablePush: false,
      maxConcurrentStreams: limits.streams,
      initialWindowSize: limits.window,
      maxHeaderListSize: limits.headerBytes,
    },
  });
  server.maxConnections = limits.connections;
  const sessions = new Set<Http2Session>();
  const strangers = new Set<Http2Session>();
  let lookups = 0;

  server.on('session', (session) => {
    sessions.add(session);
    strangers.add(session);
    const [oldest] = strangers;
    if (strangers.size > limits.strangers) oldest?.destroy();
    const known = setTimeout(() => strangers.has(session) && session.destroy(), limits.strangerMs);
    session.setLocalWindowSize(limits.window);
    session.setTimeout(limits.idleMs, () => session.close());
    const { remoteAddress } = session.socket;
    session.on('error', (error) => isForeignPreface(error) && onHttp(remoteAddress));
    session.on('close', () => {
      clearTimeout(known);
      sessions.delete(session);
      strangers.delete(session);
    });
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (lookups >= limits.lookups) return refuse(stream, retryLater(503, 'Too many calls come at once.', 1));
    lookups += 1;
    let looking = true;
    const looked = (): void => {
      if (looking) lookups -= 1;
      looking = false;
    };
    void serve(stream, headers, () => {
      looked();
      if (stream.session) strangers.delete(stream.session);
    }).finally(looked);
  });

  async function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, admitted: () => void): Promise<void> {
    const { ':path': path = '', 'content-type': type } = headers;
    const signal = services.get(path);
    if (type?.startsWith('application/grpc') !== true) {
      stream.respond({ ':status': 415 }, { endStream: true });
      return discard(stream);
    }
    if (signal === undefined) return refuse(stream, new OtlpRefusal(405, `There is no ${path.slice(0, 100)} here.`));
    try {
      const incoming: Incoming = { headers, body: stream, admitted, message: (body) => message(body, headers) };
      answer(stream, await receiver.call(signal, incoming));
    } catch (error) {
      if (error instanceof ClientGone) return;
      refuse(stream, error instanceof OtlpRefusal ? error : new OtlpRefusal(500, 'The call failed.'));
    }
  }

  return {
    server,
    async drain(deadlineMs) {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      const cut = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, deadlineMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** One length-prefixed message: a flag, four bytes of length, the message. */
function message(body: Buffer, headers: IncomingHttpHeaders): ReturnType<Incoming['message']> {
  const bytes = body.subarray(5);
  if (body.length < 5 || body.readUInt32BE(1) !== bytes.length) {
    throw new OtlpRefusal(400, 'The call must hold one message, whole.', {}, 'message');
  }
  const coding = codings.get(headers['grpc-encoding']?.toString().toLowerCase() ?? '');
  return { bytes, coding: body[0] === 0 ? undefined : coding };
}

const contentType = 'application/grpc+proto';
const acceptEncoding = 'identity, gzip, deflate, zstd';

function answer(stream: ServerHttp2Stream, response: Buffer): void {
  if (stream.destroyed || stream.closed) return;
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(response.length, 1);
  const head = { ':status': 200, 'content-type': contentType, 'grpc-accept-encoding': acceptEncoding };
  stream.respond(head, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
  stream.end(Buffer.concat([prefix, response]));
}

const unimplemented = 12;

/** Trailers only. By the OTLP specification RESOURCE_EXHAUSTED is sent again only where RetryInfo says when. */
function refuse(stream: ServerHttp2Stream, { status, message: said, headers }: OtlpRefusal): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  const code = status === 415 ? unimplemented : rpcCode(status);
  const seconds = Number(headers['retry-after'] ?? 0);
  stream.respond(
    {
      ':status': 200,
      'content-type': contentType,
      'grpc-accept-encoding': acceptEncoding,
      'grpc-status': code,
      'grpc-message': said.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent),
      ...(seconds > 0 && { 'grpc-status-details-bin': retryInfo(code, said, seconds) }),
    },
    { endStream: true },
  );
  discard(stream);
}

/** google.rpc.Status with a RetryInfo among its details. */
function retryInfo(code: number, said: string, seconds: number): string {
  const delay = protoBytes(1, Buffer.from([0x08, seconds]));
  const detail = Buffer.concat([protoBytes(1, 'type.googleapis.com/google.rpc.RetryInfo'), protoBytes(2, delay)]);
  return Buffer.concat([Buffer.from([0x08, code]), protoBytes(2, said), protoBytes(3, detail)]).toString('base64');
}

/** RFC 9113 §8.1: what still comes of the request is not wanted any more. */
function discard(stream: ServerHttp2Stream): void {
  stream.resume();
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/** nghttp2's NGHTTP2_ERR_BAD_CLIENT_MAGIC: HTTP/1.1, or TLS. */
function isForeignPreface(error: Error): boolean {
  return 'errno' in error && error.errno === -903;
}

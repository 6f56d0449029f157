import { credentials, Client, Metadata, type ServiceError } from '@grpc/grpc-js';
import { protobuf } from './protobuf.ts';

const services = { traces: 'trace.v1.Trace', metrics: 'metrics.v1.Metrics', logs: 'logs.v1.Logs' } as const;

export const exportPath = (signal: keyof typeof services): string =>
  `/opentelemetry.proto.collector.${services[signal]}Service/Export`;

/** A message with its prefix. */
export function framed(message: Uint8Array, compressed = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = compressed;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export interface GrpcSender {
  /** Sends spans of these names; answers the response message, or rejects with grpc-js' error. */
  spans(names: readonly string[], token?: string): Promise<Buffer>;
  send(path: string, message: Buffer, token?: string): Promise<Buffer>;
  close(): void;
}

/** The official client of gRPC for Node. */
export function grpcSender(port: number, token: string): GrpcSender {
  const limits = { 'grpc.max_send_message_length': -1 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), limits);
  const plain = (bytes: Buffer): Buffer => bytes;
  const send: GrpcSender['send'] = (path, message, own = token) =>
    new Promise((resolve, reject) => {
      const metadata = new Metadata();
      if (own !== '') metadata.set('x-api-key', own);
      client.makeUnaryRequest(path, plain, plain, message, metadata, (error: ServiceError | null, answer?: Buffer) =>
        error === null && answer !== undefined ? resolve(answer) : reject(error ?? new Error('no answer')),
      );
    });
  return {
    send,
    spans: (names, own) => send(exportPath('traces'), Buffer.from(protobuf('traces', traces(names))), own),
    close: () => client.close(),
  };
}

export function traces(names: readonly string[]): object {
  const startTimeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  return { resourceSpans: [{ scopeSpans: [{ spans: names.map((name) => ({ name, startTimeUnixNano, ...ids })) }] }] };
}

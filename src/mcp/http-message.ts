import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { HeadroomBuffer } from './headroom-buffer.ts';

/** A request whose body is there already. */
export interface WholeRequest {
  readonly method: string;
  /** As node:http has them: names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** All of its bytes. */
  readonly whole: Buffer;
  /** Where in them its body begins. */
  readonly bodyAt: number;
  /** Whatever is found out about the headers, for the next request that has the very same ones. */
  readonly memo: object;
}

export type HttpRequest = IncomingMessage | WholeRequest;

/**
 * What the endpoint does with an answer: node:http's own can, and so can whatever else serves it. Who reads whole requests adds the
 * length of what is ended at once.
 */
export interface HttpResponse {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  readonly statusCode: number;
  /** Nothing of it is left to be sent. */
  readonly closed: boolean;
  /** Bytes that the operating system has not taken yet. */
  readonly writableLength: number;
  /** @param headers names in lower case. */
  writeHead(status: number, headers: OutgoingHttpHeaders): this;
  write(chunk: string | Buffer): unknown;
  end(): unknown;
  end(chunk: string | Buffer): unknown;
  /** Of whoever can write the head into the same memory. */
  endBehindHead?(body: HeadroomBuffer): unknown;
  /** Calls when so many milliseconds have passed without a byte being taken. */
  setTimeout(ms: number, onTimeout: () => void): unknown;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

import type { ServerResponse } from 'node:http';
import { answerEarly } from '../../limits/admission.ts';
import type { Signal } from './fields.ts';
import type { Decoded, Encoding } from './decode.ts';
import { recordLimits } from './limits.ts';

/** A request that is refused: its HTTP status and what `google.rpc.Status` says about it. */
export class OtlpRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Which of the few causes of this status it is: it is counted by it, so it holds nothing of a sender's. */
  readonly kind: string;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, kind = '') {
    super(message);
    this.name = 'OtlpRefusal';
    this.status = status;
    this.headers = headers;
    this.kind = kind;
  }
}

/** Refused for now: by the protocol only 429, 502, 503 and 504 are sent again. */
export function retryLater(status: 429 | 503, message: string, seconds: number, kind = message): OtlpRefusal {
  return new OtlpRefusal(status, message, { 'retry-after': String(seconds) }, kind);
}

/** google.rpc.Code */
const rpcCodes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  413: 3,
  415: 3,
  429: 8,
  503: 14,
};
const rpcInternal = 13;

export function rpcCode(status: number): number {
  return rpcCodes[status] ?? rpcInternal;
}

const contentTypes: Readonly<Record<Encoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

export function answerRefusal(response: ServerResponse, encoding: Encoding, refusal: OtlpRefusal): void {
  const code = rpcCode(refusal.status);
  const body =
    encoding === 'json'
      ? Buffer.from(JSON.stringify({ code, message: refusal.message }))
      : Buffer.concat([Buffer.from([0x08, code]), protoBytes(2, refusal.message)]);
  answer(response, refusal.status, encoding, body, refusal.headers);
}

export function answerJson(response: ServerResponse, content: object): void {
  answer(response, 200, 'json', Buffer.from(JSON.stringify(content)), {});
}

/** Export*ServiceResponse: empty for a full success, else `partial_success` with what was rejected or altered, and why. */
export function answerSuccess(response: ServerResponse, encoding: Encoding, signal: Signal, decoded: Stored): void {
  answer(response, 200, encoding, successBody(encoding, signal, decoded), {});
}

const rejectedNames: Readonly<Record<Signal, string>> = {
  traces: 'rejectedSpans',
  metrics: 'rejectedDataPoints',
  logs: 'rejectedLogRecords',
};

export function successBody(encoding: Encoding, signal: Signal, decoded: Stored): Buffer {
  const errorMessage = explain(decoded);
  const { rejected } = decoded;
  if (errorMessage === '') return encoding === 'json' ? emptyJson : emptyProtobuf;
  if (encoding === 'json') {
    // As protobuf JSON has it: a 64-bit integer is a string, and 0 is left out.
    const count = rejected === 0 ? {} : { [rejectedNames[signal]]: String(rejected) };
    return Buffer.from(JSON.stringify({ partialSuccess: { ...count, errorMessage } }));
  }
  const count = rejected === 0 ? [] : [Buffer.from([0x08, ...varint(rejected)])];
  return protoBytes(1, Buffer.concat([...count, protoBytes(2, errorMessage)]));
}

const emptyJson = Buffer.from('{}');
const emptyProtobuf = Buffer.alloc(0);

/** What was stored of a request. */
export interface Stored extends Accepted {
  /** A sentence for each way in which that is less than was sent, beside records that were rejected. */
  readonly altered: string;
}

type Accepted = Extract<Decoded, { ok: true }>;

export function stored(decoded: Accepted): Stored {
  return { ...decoded, altered: lossesOf(decoded).join(' ') };
}

function explain({ reasons, altered }: Stored): string {
  const rejected = reasons.map(([reason, records]) => `Records rejected: ${records} (${reason}).`);
  return [...rejected, ...(altered === '' ? [] : [altered])].join(' ');
}

function lossesOf({ losses, unknown }: Accepted): readonly string[] {
  if (unknown.length > 0) return [`Nothing was stored: there is no record under these keys: ${unknown.join(', ')}.`];
  const { attributes, valueBytes, bodyBytes, keyBytes, events, exemplars, exemplarBytes } = recordLimits;
  const parts: readonly (readonly [what: string, count: number, why: string])[] = [
    ['Attributes dropped', losses.attributes, `more than ${attributes} in a set, or keys repeated too often`],
    ['Values cut', losses.values, `longer than ${valueBytes} bytes`],
    ['Bodies cut', losses.bodies, `longer than ${bodyBytes} bytes`],
    ['Keys cut', losses.keys, `longer than ${keyBytes} bytes`],
    ['Events or links dropped', losses.events, `more than ${events} in a span`],
    ['Exemplars dropped', losses.exemplars, `more than ${exemplars}, or ${exemplarBytes} bytes, in a data point`],
    ['Ids emptied', losses.invalidIds, 'not of 16 or 8 bytes'],
    ['Span ends set to the start', losses.ends, 'before it, or more than a day in the future'],
    ['Records more than a day in the future', losses.ahead, 'stored; check both clocks'],
    ['Records older than the retention', losses.aged, 'deleted within the hour'],
  ];
  return parts.filter(([, count]) => count > 0).map(([what, count, why]) => `${what}: ${count} (${why}).`);
}

function answer(
  response: ServerResponse,
  status: number,
  encoding: Encoding,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return;
  const all = {
    'content-type': contentTypes[encoding],
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  };
  answerEarly(response.req, response, status, all, body);
}

export function protoBytes(field: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return bytes;
}

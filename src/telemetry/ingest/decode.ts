import { Intake, type Described, type EncodedBatch, type TableWriter } from './columns.ts';
import type { Signal } from './fields.ts';
import { encodeJson, UnknownKeys } from './json.ts';
import { recordLimits, work } from './limits.ts';
import { LogDecoder } from './logs.ts';
import { MetricDecoder } from './metrics.ts';
import { SpanDecoder } from './spans.ts';
import type { Losses } from './limits.ts';
import { Fields, OtlpDecodeError, type Refused, WireReader } from './wire.ts';

export type Encoding = 'protobuf' | 'json';

export type Decoded =
  | {
      readonly ok: true;
      readonly batches: readonly EncodedBatch[];
      readonly accepted: number;
      readonly rejected: number;
      /** Why records were rejected, each with how many. */
      readonly reasons: readonly (readonly [reason: string, records: number])[];
      readonly losses: Losses;
      /** Keys that are not read, of a request without a single record. */
      readonly unknown: readonly string[];
      /** The name of the first service in it; '' where none has one. */
      readonly service: string;
    }
  | { readonly ok: false; readonly refused: Refused; readonly message: string; readonly kind: string };

interface RecordDecoder {
  readonly table: TableWriter;
  record(intake: Intake, from: number, to: number): void;
}

const newDecoder: { readonly [Name in Signal]: () => RecordDecoder } = {
  traces: () => new SpanDecoder(),
  metrics: () => new MetricDecoder(),
  logs: () => new LogDecoder(),
};
const decoders: { [Name in Signal]?: RecordDecoder } = {};

/**
 * An Export*ServiceRequest as batches for the log. JSON is first written as protobuf, so that one decoder decides what becomes
 * of a field. `nowMs` stands in for times that the sender left out; what is older than `oldestMs` is warned of. Gives up where it
 * would take more than `mostWork`. Not reentrant, which it need not be: it never waits.
 */
export function decodeRequest(
  signal: Signal,
  encoding: Encoding,
  body: Uint8Array,
  nowMs: number,
  oldestMs = 0,
  mostWork: number = work.request,
): Decoded {
  const decoder = (decoders[signal] ??= newDecoder[signal]());
  try {
    const keys = new UnknownKeys();
    const spent = encoding === 'json' ? workOfJson(body) : 0;
    const bytes = encoding === 'json' && spent <= mostWork ? encodeJson(signal, body, keys) : body;
    const reader = new WireReader(bytes, mostWork);
    reader.spend(spent);
    const intake = new Intake(reader, recordLimits, nowMs * 1000, oldestMs * 1000);
    readResources(intake, decoder, bytes.length);
    decoder.table.flush(intake);
    const { batches, accepted, rejected, losses, service } = intake;
    const unknown = accepted + rejected === 0 ? [...keys.names] : [];
    return { ok: true, batches, accepted, rejected, reasons: [...intake.reasons], losses, unknown, service };
  } catch (error) {
    // What was half written is of no use to the next request.
    delete decoders[signal];
    if (error instanceof OtlpDecodeError) {
      const { refused, message, kind } = error;
      return { ok: false, refused, message, kind };
    }
    throw error;
  }
}

/** Commas and opening brackets, those in strings too: no more values can be in the document, but one. */
function workOfJson(body: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count += 1;
  }
  return count * work.json;
}

/** Resource and scope may lie behind what they belong to, so each is looked for first. */
function readResources(intake: Intake, decoder: RecordDecoder, end: number): void {
  const { reader } = intake;
  const { context } = decoder.table;
  for (reader.at = 0; reader.find(0x0a, end);) {
    const { from, at: to } = reader;
    context.resource(intake, described(reader, from, to));
    for (reader.at = from; reader.find(0x12, to);) {
      const { from: scopeFrom, at: scopeTo } = reader;
      context.scope(intake, described(reader, scopeFrom, scopeTo));
      for (reader.at = scopeFrom; reader.find(0x12, scopeTo);) {
        const next = reader.at;
        reader.spend(work.record);
        decoder.record(intake, reader.from, next);
        reader.at = next;
      }
      reader.at = scopeTo;
    }
    reader.at = to;
  }
}

const fields = new Fields();

/** The resource, or the scope. */
function described(reader: WireReader, from: number, to: number): Described {
  fields.read(reader, from, to);
  const schemaUrl = { from: fields.low(0x1a), to: fields.high(0x1a) };
  return { from: fields.low(0x0a), to: fields.high(0x0a), schemaUrl };
}

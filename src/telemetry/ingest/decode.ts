import { Intake, OtlpTooLargeError, type EncodedBatch, type TableWriter } from './columns.ts';
import type { Signal } from './fields.ts';
import { encodeJson } from './json.ts';
import { recordLimits } from './limits.ts';
import { LogDecoder } from './logs.ts';
import { MetricDecoder } from './metrics.ts';
import { SpanDecoder } from './spans.ts';
import type { Losses } from './values.ts';
import { OtlpDecodeError, WireReader } from './wire.ts';

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
    }
  | { readonly ok: false; readonly tooLarge: boolean; readonly message: string };

interface RecordDecoder {
  readonly table: TableWriter;
  record(intake: Intake, from: number, to: number): void;
}

const decoders: { [Name in Signal]?: RecordDecoder } = {};

/**
 * An Export*ServiceRequest as batches for the log. JSON is first written as protobuf, so that one decoder decides what becomes
 * of a field. `nowMs` stands in for times that the sender left out. Not reentrant, which it need not be: it never waits.
 */
export function decodeRequest(signal: Signal, encoding: Encoding, body: Uint8Array, nowMs: number): Decoded {
  const decoder = (decoders[signal] ??= newDecoder(signal));
  try {
    const bytes = encoding === 'json' ? encodeJson(signal, body) : body;
    const intake = new Intake(new WireReader(bytes), recordLimits, nowMs * 1000);
    readResources(intake, decoder, bytes.length);
    decoder.table.flush(intake);
    const { batches, accepted, rejected, losses } = intake;
    return { ok: true, batches, accepted, rejected, reasons: [...intake.reasons], losses };
  } catch (error) {
    // What was half written is of no use to the next request.
    delete decoders[signal];
    if (error instanceof OtlpDecodeError || error instanceof OtlpTooLargeError) {
      return { ok: false, tooLarge: error instanceof OtlpTooLargeError, message: error.message };
    }
    throw error;
  }
}

function newDecoder(signal: Signal): RecordDecoder {
  switch (signal) {
    case 'traces':
      return new SpanDecoder();
    case 'metrics':
      return new MetricDecoder();
    case 'logs':
      return new LogDecoder();
  }
}

/** Resource and scope may lie behind what they belong to, so each is looked for first. */
function readResources(intake: Intake, decoder: RecordDecoder, end: number): void {
  const { reader } = intake;
  const { context } = decoder.table;
  each(intake, 0, end, 0x0a, (from, to) => {
    context.resource(intake, find(intake, from, to));
    each(intake, from, to, 0x12, (scopeFrom, scopeTo) => {
      context.scope(intake, find(intake, scopeFrom, scopeTo));
      for (reader.at = scopeFrom; reader.at < scopeTo;) {
        const tag = reader.tag(scopeTo);
        reader.skip(tag, scopeTo);
        if (tag !== 0x12) continue;
        const next = reader.at;
        decoder.record(intake, reader.from, next);
        reader.at = next;
      }
    });
  });
}

function each(
  { reader }: Intake,
  from: number,
  end: number,
  wanted: number,
  visit: (from: number, to: number) => void,
): void {
  for (reader.at = from; reader.at < end;) {
    const tag = reader.tag(end);
    reader.skip(tag, end);
    if (tag !== wanted) continue;
    const next = reader.at;
    visit(reader.from, next);
    reader.at = next;
  }
}

/** Field 1: the resource, or the scope. */
function find({ reader }: Intake, from: number, end: number): { readonly from: number; readonly to: number } {
  let found = { from: 0, to: 0 };
  for (reader.at = from; reader.at < end;) {
    const tag = reader.tag(end);
    reader.skip(tag, end);
    if (tag === 0x0a) found = { from: reader.from, to: reader.at };
  }
  return found;
}

import { FixedColumn } from './fixed.ts';
import { TableWriter, type Intake } from './columns.ts';
import { TextColumn } from './text.ts';
import { nanosBetween, nanosToMicros, writeTime } from './fields.ts';

const kindNames = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const statusNames = ['UNSET', 'OK', 'ERROR'];

/** opentelemetry.proto.trace.v1.Span → otel.spans */
export class SpanDecoder {
  readonly #time = new FixedColumn('timestamp', false);
  readonly #startTime = new FixedColumn('timestamp', false);
  readonly #endTime = new FixedColumn('timestamp', false);
  readonly #duration = new FixedColumn('int64', false);
  readonly #flags = new FixedColumn('int64', false);
  readonly #traceId = new TextColumn('string');
  readonly #spanId = new TextColumn('string');
  readonly #parentSpanId = new TextColumn('string');
  readonly #traceState = new TextColumn('string');
  readonly #name = new TextColumn('string');
  readonly #kind = new TextColumn('string');
  readonly #statusCode = new TextColumn('string');
  readonly #statusMessage = new TextColumn('string');
  readonly #attributes = new TextColumn('json');
  readonly #events = new TextColumn('json');
  readonly #links = new TextColumn('json');
  readonly #pendingText = [this.#attributes, this.#events, this.#links];
  readonly table = new TableWriter('spans', {
    time: this.#time,
    start_time: this.#startTime,
    end_time: this.#endTime,
    duration_nano: this.#duration,
    trace_id: this.#traceId,
    span_id: this.#spanId,
    parent_span_id: this.#parentSpanId,
    trace_state: this.#traceState,
    flags: this.#flags,
    name: this.#name,
    kind: this.#kind,
    status_code: this.#statusCode,
    status_message: this.#statusMessage,
    attributes: this.#attributes,
    events: this.#events,
    links: this.#links,
  });

  record(intake: Intake, from: number, to: number): void {
    const { reader, values } = intake;
    const attributes = this.#attributes;
    let startLow = 0;
    let startHigh = 0;
    let endLow = 0;
    let endHigh = 0;
    let flags = 0;
    let kind = 0;
    let traceFrom = 0;
    let traceTo = 0;
    let spanFrom = 0;
    let spanTo = 0;
    let parentFrom = 0;
    let parentTo = 0;
    let stateFrom = 0;
    let stateTo = 0;
    let nameFrom = 0;
    let nameTo = 0;
    let statusFrom = 0;
    let statusTo = 0;
    let others = 0;
    values.openSet(attributes);
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      switch (tag) {
        case 0x0a:
          reader.span(to);
          traceFrom = reader.from;
          traceTo = reader.at;
          break;
        case 0x12:
          reader.span(to);
          spanFrom = reader.from;
          spanTo = reader.at;
          break;
        case 0x1a:
          reader.span(to);
          stateFrom = reader.from;
          stateTo = reader.at;
          break;
        case 0x22:
          reader.span(to);
          parentFrom = reader.from;
          parentTo = reader.at;
          break;
        case 0x2a:
          reader.span(to);
          nameFrom = reader.from;
          nameTo = reader.at;
          break;
        case 0x30:
          reader.varint(to);
          kind = reader.int32();
          break;
        case 0x39:
          reader.fixed64(to);
          startLow = reader.low;
          startHigh = reader.high;
          break;
        case 0x41:
          reader.fixed64(to);
          endLow = reader.low;
          endHigh = reader.high;
          break;
        case 0x4a: {
          reader.span(to);
          const next = reader.at;
          values.attribute(attributes, reader.from, next);
          reader.at = next;
          break;
        }
        case 0x5a:
        case 0x6a:
          reader.span(to);
          others += 1;
          break;
        case 0x7a:
          reader.span(to);
          statusFrom = reader.from;
          statusTo = reader.at;
          break;
        case 0x85:
          flags = reader.fixed32(to);
          break;
        default:
          reader.skip(tag, to);
      }
    }
    values.closeSet(attributes);
    const end = nanosToMicros(endLow, endHigh);
    const startGiven = nanosToMicros(startLow, startHigh);
    const start = startGiven === 0 ? end || intake.now : startGiven;
    if (others > 0) this.#writeOthers(intake, from, to);
    else {
      this.#events.literal('[]');
      this.#links.literal('[]');
    }
    const bytes = attributes.pending + this.#events.pending + this.#links.pending;
    const refusal =
      intake.impossibleTime(start) ??
      (bytes + this.table.context.rowBytes > intake.limits.recordBytes ? 'a span larger than the limit' : undefined);
    if (refusal !== undefined) {
      for (const column of this.#pendingText) column.drop();
      return intake.reject(refusal);
    }
    this.#time.integer(start);
    this.#startTime.integer(start);
    this.#endTime.integer(end === 0 ? start : end);
    this.#duration.integer(startGiven === 0 || end === 0 ? 0 : nanosBetween(startLow, startHigh, endLow, endHigh));
    this.#flags.integer(flags);
    values.id(this.#traceId, traceFrom, traceTo, 16);
    this.#traceId.row();
    values.id(this.#spanId, spanFrom, spanTo, 8);
    this.#spanId.row();
    values.id(this.#parentSpanId, parentFrom, parentTo, 8);
    this.#parentSpanId.row();
    values.string(this.#traceState, stateFrom, stateTo);
    this.#traceState.rowShared();
    values.string(this.#name, nameFrom, nameTo);
    const nameBytes = this.#name.pending;
    this.#name.rowShared();
    this.#kind.literal(kindNames[kind] ?? 'UNSPECIFIED');
    this.#kind.rowShared();
    this.#writeStatus(intake, statusFrom, statusTo);
    attributes.row();
    if (others > 0) {
      this.#events.row();
      this.#links.row();
    } else {
      this.#events.rowShared();
      this.#links.rowShared();
    }
    this.table.row(intake, bytes + nameBytes + fixedBytes);
  }

  #writeStatus({ reader, values }: Intake, from: number, to: number): void {
    let code = 0;
    let messageFrom = 0;
    let messageTo = 0;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      if (tag === 0x18) code = reader.int32();
      else if (tag === 0x12) {
        messageFrom = reader.from;
        messageTo = reader.at;
      }
    }
    this.#statusCode.literal(statusNames[code] ?? 'UNSET');
    this.#statusCode.rowShared();
    values.string(this.#statusMessage, messageFrom, messageTo);
    this.#statusMessage.rowShared();
  }

  /** Events and links, which few spans have. */
  #writeOthers(intake: Intake, from: number, to: number): void {
    const { reader, limits, losses } = intake;
    let events = 0;
    let links = 0;
    this.#events.byte(0x5b);
    this.#links.byte(0x5b);
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      if (tag !== 0x5a && tag !== 0x6a) continue;
      const next = reader.at;
      const count = tag === 0x5a ? events : links;
      if (count >= limits.events) losses.events += 1;
      else if (tag === 0x5a) {
        if (count > 0) this.#events.byte(0x2c);
        this.#writeEvent(intake, reader.from, next);
        events += 1;
      } else {
        if (count > 0) this.#links.byte(0x2c);
        this.#writeLink(intake, reader.from, next);
        links += 1;
      }
      reader.at = next;
    }
    this.#events.byte(0x5d);
    this.#links.byte(0x5d);
  }

  #writeEvent({ reader, values, now }: Intake, from: number, to: number): void {
    const out = this.#events;
    let time = 0;
    let nameFrom = 0;
    let nameTo = 0;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      if (tag === 0x09) time = nanosToMicros(reader.low, reader.high);
      else if (tag === 0x12) {
        nameFrom = reader.from;
        nameTo = reader.at;
      }
    }
    out.literal('{"time":');
    writeTime(out, time === 0 ? now : time);
    out.literal(',"name":');
    values.quotedString(out, nameFrom, nameTo);
    out.literal(',"attributes":');
    values.attributes(out, from, to, 0x1a);
    out.byte(0x7d);
  }

  #writeLink({ reader, values }: Intake, from: number, to: number): void {
    const out = this.#links;
    let traceFrom = 0;
    let traceTo = 0;
    let spanFrom = 0;
    let spanTo = 0;
    let stateFrom = 0;
    let stateTo = 0;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      if (tag === 0x0a) {
        traceFrom = reader.from;
        traceTo = reader.at;
      } else if (tag === 0x12) {
        spanFrom = reader.from;
        spanTo = reader.at;
      } else if (tag === 0x1a) {
        stateFrom = reader.from;
        stateTo = reader.at;
      }
    }
    out.literal('{"trace_id":"');
    values.id(out, traceFrom, traceTo, 16);
    out.literal('","span_id":"');
    values.id(out, spanFrom, spanTo, 8);
    out.literal('","trace_state":');
    values.quotedString(out, stateFrom, stateTo);
    out.literal(',"attributes":');
    values.attributes(out, from, to, 0x22);
    out.byte(0x7d);
  }
}

/** Ids, times and enums of a row, roughly. */
const fixedBytes = 200;

import { FixedColumn } from './fixed.ts';
import { dayMicros, TableWriter, type Intake } from './columns.ts';
import { OtlpFields } from './otlp-fields.ts';
import { TextColumn } from './text.ts';
import { nanosBetween, nanosToMicros, writeTime } from './fields.ts';
import { work } from './limits.ts';
import { Fields } from './wire.ts';

const kindNames = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const statusNames = ['UNSET', 'OK', 'ERROR'];

/** opentelemetry.proto.trace.v1.Span → otel.spans */
export class SpanDecoder {
  readonly #columns = {
    time: new FixedColumn('timestamp', false),
    start_time: new FixedColumn('timestamp', false),
    end_time: new FixedColumn('timestamp', false),
    duration_nano: new FixedColumn('int64', false),
    trace_id: new TextColumn('string'),
    span_id: new TextColumn('string'),
    parent_span_id: new TextColumn('string'),
    trace_state: new TextColumn('string'),
    flags: new FixedColumn('int64', false),
    name: new TextColumn('string'),
    kind: new TextColumn('string'),
    status_code: new TextColumn('string'),
    status_message: new TextColumn('string'),
    attributes: new TextColumn('json'),
    events: new TextColumn('json'),
    links: new TextColumn('json'),
  };
  readonly table = new TableWriter('spans', this.#columns);
  readonly #span = new Fields();
  /** Of the status, of an event or of a link. */
  readonly #inner = new Fields();
  readonly #otlp = new OtlpFields();
  /** Of each event, and of each link. */
  readonly #eventDrops: number[] = [];
  readonly #linkDrops: number[] = [];
  readonly #linkFlags: number[] = [];

  record(intake: Intake, from: number, to: number): void {
    const { reader, values } = intake;
    const columns = this.#columns;
    const { attributes, events, links } = columns;
    const span = this.#span;
    let others = 0;
    span.clear();
    values.openSet(attributes);
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      if (tag === 0x4a) {
        const next = reader.at;
        values.attribute(attributes, reader.from, next);
        reader.at = next;
      } else if (tag === 0x5a || tag === 0x6a) others += 1;
      else span.keep(tag, reader);
    }
    values.closeSet(attributes);
    const endGiven = nanosToMicros(span.low(0x41), span.high(0x41));
    const startGiven = nanosToMicros(span.low(0x39), span.high(0x39));
    const start = startGiven === 0 ? endGiven || intake.now : startGiven;
    // Such a duration would come first wherever the slowest are asked for.
    const isEnd = endGiven >= start && endGiven <= Math.max(start, intake.now) + dayMicros;
    const end = isEnd ? endGiven : start;
    if (others > 0) this.#writeOthers(intake, from, to);
    else {
      events.literal('[]');
      links.literal('[]');
    }
    this.#readOtlpFields(others > 0);
    const bytes = attributes.pending + events.pending + links.pending + this.#otlp.bytes;
    values.id(columns.trace_id, span, 0x0a, 16);
    values.id(columns.span_id, span, 0x12, 8);
    const hasIds = columns.trace_id.pending > 0 && columns.span_id.pending > 0;
    const refusal = hasIds
      ? this.table.refusal(intake, start, bytes, 'span')
      : 'a span without a valid trace id and span id; are these spans?';
    if (refusal !== undefined) {
      for (const column of [attributes, events, links, columns.trace_id, columns.span_id]) column.drop();
      return intake.reject(refusal);
    }
    if (endGiven !== 0 && !isEnd) intake.losses.ends += 1;
    columns.time.integer(start);
    columns.start_time.integer(start);
    columns.end_time.integer(end);
    columns.duration_nano.integer(
      startGiven === 0 || !isEnd ? 0 : nanosBetween(span.low(0x39), span.high(0x39), span.low(0x41), span.high(0x41)),
    );
    columns.flags.integer(span.low(0x85));
    columns.trace_id.row();
    columns.span_id.row();
    values.id(columns.parent_span_id, span, 0x22, 8);
    columns.parent_span_id.row();
    values.sharedString(columns.trace_state, span, 0x1a);
    values.string(columns.name, span, 0x2a);
    const nameBytes = columns.name.pending;
    columns.name.rowShared();
    columns.kind.rowOf(kindNames[span.int32(0x30)] ?? 'UNSPECIFIED');
    const status = this.#inner.read(reader, span.low(0x7a), span.high(0x7a));
    columns.status_code.rowOf(statusNames[status.int32(0x18)] ?? 'UNSET');
    values.sharedString(columns.status_message, status, 0x12);
    attributes.row();
    if (others > 0) {
      events.row();
      links.row();
    } else {
      events.rowShared();
      links.rowShared();
    }
    this.table.row(intake, bytes + nameBytes + fixedBytes, this.#otlp);
  }

  #readOtlpFields(hasOthers: boolean): void {
    const otlp = this.#otlp;
    otlp.clear();
    otlp.count('dropped_attributes_count', this.#span.low(0x50));
    otlp.count('dropped_events_count', this.#span.low(0x60));
    otlp.count('dropped_links_count', this.#span.low(0x70));
    if (!hasOthers) return;
    otlp.counts('events.dropped_attributes_count', this.#eventDrops);
    otlp.counts('links.dropped_attributes_count', this.#linkDrops);
    otlp.counts('links.flags', this.#linkFlags);
  }

  /** Events and links, which few spans have. */
  #writeOthers(intake: Intake, from: number, to: number): void {
    const { events, links } = this.#columns;
    for (const list of [this.#eventDrops, this.#linkDrops, this.#linkFlags]) list.length = 0;
    this.#writeList(intake, from, to, 0x5a, events, (at, end) => this.#writeEvent(intake, at, end));
    this.#writeList(intake, from, to, 0x6a, links, (at, end) => this.#writeLink(intake, at, end));
  }

  #writeList(
    { reader, limits, losses }: Intake,
    from: number,
    to: number,
    tag: number,
    out: TextColumn,
    write: (from: number, to: number) => void,
  ): void {
    let count = 0;
    out.byte(0x5b);
    for (reader.at = from; reader.find(tag, to);) {
      const next = reader.at;
      if (count >= limits.events) losses.events += 1;
      else {
        reader.spend(work.item);
        if (count > 0) out.byte(0x2c);
        write(reader.from, next);
        count += 1;
      }
      reader.at = next;
    }
    out.byte(0x5d);
  }

  #writeEvent({ reader, values, now }: Intake, from: number, to: number): void {
    const out = this.#columns.events;
    const event = this.#inner.read(reader, from, to);
    out.literal('{"time":');
    writeTime(out, nanosToMicros(event.low(0x09), event.high(0x09)) || now);
    out.literal(',"name":');
    values.quotedString(out, event, 0x12);
    this.#eventDrops.push(event.low(0x20));
    out.literal(',"attributes":');
    values.attributes(out, from, to, 0x1a);
    out.byte(0x7d);
  }

  #writeLink({ reader, values }: Intake, from: number, to: number): void {
    const out = this.#columns.links;
    const link = this.#inner.read(reader, from, to);
    out.literal('{"trace_id":"');
    values.id(out, link, 0x0a, 16);
    out.literal('","span_id":"');
    values.id(out, link, 0x12, 8);
    out.literal('","trace_state":');
    values.quotedString(out, link, 0x1a);
    this.#linkDrops.push(link.low(0x28));
    this.#linkFlags.push(link.low(0x35));
    out.literal(',"attributes":');
    values.attributes(out, from, to, 0x22);
    out.byte(0x7d);
  }
}

/** Ids, times and enums of a row, roughly. */
const fixedBytes = 200;

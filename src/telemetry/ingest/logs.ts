import { TableWriter, type Intake } from './columns.ts';
import { FixedColumn } from './fixed.ts';
import { TextColumn } from './text.ts';
import { nanosToMicros } from './fields.ts';

/** opentelemetry.proto.logs.v1.LogRecord → otel.logs */
export class LogDecoder {
  readonly #time = new FixedColumn('timestamp', false);
  readonly #observedTime = new FixedColumn('timestamp', false);
  readonly #severityNumber = new FixedColumn('int64', false);
  readonly #flags = new FixedColumn('int64', false);
  readonly #severityText = new TextColumn('string');
  readonly #body = new TextColumn('string');
  readonly #eventName = new TextColumn('string');
  readonly #traceId = new TextColumn('string');
  readonly #spanId = new TextColumn('string');
  readonly #attributes = new TextColumn('json');
  readonly table = new TableWriter('logs', {
    time: this.#time,
    observed_time: this.#observedTime,
    severity_number: this.#severityNumber,
    severity_text: this.#severityText,
    body: this.#body,
    event_name: this.#eventName,
    trace_id: this.#traceId,
    span_id: this.#spanId,
    flags: this.#flags,
    attributes: this.#attributes,
  });

  record(intake: Intake, from: number, to: number): void {
    const { reader, values } = intake;
    const attributes = this.#attributes;
    let time = 0;
    let observed = 0;
    let severity = 0;
    let flags = 0;
    let severityFrom = 0;
    let severityTo = 0;
    let bodyFrom = 0;
    let bodyTo = 0;
    let traceFrom = 0;
    let traceTo = 0;
    let spanFrom = 0;
    let spanTo = 0;
    let eventFrom = 0;
    let eventTo = 0;
    values.openSet(attributes);
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      switch (tag) {
        case 0x09:
          time = nanosToMicros(reader.low, reader.high);
          break;
        case 0x59:
          observed = nanosToMicros(reader.low, reader.high);
          break;
        case 0x10:
          severity = reader.int32();
          break;
        case 0x1a:
          severityFrom = reader.from;
          severityTo = reader.at;
          break;
        case 0x2a:
          bodyFrom = reader.from;
          bodyTo = reader.at;
          break;
        case 0x32: {
          const next = reader.at;
          values.attribute(attributes, reader.from, next);
          reader.at = next;
          break;
        }
        case 0x45:
          reader.at -= 4;
          flags = reader.fixed32(to);
          break;
        case 0x4a:
          traceFrom = reader.from;
          traceTo = reader.at;
          break;
        case 0x52:
          spanFrom = reader.from;
          spanTo = reader.at;
          break;
        case 0x62:
          eventFrom = reader.from;
          eventTo = reader.at;
          break;
      }
    }
    values.closeSet(attributes);
    const seen = observed || time || intake.now;
    const at = time || seen;
    const bytes = attributes.pending;
    const refusal =
      intake.impossibleTime(at) ??
      (bytes + this.table.context.rowBytes > intake.limits.recordBytes
        ? 'a log record larger than the limit'
        : undefined);
    if (refusal !== undefined) {
      attributes.drop();
      return intake.reject(refusal);
    }
    this.#time.integer(at);
    this.#observedTime.integer(seen);
    this.#severityNumber.integer(severity);
    this.#flags.integer(flags);
    values.string(this.#severityText, severityFrom, severityTo);
    this.#severityText.rowShared();
    values.body(this.#body, bodyFrom, bodyTo);
    const bodyBytes = this.#body.pending;
    this.#body.row();
    values.string(this.#eventName, eventFrom, eventTo);
    this.#eventName.rowShared();
    values.id(this.#traceId, traceFrom, traceTo, 16);
    this.#traceId.row();
    values.id(this.#spanId, spanFrom, spanTo, 8);
    this.#spanId.row();
    attributes.row();
    this.table.row(intake, bytes + bodyBytes + fixedBytes);
  }
}

/** Ids, times and severity of a row, roughly. */
const fixedBytes = 150;

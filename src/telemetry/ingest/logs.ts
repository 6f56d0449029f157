import { TableWriter, type Intake } from './columns.ts';
import { FixedColumn } from './fixed.ts';
import { OtlpFields } from './otlp-fields.ts';
import { TextColumn } from './text.ts';
import { nanosToMicros } from './fields.ts';
import { work } from './limits.ts';
import { Fields } from './wire.ts';

/** opentelemetry.proto.logs.v1.LogRecord → otel.logs */
export class LogDecoder {
  readonly #columns = {
    time: new FixedColumn('timestamp', false),
    observed_time: new FixedColumn('timestamp', false),
    severity_number: new FixedColumn('int64', false),
    severity_text: new TextColumn('string'),
    body: new TextColumn('string'),
    event_name: new TextColumn('string'),
    trace_id: new TextColumn('string'),
    span_id: new TextColumn('string'),
    flags: new FixedColumn('int64', false),
    attributes: new TextColumn('json'),
  };
  readonly table = new TableWriter('logs', this.#columns);
  readonly #fields = new Fields();
  readonly #otlp = new OtlpFields();

  record(intake: Intake, from: number, to: number): void {
    const { reader, values } = intake;
    const columns = this.#columns;
    const { attributes, body } = columns;
    const fields = this.#fields;
    fields.clear();
    // Where the attribute lies that named events before the protocol had a field for it.
    let [nameFrom, nameTo] = [0, 0];
    values.openSet(attributes);
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      if (tag === 0x32) {
        const [start, next] = [reader.from, reader.at];
        const size = values.attribute(attributes, start, next);
        if (size === eventName.length && values.hasKey(start, next, eventName)) [nameFrom, nameTo] = [start, next];
        reader.at = next;
      } else fields.keep(tag, reader);
    }
    values.closeSet(attributes);
    const time = nanosToMicros(fields.low(0x09), fields.high(0x09));
    const seen = nanosToMicros(fields.low(0x59), fields.high(0x59)) || time || intake.now;
    const at = time || seen;
    const bytes = attributes.pending;
    // In field 1 spans have their trace id and metrics their name.
    const refusal = fields.has(0x0a)
      ? 'not a log record; are these spans or metrics?'
      : this.table.refusal(intake, at, bytes, 'log record');
    if (refusal !== undefined) {
      attributes.drop();
      return intake.reject(refusal);
    }
    columns.time.integer(at);
    columns.observed_time.integer(seen);
    columns.severity_number.integer(fields.int32(0x10) || severityOf(intake, fields));
    columns.flags.integer(fields.low(0x45));
    values.sharedString(columns.severity_text, fields, 0x1a);
    values.body(body, fields, 0x2a);
    const bodyBytes = body.pending;
    body.row();
    const { event_name: name } = columns;
    if (nameTo > 0 && fields.low(0x62) === fields.high(0x62)) {
      values.valueOf(name, nameFrom, nameTo);
      name.rowShared();
    } else values.sharedString(name, fields, 0x62);
    values.id(columns.trace_id, fields, 0x4a, 16);
    columns.trace_id.row();
    values.id(columns.span_id, fields, 0x52, 8);
    columns.span_id.row();
    attributes.row();
    this.#otlp.clear();
    this.#otlp.count('dropped_attributes_count', fields.low(0x38));
    this.table.row(intake, bytes + bodyBytes + fixedBytes, this.#otlp);
  }
}

const eventName = 'event.name';

/** SeverityNumber by the names that loggers write (OpenTelemetry logs data model, appendix B), where the number is left out. */
const severities = new Map(
  Object.entries({
    1: 'trace verbose t',
    5: 'debug dbg d',
    9: 'info information informational i',
    10: 'notice',
    13: 'warn warning w',
    17: 'err error severe e',
    18: 'crit critical',
    19: 'alert',
    21: 'fatal emerg emergency panic f',
  }).flatMap(([number, names]) => names.split(' ').map((name) => [name, Number(number)] as const)),
);
const longestSeverity = 16;

function severityOf({ reader }: Intake, fields: Fields): number {
  const from = fields.low(0x1a);
  const to = fields.high(0x1a);
  if (from === to || to - from > longestSeverity) return 0;
  reader.spend(work.string);
  const text = Buffer.from(reader.bytes.subarray(from, to)).toString('latin1').trim().toLowerCase();
  const [, name = text, step = '1'] = /^(trace|debug|info|warn|error|fatal)([2-4])$/.exec(text) ?? [];
  const number = severities.get(name);
  return number === undefined ? 0 : number + Number(step) - 1;
}

/** Ids, times and severity of a row, roughly. */
const fixedBytes = 150;

import { TableWriter, type Intake } from './columns.ts';
import { OtlpFields } from './otlp-fields.ts';
import { FixedColumn, FlagColumn } from './fixed.ts';
import { TextColumn } from './text.ts';
import { nanosToMicros, writeTime } from './fields.ts';
import { work } from './limits.ts';
import { Fields } from './wire.ts';

type PointType = 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';

const typeOfTag: Readonly<Record<number, PointType>> = {
  0x2a: 'gauge',
  0x3a: 'sum',
  0x4a: 'histogram',
  0x52: 'exponential_histogram',
  0x5a: 'summary',
};
const temporalities = ['', 'delta', 'cumulative'];
/** The point says that there is no value, as when a target vanished. */
const noRecordedValue = 1;

/** Tags of what a point of a type can have; what it cannot have is NULL. */
interface PointTags {
  readonly attributes: number;
  readonly flags: number;
  readonly exemplars?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly min?: number;
  readonly max?: number;
  readonly zeroCount?: number;
  readonly zeroThreshold?: number;
  readonly scale?: number;
  readonly positive?: number;
  readonly negative?: number;
}

const numberTags: PointTags = { attributes: 0x3a, flags: 0x40, exemplars: 0x2a };
const tagsOf: Readonly<Record<PointType, PointTags>> = {
  gauge: numberTags,
  sum: numberTags,
  histogram: { attributes: 0x4a, flags: 0x50, exemplars: 0x42, count: 0x21, sum: 0x29, min: 0x59, max: 0x61 },
  exponential_histogram: {
    attributes: 0x0a,
    flags: 0x50,
    exemplars: 0x5a,
    count: 0x21,
    sum: 0x29,
    min: 0x61,
    max: 0x69,
    zeroCount: 0x39,
    zeroThreshold: 0x71,
    scale: 0x30,
    positive: 0x42,
    negative: 0x4a,
  },
  summary: { attributes: 0x3a, flags: 0x40, count: 0x21, sum: 0x29 },
};

/** opentelemetry.proto.metrics.v1.Metric → otel.metrics, a row for each data point */
export class MetricDecoder {
  readonly #columns = {
    time: new FixedColumn('timestamp', false),
    start_time: new FixedColumn('timestamp', true),
    name: new TextColumn('string'),
    type: new TextColumn('string'),
    unit: new TextColumn('string'),
    description: new TextColumn('string'),
    aggregation_temporality: new TextColumn('string'),
    is_monotonic: new FlagColumn(),
    value: new FixedColumn('float64', true),
    count: new FixedColumn('int64', true),
    sum: new FixedColumn('float64', true),
    min: new FixedColumn('float64', true),
    max: new FixedColumn('float64', true),
    bucket_counts: new TextColumn('json'),
    explicit_bounds: new TextColumn('json'),
    scale: new FixedColumn('int64', true),
    zero_count: new FixedColumn('int64', true),
    positive_offset: new FixedColumn('int64', true),
    positive_bucket_counts: new TextColumn('json'),
    negative_offset: new FixedColumn('int64', true),
    negative_bucket_counts: new TextColumn('json'),
    quantile_values: new TextColumn('json'),
    attributes: new TextColumn('json'),
    flags: new FixedColumn('int64', false),
    as_int: new FixedColumn('int64', true),
    zero_threshold: new FixedColumn('float64', true),
    exemplars: new TextColumn('json'),
  };
  readonly #lists = [
    this.#columns.bucket_counts,
    this.#columns.explicit_bounds,
    this.#columns.positive_bucket_counts,
    this.#columns.negative_bucket_counts,
    this.#columns.quantile_values,
    this.#columns.exemplars,
  ];
  readonly table = new TableWriter('metrics', this.#columns);
  readonly #metric = new Fields();
  readonly #data = new Fields();
  readonly #point = new Fields();
  /** Of buckets, of a quantile or of an exemplar. */
  readonly #inner = new Fields();
  readonly #otlp = new OtlpFields();
  /** Of name, description and unit. */
  #textBytes = 0;
  /** Why the point is not kept. */
  #refusal: string | undefined;

  record(intake: Intake, from: number, to: number): void {
    const { reader } = intake;
    const metric = this.#metric;
    let data = 0;
    metric.clear();
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      metric.keep(tag, reader);
      if (tag in typeOfTag) data = tag;
    }
    const type = typeOfTag[data];
    // Spans have times in fields 7 and 8, logs in fields 1 and 11.
    if (type === undefined || [0x39, 0x41, 0x09, 0x59].some((tag) => metric.has(tag))) {
      return intake.reject('a metric without data of a known type; is it one?');
    }
    const dataFrom = metric.low(data);
    const dataTo = metric.high(data);
    this.#textBytes = [0x0a, 0x12, 0x1a].reduce((sum, tag) => sum + metric.high(tag) - metric.low(tag), 0);
    this.#otlp.clear();
    if (metric.has(metadata)) this.#otlp.text('metadata', intake.values.plainAttributes(from, to, metadata));
    this.#data.read(reader, dataFrom, dataTo);
    for (reader.at = dataFrom; reader.find(0x0a, dataTo);) {
      const next = reader.at;
      this.#writePoint(intake, type, reader.from, next);
      reader.at = next;
    }
  }

  #writePoint(intake: Intake, type: PointType, from: number, to: number): void {
    const { attributes, start_time } = this.#columns;
    const tags = tagsOf[type];
    intake.reader.spend(work.point);
    const point = this.#point.read(intake.reader, from, to);
    this.#refusal = undefined;
    this.#readLists(intake, type, from, to);
    for (const tag of [tags.count, tags.zeroCount]) {
      if (tag !== undefined && point.high(tag) > 0x7fffffff) this.#refusal = countTooLarge;
    }
    for (const list of this.#lists) if (list.pending === 0) list.literal('[]');
    intake.values.attributes(attributes, from, to, tags.attributes);
    const time = nanosToMicros(point.low(0x19), point.high(0x19)) || intake.now;
    const bytes = this.#lists.reduce((sum, list) => sum + list.pending, attributes.pending + this.#otlp.bytes);
    const refusal = this.#refusal ?? this.table.refusal(intake, time, bytes, 'data point');
    if (refusal !== undefined) {
      for (const list of this.#lists) list.drop();
      attributes.drop();
      return intake.reject(refusal);
    }
    for (const list of this.#lists) list.rowShared();
    attributes.row();
    this.#columns.time.integer(time);
    const start = nanosToMicros(point.low(0x11), point.high(0x11));
    if (start === 0) start_time.null();
    else start_time.integer(start);
    this.#describe(intake, type);
    this.#writeNumbers(intake, tags);
    this.table.row(intake, bytes + this.#textBytes + fixedBytes, this.#otlp);
  }

  #readLists(intake: Intake, type: PointType, from: number, to: number): void {
    const columns = this.#columns;
    const point = this.#point;
    if (type === 'histogram') {
      this.#readList(intake, columns.bucket_counts, from, to, 0x31);
      this.#readList(intake, columns.explicit_bounds, from, to, 0x39);
    } else if (type === 'exponential_histogram') {
      this.#readList(intake, columns.positive_bucket_counts, point.low(0x42), point.high(0x42), 0x10);
      this.#readList(intake, columns.negative_bucket_counts, point.low(0x4a), point.high(0x4a), 0x10);
    } else if (type === 'summary') this.#readQuantiles(intake, from, to);
    const { exemplars } = tagsOf[type];
    if (exemplars !== undefined && point.has(exemplars)) this.#readExemplars(intake, from, to, exemplars);
  }

  #describe({ values }: Intake, type: PointType): void {
    const columns = this.#columns;
    values.sharedString(columns.name, this.#metric, 0x0a);
    columns.type.rowOf(type);
    values.sharedString(columns.unit, this.#metric, 0x1a);
    values.sharedString(columns.description, this.#metric, 0x12);
    columns.aggregation_temporality.rowOf(temporalities[this.#data.int32(0x10)] ?? '');
    columns.is_monotonic.flag(this.#data.low(0x18) !== 0);
  }

  #writeNumbers(intake: Intake, tags: PointTags): void {
    const columns = this.#columns;
    const point = this.#point;
    const isNumber = tags === numberTags && (point.low(tags.flags) & noRecordedValue) === 0;
    if (isNumber && point.isAfter(0x31, 0x21)) {
      columns.value.float(integerOf(point));
      this.#put(columns.as_int, 0x31);
    } else {
      this.#put(columns.value, isNumber ? 0x21 : undefined);
      columns.as_int.null();
    }
    this.#put(columns.count, tags.count, true);
    this.#put(columns.sum, tags.sum, tags === tagsOf.summary);
    this.#put(columns.min, tags.min);
    this.#put(columns.max, tags.max);
    if (tags.scale === undefined) columns.scale.null();
    else columns.scale.integer(point.sint32(tags.scale));
    this.#put(columns.zero_count, tags.zeroCount, true);
    this.#put(columns.zero_threshold, tags.zeroThreshold, true);
    this.#putOffset(intake, columns.positive_offset, tags.positive);
    this.#putOffset(intake, columns.negative_offset, tags.negative);
    columns.flags.integer(point.low(tags.flags));
  }

  /** An absent number is NULL, or 0 if `isZero`. */
  #put(column: FixedColumn, tag: number | undefined, isZero = false): void {
    if (tag === undefined || (!isZero && !this.#point.has(tag))) column.null();
    else column.words(this.#point.low(tag), this.#point.high(tag));
  }

  /** The buckets' offset. */
  #putOffset({ reader }: Intake, column: FixedColumn, tag: number | undefined): void {
    if (tag === undefined || !this.#point.has(tag)) return column.null();
    column.integer(this.#inner.read(reader, this.#point.low(tag), this.#point.high(tag)).sint32(0x08));
  }

  /** A repeated number as a JSON array. `single` is its tag where it is not packed. */
  #readList({ reader, limits }: Intake, out: TextColumn, from: number, to: number, single: number): void {
    const packed = (single & ~7) | 2;
    const isDouble = out === this.#columns.explicit_bounds;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      const start = reader.at;
      reader.skip(tag, to);
      if (tag !== single && tag !== packed) continue;
      const next = reader.at;
      for (reader.at = tag === packed ? reader.from : start; reader.at < next;) {
        if (out.pending > limits.buckets * 24) this.#refusal = tooManyBuckets;
        if (this.#refusal !== undefined) return;
        out.byte(out.pending === 0 ? 0x5b : 0x2c);
        reader.spend(isDouble ? work.string : 1);
        if (isDouble) {
          out.literal(jsonNumber(reader.double(next)));
          continue;
        }
        reader.skip(single, next);
        if (reader.high > 0x7fffffff) this.#refusal = countTooLarge;
        out.literal(reader.high === 0 ? String(reader.low) : reader.signed().toString());
      }
    }
    if (out.pending > 0) out.byte(0x5d);
  }

  #readQuantiles({ reader, limits }: Intake, from: number, to: number): void {
    const out = this.#columns.quantile_values;
    let count = 0;
    for (reader.at = from; reader.find(0x32, to);) {
      const next = reader.at;
      count += 1;
      if (count > limits.buckets) {
        this.#refusal = tooManyBuckets;
        return;
      }
      reader.spend(work.item);
      const quantile = this.#inner.read(reader, reader.from, next);
      out.byte(count === 1 ? 0x5b : 0x2c);
      out.literal(`{"quantile":${jsonNumber(quantile.double(0x09))},"value":${jsonNumber(quantile.double(0x11))}}`);
      reader.at = next;
    }
    if (count > 0) out.byte(0x5d);
  }

  #readExemplars({ reader, values, limits, losses, now }: Intake, from: number, to: number, tag: number): void {
    const out = this.#columns.exemplars;
    let count = 0;
    out.byte(0x5b);
    for (reader.at = from; reader.find(tag, to);) {
      const [start, next] = [reader.from, reader.at];
      const before = out.length;
      reader.spend(work.item);
      const exemplar = this.#inner.read(reader, start, next);
      out.literal(count === 0 ? '{"time":' : ',{"time":');
      writeTime(out, nanosToMicros(exemplar.low(0x11), exemplar.high(0x11)) || now);
      const value = exemplar.isAfter(0x31, 0x19) ? integerOf(exemplar) : exemplar.double(0x19);
      out.literal(`,"value":${jsonNumber(value)},"trace_id":"`);
      values.id(out, exemplar, 0x2a, 16);
      out.literal('","span_id":"');
      values.id(out, exemplar, 0x22, 8);
      out.literal('","filtered_attributes":');
      values.attributes(out, start, next, 0x3a);
      out.byte(0x7d);
      reader.at = next;
      count += 1;
      if (count <= limits.exemplars && out.pending <= limits.exemplarBytes) continue;
      out.length = before;
      count -= 1;
      losses.exemplars += 1;
    }
    out.byte(0x5d);
  }
}

/** The field `as_int`, rounded to a double. */
function integerOf(fields: Fields): number {
  return (fields.high(0x31) | 0) * 2 ** 32 + fields.low(0x31);
}

/** Tag of a metric's metadata. */
const metadata = 0x62;

/** Names, times and numbers of a row, roughly. */
const fixedBytes = 250;
const tooManyBuckets = 'a data point with more buckets than the limit';
const countTooLarge = 'a count of more than 63 bits';

/** JSON has no NaN and no infinities; warehouses read these words as the numbers. */
function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${String(value)}"`;
}

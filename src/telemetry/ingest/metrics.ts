import { TableWriter, nowhere, type Intake, type Range } from './columns.ts';
import { FixedColumn, FlagColumn } from './fixed.ts';
import { TextColumn } from './text.ts';
import { nanosToMicros } from './fields.ts';

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

interface Metric {
  readonly type: PointType;
  readonly name: Range;
  readonly description: Range;
  readonly unit: Range;
  readonly temporality: string;
  readonly monotonic: boolean;
  readonly textBytes: number;
}

/** A 64-bit count. */
interface Words {
  readonly low: number;
  readonly high: number;
}

/** What a point of any type can have; absent is NULL. */
interface Point {
  time: number;
  start: number;
  flags: number;
  value: number | undefined;
  count: Words | undefined;
  sum: number | undefined;
  min: number | undefined;
  max: number | undefined;
  scale: number | undefined;
  zeroCount: Words | undefined;
  positiveOffset: number | undefined;
  negativeOffset: number | undefined;
  refusal: string | undefined;
}

/** opentelemetry.proto.metrics.v1.Metric → otel.metrics, a row for each data point */
export class MetricDecoder {
  readonly #time = new FixedColumn('timestamp', false);
  readonly #startTime = new FixedColumn('timestamp', true);
  readonly #name = new TextColumn('string');
  readonly #type = new TextColumn('string');
  readonly #unit = new TextColumn('string');
  readonly #description = new TextColumn('string');
  readonly #temporality = new TextColumn('string');
  readonly #monotonic = new FlagColumn();
  readonly #value = new FixedColumn('float64', true);
  readonly #count = new FixedColumn('int64', true);
  readonly #sum = new FixedColumn('float64', true);
  readonly #min = new FixedColumn('float64', true);
  readonly #max = new FixedColumn('float64', true);
  readonly #bucketCounts = new TextColumn('json');
  readonly #explicitBounds = new TextColumn('json');
  readonly #scale = new FixedColumn('int64', true);
  readonly #zeroCount = new FixedColumn('int64', true);
  readonly #positiveOffset = new FixedColumn('int64', true);
  readonly #positiveCounts = new TextColumn('json');
  readonly #negativeOffset = new FixedColumn('int64', true);
  readonly #negativeCounts = new TextColumn('json');
  readonly #quantiles = new TextColumn('json');
  readonly #attributes = new TextColumn('json');
  readonly #flags = new FixedColumn('int64', false);
  readonly #lists = [
    this.#bucketCounts,
    this.#explicitBounds,
    this.#positiveCounts,
    this.#negativeCounts,
    this.#quantiles,
  ];
  readonly table = new TableWriter('metrics', {
    time: this.#time,
    start_time: this.#startTime,
    name: this.#name,
    type: this.#type,
    unit: this.#unit,
    description: this.#description,
    aggregation_temporality: this.#temporality,
    is_monotonic: this.#monotonic,
    value: this.#value,
    count: this.#count,
    sum: this.#sum,
    min: this.#min,
    max: this.#max,
    bucket_counts: this.#bucketCounts,
    explicit_bounds: this.#explicitBounds,
    scale: this.#scale,
    zero_count: this.#zeroCount,
    positive_offset: this.#positiveOffset,
    positive_bucket_counts: this.#positiveCounts,
    negative_offset: this.#negativeOffset,
    negative_bucket_counts: this.#negativeCounts,
    quantile_values: this.#quantiles,
    attributes: this.#attributes,
    flags: this.#flags,
  });

  record(intake: Intake, from: number, to: number): void {
    const { reader } = intake;
    let name = nowhere;
    let description = nowhere;
    let unit = nowhere;
    let data = nowhere;
    let type: PointType | undefined;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      reader.skip(tag, to);
      const range = { from: reader.from, to: reader.at };
      if (tag === 0x0a) name = range;
      else if (tag === 0x12) description = range;
      else if (tag === 0x1a) unit = range;
      else if (tag in typeOfTag) {
        type = typeOfTag[tag];
        data = range;
      }
    }
    if (type === undefined) return;
    let temporality = '';
    let monotonic = false;
    for (reader.at = data.from; reader.at < data.to;) {
      const tag = reader.tag(data.to);
      reader.skip(tag, data.to);
      if (tag === 0x10) temporality = temporalities[reader.int32()] ?? '';
      else if (tag === 0x18) monotonic = reader.low !== 0;
    }
    const textBytes = name.to - name.from + description.to - description.from + unit.to - unit.from;
    const metric = { type, name, description, unit, temporality, monotonic, textBytes };
    for (reader.at = data.from; reader.at < data.to;) {
      const tag = reader.tag(data.to);
      reader.skip(tag, data.to);
      if (tag !== 0x0a) continue;
      const next = reader.at;
      this.#point(intake, metric, reader.from, next);
      reader.at = next;
    }
  }

  #point(intake: Intake, metric: Metric, from: number, to: number): void {
    const { values } = intake;
    const point = newPoint();
    let attributesTag = 0x3a;
    if (metric.type === 'gauge' || metric.type === 'sum') readNumber(intake, point, from, to);
    else if (metric.type === 'histogram') {
      attributesTag = 0x4a;
      this.#readHistogram(intake, point, from, to);
    } else if (metric.type === 'exponential_histogram') {
      attributesTag = 0x0a;
      this.#readExponential(intake, point, from, to);
    } else this.#readSummary(intake, point, from, to);
    for (const list of this.#lists) if (list.pending === 0) list.literal('[]');
    values.attributes(this.#attributes, from, to, attributesTag);
    const time = point.time || intake.now;
    const bytes = this.#lists.reduce((sum, list) => sum + list.pending, this.#attributes.pending);
    const refusal =
      point.refusal ??
      intake.impossibleTime(time) ??
      (bytes + this.table.context.rowBytes > intake.limits.recordBytes
        ? 'a data point larger than the limit'
        : undefined);
    if (refusal !== undefined) {
      for (const list of this.#lists) list.drop();
      this.#attributes.drop();
      return intake.reject(refusal);
    }
    for (const list of this.#lists) list.rowShared();
    this.#attributes.row();
    this.#time.integer(time);
    if (point.start === 0) this.#startTime.null();
    else this.#startTime.integer(point.start);
    this.#describe(intake, metric);
    putFloat(this.#value, point.value);
    putWords(this.#count, point.count);
    putFloat(this.#sum, point.sum);
    putFloat(this.#min, point.min);
    putFloat(this.#max, point.max);
    putInteger(this.#scale, point.scale);
    putWords(this.#zeroCount, point.zeroCount);
    putInteger(this.#positiveOffset, point.positiveOffset);
    putInteger(this.#negativeOffset, point.negativeOffset);
    this.#flags.integer(point.flags);
    this.table.row(intake, bytes + metric.textBytes + fixedBytes);
  }

  #describe({ values }: Intake, metric: Metric): void {
    values.string(this.#name, metric.name.from, metric.name.to);
    this.#name.rowShared();
    this.#type.literal(metric.type);
    this.#type.rowShared();
    values.string(this.#unit, metric.unit.from, metric.unit.to);
    this.#unit.rowShared();
    values.string(this.#description, metric.description.from, metric.description.to);
    this.#description.rowShared();
    this.#temporality.literal(metric.temporality);
    this.#temporality.rowShared();
    this.#monotonic.flag(metric.monotonic);
  }

  #readHistogram(intake: Intake, point: Point, from: number, to: number): void {
    const { reader } = intake;
    point.count = noCount;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      const start = reader.at;
      reader.skip(tag, to);
      if (readCommon(intake, point, tag, 0x50)) continue;
      const next = reader.at;
      reader.at = start;
      if (tag === 0x21) point.count = readCount(intake, point, to);
      else if (tag === 0x29) point.sum = reader.double(to);
      else if (tag === 0x59) point.min = reader.double(to);
      else if (tag === 0x61) point.max = reader.double(to);
      else if (tag === 0x32 || tag === 0x31) readList(intake, point, this.#bucketCounts, tag, 'fixed64', to);
      else if (tag === 0x3a || tag === 0x39) readList(intake, point, this.#explicitBounds, tag, 'double', to);
      reader.at = next;
    }
    closeList(this.#bucketCounts);
    closeList(this.#explicitBounds);
  }

  #readExponential(intake: Intake, point: Point, from: number, to: number): void {
    const { reader } = intake;
    point.count = noCount;
    point.zeroCount = noCount;
    point.scale = 0;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      const start = reader.at;
      reader.skip(tag, to);
      if (readCommon(intake, point, tag, 0x50)) continue;
      const next = reader.at;
      if (tag === 0x30) point.scale = reader.sint32();
      else if (tag === 0x42)
        point.positiveOffset = this.#readBuckets(intake, point, this.#positiveCounts, reader.from, next);
      else if (tag === 0x4a)
        point.negativeOffset = this.#readBuckets(intake, point, this.#negativeCounts, reader.from, next);
      else {
        reader.at = start;
        if (tag === 0x21) point.count = readCount(intake, point, to);
        else if (tag === 0x29) point.sum = reader.double(to);
        else if (tag === 0x39) point.zeroCount = readCount(intake, point, to);
        else if (tag === 0x61) point.min = reader.double(to);
        else if (tag === 0x69) point.max = reader.double(to);
      }
      reader.at = next;
    }
  }

  /** Answers the offset. */
  #readBuckets(intake: Intake, point: Point, out: TextColumn, from: number, to: number): number {
    const { reader } = intake;
    let offset = 0;
    out.drop();
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      const start = reader.at;
      reader.skip(tag, to);
      const next = reader.at;
      if (tag === 0x08) offset = reader.sint32();
      else if (tag === 0x12 || tag === 0x10) {
        reader.at = start;
        readList(intake, point, out, tag, 'varint', to);
      }
      reader.at = next;
    }
    closeList(out);
    return offset;
  }

  #readSummary(intake: Intake, point: Point, from: number, to: number): void {
    const { reader, limits } = intake;
    const out = this.#quantiles;
    let quantiles = 0;
    point.count = noCount;
    point.sum = 0;
    for (reader.at = from; reader.at < to;) {
      const tag = reader.tag(to);
      const start = reader.at;
      reader.skip(tag, to);
      if (readCommon(intake, point, tag, 0x40)) continue;
      const next = reader.at;
      if (tag === 0x32) {
        quantiles += 1;
        if (quantiles > limits.buckets) point.refusal = tooManyBuckets;
        else readQuantile(intake, out, reader.from, next);
      } else {
        reader.at = start;
        if (tag === 0x21) point.count = readCount(intake, point, to);
        else if (tag === 0x29) point.sum = reader.double(to);
      }
      reader.at = next;
    }
    closeList(out);
  }
}

/** Names, times and numbers of a row, roughly. */
const fixedBytes = 250;
const noCount: Words = { low: 0, high: 0 };
const tooManyBuckets = 'a data point with more buckets than the limit';
const countTooLarge = 'a count of more than 63 bits';

function newPoint(): Point {
  return {
    time: 0,
    start: 0,
    flags: 0,
    value: undefined,
    count: undefined,
    sum: undefined,
    min: undefined,
    max: undefined,
    scale: undefined,
    zeroCount: undefined,
    positiveOffset: undefined,
    negativeOffset: undefined,
    refusal: undefined,
  };
}

/** Times and flags, which have just been read over; whether the field was one of them. */
function readCommon({ reader }: Intake, point: Point, tag: number, flagsTag: number): boolean {
  if (tag === 0x11) point.start = nanosToMicros(reader.low, reader.high);
  else if (tag === 0x19) point.time = nanosToMicros(reader.low, reader.high);
  else if (tag === flagsTag) point.flags = reader.low;
  else return false;
  return true;
}

function readNumber(intake: Intake, point: Point, from: number, to: number): void {
  const { reader } = intake;
  for (reader.at = from; reader.at < to;) {
    const tag = reader.tag(to);
    const start = reader.at;
    reader.skip(tag, to);
    if (readCommon(intake, point, tag, 0x40)) continue;
    if (tag === 0x31) point.value = Number(reader.signed());
    else if (tag === 0x21) {
      reader.at = start;
      point.value = reader.double(to);
    }
  }
  if ((point.flags & noRecordedValue) !== 0) point.value = undefined;
}

function readCount({ reader }: Intake, point: Point, to: number): Words {
  reader.fixed64(to);
  if (reader.high > 0x7fffffff) point.refusal = countTooLarge;
  return { low: reader.low, high: reader.high };
}

/** A repeated number, packed or not, appended to the JSON array begun in `out`. */
function readList(
  intake: Intake,
  point: Point,
  out: TextColumn,
  tag: number,
  type: 'fixed64' | 'double' | 'varint',
  to: number,
): void {
  const { reader, limits } = intake;
  let end = to;
  const packed = (tag & 7) === 2;
  if (packed) {
    reader.span(to);
    end = reader.at;
    reader.at = reader.from;
  }
  while (reader.at < end) {
    if (out.pending > limits.buckets * 24) point.refusal = tooManyBuckets;
    if (point.refusal !== undefined) return;
    out.byte(out.pending === 0 ? 0x5b : 0x2c);
    if (type === 'double') out.literal(jsonNumber(reader.double(end)));
    else {
      if (type === 'fixed64') reader.fixed64(end);
      else reader.varint(end);
      if (reader.high > 0x7fffffff) point.refusal = countTooLarge;
      out.literal(reader.high === 0 ? String(reader.low) : reader.signed().toString());
    }
    if (!packed) return;
  }
}

function closeList(out: TextColumn): void {
  if (out.pending > 0) out.byte(0x5d);
}

function readQuantile({ reader }: Intake, out: TextColumn, from: number, to: number): void {
  let quantile = 0;
  let value = 0;
  for (reader.at = from; reader.at < to;) {
    const tag = reader.tag(to);
    const start = reader.at;
    reader.skip(tag, to);
    if (tag !== 0x09 && tag !== 0x11) continue;
    reader.at = start;
    if (tag === 0x09) quantile = reader.double(to);
    else value = reader.double(to);
  }
  out.byte(out.pending === 0 ? 0x5b : 0x2c);
  out.literal(`{"quantile":${jsonNumber(quantile)},"value":${jsonNumber(value)}}`);
}

/** JSON has no NaN and no infinities; warehouses read these words as the numbers. */
function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${String(value)}"`;
}

function putFloat(column: FixedColumn, value: number | undefined): void {
  if (value === undefined) column.null();
  else column.float(value);
}

function putInteger(column: FixedColumn, value: number | undefined): void {
  if (value === undefined) column.null();
  else column.integer(value);
}

function putWords(column: FixedColumn, value: Words | undefined): void {
  if (value === undefined) column.null();
  else column.words(value.low, value.high);
}

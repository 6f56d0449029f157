import type { Utf8Writer } from './text.ts';

const twoTo32 = 0x1_0000_0000;

/**
 * Microseconds of a `*_unix_nano` given in two words, rounded down; exact up to the year 2255. In doubles, since a BigInt a
 * timestamp would be a tenth of the whole work.
 */
export function nanosToMicros(low: number, high: number): number {
  const thousands = Math.floor(high / 1000);
  const rest = (high - thousands * 1000) * twoTo32 + low;
  return thousands * twoTo32 + Math.floor(rest / 1000);
}

/** The largest double that a signed 64-bit integer holds. */
const longest = 2 ** 63 - 1024;

/** Nanoseconds from one time to a later one; exact below 104 days. 0 if the clock went back. */
export function nanosBetween(startLow: number, startHigh: number, endLow: number, endHigh: number): number {
  return Math.min(longest, Math.max(0, (endHigh - startHigh) * twoTo32 + (endLow - startLow)));
}

let cachedSecond = Number.NaN;
let cachedText = '';

/** RFC 3339 UTC with microseconds, quoted. */
export function writeTime(out: Utf8Writer, micros: number): void {
  const second = Math.floor(micros / 1e6);
  if (second !== cachedSecond) {
    cachedText = `"${new Date(second * 1000).toISOString().replace(/000Z$/, '')}`;
    cachedSecond = second;
  }
  out.literal(cachedText);
  out.literal(`${String(micros - second * 1e6).padStart(6, '0')}Z"`);
}

export const signals = ['traces', 'metrics', 'logs'] as const;
export type Signal = (typeof signals)[number];

/*
 * The messages of opentelemetry-proto 1.9 that the receiver reads, by their OTLP/JSON names. What is not listed is not stored
 * and is skipped, as the protocol asks for fields that a receiver does not know.
 */

export type Scalar =
  | 'string'
  | 'base64'
  | 'hex'
  | 'bool'
  | 'double'
  | 'int32'
  | 'uint32'
  | 'sint32'
  | 'int64'
  | 'uint64'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed64'
  | 'spanKind'
  | 'statusCode'
  | 'severityNumber'
  | 'temporality';

/** A message is given by a function, since AnyValue holds itself. */
export type FieldType = Scalar | (() => Message);
export interface Field {
  readonly number: number;
  readonly type: FieldType;
  readonly repeated: boolean;
}
export type Message = ReadonlyMap<string, Field>;

type Short = readonly [number: number, type: FieldType, repeated?: 'repeated'];

function message(fields: Readonly<Record<string, Short>>): Message {
  return new Map(
    Object.entries(fields).map(([name, [number, type, repeated]]) => [
      name,
      { number, type, repeated: repeated !== undefined },
    ]),
  );
}

export const anyValue: Message = message({
  stringValue: [1, 'string'],
  boolValue: [2, 'bool'],
  intValue: [3, 'int64'],
  doubleValue: [4, 'double'],
  arrayValue: [5, () => arrayValue],
  kvlistValue: [6, () => keyValueList],
  bytesValue: [7, 'base64'],
});
const keyValue = message({ key: [1, 'string'], value: [2, () => anyValue] });
const arrayValue = message({ values: [1, () => anyValue, 'repeated'] });
const keyValueList = message({ values: [1, () => keyValue, 'repeated'] });

const resource = message({ attributes: [1, () => keyValue, 'repeated'], droppedAttributesCount: [2, 'uint32'] });
const scope = message({
  name: [1, 'string'],
  version: [2, 'string'],
  attributes: [3, () => keyValue, 'repeated'],
  droppedAttributesCount: [4, 'uint32'],
});

const event = message({
  timeUnixNano: [1, 'fixed64'],
  name: [2, 'string'],
  attributes: [3, () => keyValue, 'repeated'],
  droppedAttributesCount: [4, 'uint32'],
});
const link = message({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'string'],
  attributes: [4, () => keyValue, 'repeated'],
  droppedAttributesCount: [5, 'uint32'],
  flags: [6, 'fixed32'],
});
const span = message({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'string'],
  parentSpanId: [4, 'hex'],
  name: [5, 'string'],
  kind: [6, 'spanKind'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, () => keyValue, 'repeated'],
  droppedAttributesCount: [10, 'uint32'],
  events: [11, () => event, 'repeated'],
  droppedEventsCount: [12, 'uint32'],
  links: [13, () => link, 'repeated'],
  droppedLinksCount: [14, 'uint32'],
  status: [15, () => message({ message: [2, 'string'], code: [3, 'statusCode'] })],
  flags: [16, 'fixed32'],
});

const logRecord = message({
  timeUnixNano: [1, 'fixed64'],
  severityNumber: [2, 'severityNumber'],
  severityText: [3, 'string'],
  body: [5, () => anyValue],
  attributes: [6, () => keyValue, 'repeated'],
  droppedAttributesCount: [7, 'uint32'],
  flags: [8, 'fixed32'],
  traceId: [9, 'hex'],
  spanId: [10, 'hex'],
  observedTimeUnixNano: [11, 'fixed64'],
  eventName: [12, 'string'],
});

const pointTimes = { startTimeUnixNano: [2, 'fixed64'], timeUnixNano: [3, 'fixed64'] } as const;
const exemplar = message({
  timeUnixNano: [2, 'fixed64'],
  asDouble: [3, 'double'],
  spanId: [4, 'hex'],
  traceId: [5, 'hex'],
  asInt: [6, 'sfixed64'],
  filteredAttributes: [7, () => keyValue, 'repeated'],
});
const numberPoint = message({
  ...pointTimes,
  asDouble: [4, 'double'],
  exemplars: [5, () => exemplar, 'repeated'],
  asInt: [6, 'sfixed64'],
  attributes: [7, () => keyValue, 'repeated'],
  flags: [8, 'uint32'],
});
const histogramPoint = message({
  ...pointTimes,
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  bucketCounts: [6, 'fixed64', 'repeated'],
  explicitBounds: [7, 'double', 'repeated'],
  exemplars: [8, () => exemplar, 'repeated'],
  attributes: [9, () => keyValue, 'repeated'],
  flags: [10, 'uint32'],
  min: [11, 'double'],
  max: [12, 'double'],
});
const buckets = message({ offset: [1, 'sint32'], bucketCounts: [2, 'uint64', 'repeated'] });
const exponentialPoint = message({
  attributes: [1, () => keyValue, 'repeated'],
  ...pointTimes,
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  scale: [6, 'sint32'],
  zeroCount: [7, 'fixed64'],
  positive: [8, () => buckets],
  negative: [9, () => buckets],
  flags: [10, 'uint32'],
  exemplars: [11, () => exemplar, 'repeated'],
  min: [12, 'double'],
  max: [13, 'double'],
  zeroThreshold: [14, 'double'],
});
const quantile = message({ quantile: [1, 'double'], value: [2, 'double'] });
const summaryPoint = message({
  ...pointTimes,
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  quantileValues: [6, () => quantile, 'repeated'],
  attributes: [7, () => keyValue, 'repeated'],
  flags: [8, 'uint32'],
});
const gauge = message({ dataPoints: [1, () => numberPoint, 'repeated'] });
const sum = message({
  dataPoints: [1, () => numberPoint, 'repeated'],
  aggregationTemporality: [2, 'temporality'],
  isMonotonic: [3, 'bool'],
});
const histogram = message({
  dataPoints: [1, () => histogramPoint, 'repeated'],
  aggregationTemporality: [2, 'temporality'],
});
const exponentialHistogram = message({
  dataPoints: [1, () => exponentialPoint, 'repeated'],
  aggregationTemporality: [2, 'temporality'],
});
const summary = message({ dataPoints: [1, () => summaryPoint, 'repeated'] });
const metric = message({
  name: [1, 'string'],
  description: [2, 'string'],
  unit: [3, 'string'],
  gauge: [5, () => gauge],
  sum: [7, () => sum],
  histogram: [9, () => histogram],
  exponentialHistogram: [10, () => exponentialHistogram],
  summary: [11, () => summary],
  metadata: [12, () => keyValue, 'repeated'],
});

/** Resource → scope → records, which all three signals share. */
function request(resources: string, scopes: string, records: string, record: Message): Message {
  const scoped = message({
    scope: [1, () => scope],
    [records]: [2, () => record, 'repeated'],
    schemaUrl: [3, 'string'],
  });
  const grouped = message({
    resource: [1, () => resource],
    [scopes]: [2, () => scoped, 'repeated'],
    schemaUrl: [3, 'string'],
  });
  return message({ [resources]: [1, () => grouped, 'repeated'] });
}

/** Export*ServiceRequest of each signal. */
export const requests: Readonly<Record<Signal, Message>> = {
  traces: request('resourceSpans', 'scopeSpans', 'spans', span),
  metrics: request('resourceMetrics', 'scopeMetrics', 'metrics', metric),
  logs: request('resourceLogs', 'scopeLogs', 'logRecords', logRecord),
};

const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => [
  name,
  `${name}2`,
  `${name}3`,
  `${name}4`,
]);

/** Numbers by name: OTLP/JSON wants the numbers, but standard protobuf JSON writes the names. */
export const enums: Readonly<Partial<Record<Scalar, ReadonlyMap<string, number>>>> = {
  spanKind: named('SPAN_KIND_', ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']),
  statusCode: named('STATUS_CODE_', ['UNSET', 'OK', 'ERROR']),
  severityNumber: named('SEVERITY_NUMBER_', ['UNSPECIFIED', ...severities]),
  temporality: named('AGGREGATION_TEMPORALITY_', ['UNSPECIFIED', 'DELTA', 'CUMULATIVE']),
};

function named(prefix: string, names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, number) => [prefix + name, number]));
}

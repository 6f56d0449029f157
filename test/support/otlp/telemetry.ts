import fc from 'fast-check';
import type { Signal } from '../../../src/telemetry/ingest/fields.ts';

/*
 * Any telemetry a sender could mean, as OTLP/JSON documents. Fields are left out at random, since both encodings leave out
 * what has its default.
 */

export const now = Date.UTC(2026, 5, 1);
const nowNanos = BigInt(now) * 1_000_000n;

const text = fc.oneof(
  fc.constantFrom('', 'GET /cart', 'a"b\\c\n\u0000\u001f', 'größe 漢字 🛒', 'service.name'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.toWellFormed()),
);
const nanos = fc.oneof(
  fc.constant('0'),
  fc.bigInt({ min: nowNanos - 10n ** 15n, max: nowNanos + 10n ** 13n }).map(String),
);
const hex = (bytes: number) =>
  fc.oneof(
    fc.constantFrom('', '0'.repeat(bytes * 2), 'abcd'),
    fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex')),
  );
const int64 = fc.oneof(fc.integer().map(String), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String));
/** What JSON has no number for is text there; JSON.stringify makes 0 of -0. */
const double = fc.double().map((value) => {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : String(value);
});
const count = fc.oneof(fc.nat(1000).map(String), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String));
const flags = fc.nat(0xffff);

const some = <Model extends object>(model: { [Key in keyof Model]: fc.Arbitrary<Model[Key]> }) =>
  fc.record(model, { requiredKeys: [] });

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant({}),
    fc.record({ stringValue: text }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: double }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 8 }).map((value) => Buffer.from(value).toString('base64')) }),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({
      kvlistValue: fc.record({ values: fc.array(fc.record({ key: text, value: tie('value') }), { maxLength: 3 }) }),
    }),
  ),
}));
const attributes = fc.array(some({ key: text, value: anyValue }), { maxLength: 5 });
const dropped = fc.oneof(fc.constant(0), fc.nat(0xffff_ffff));
const resource = some({
  droppedAttributesCount: dropped,
  attributes: fc.oneof(
    attributes,
    attributes.map((rest) => [
      { key: 'service.name', value: { stringValue: 'checkout' } },
      { key: 'deployment.environment', value: { stringValue: 'prod' } },
      ...rest,
    ]),
  ),
});
const scope = some({ name: text, version: text, attributes, droppedAttributesCount: dropped });

const span = some({
  traceId: hex(16),
  spanId: hex(8),
  traceState: text,
  parentSpanId: hex(8),
  name: text,
  kind: fc.constantFrom(0, 1, 2, 3, 4, 5, 9),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  droppedAttributesCount: dropped,
  events: fc.array(some({ timeUnixNano: nanos, name: text, attributes, droppedAttributesCount: dropped }), {
    maxLength: 2,
  }),
  droppedEventsCount: dropped,
  links: fc.array(
    some({ traceId: hex(16), spanId: hex(8), traceState: text, attributes, droppedAttributesCount: dropped, flags }),
    { maxLength: 2 },
  ),
  droppedLinksCount: dropped,
  status: some({ message: text, code: fc.constantFrom(0, 1, 2) }),
  flags,
});
const logRecord = some({
  timeUnixNano: nanos,
  observedTimeUnixNano: nanos,
  severityNumber: fc.nat(24),
  severityText: text,
  body: anyValue,
  attributes,
  droppedAttributesCount: dropped,
  flags,
  traceId: hex(16),
  spanId: hex(8),
  eventName: text,
});
const times = { startTimeUnixNano: nanos, timeUnixNano: nanos };
const exemplared = { timeUnixNano: nanos, traceId: hex(16), spanId: hex(8), filteredAttributes: attributes };
const exemplars = fc.array(fc.oneof(some({ ...exemplared, asDouble: double }), some({ ...exemplared, asInt: int64 })), {
  maxLength: 2,
});
const numberPoint = fc.oneof(
  some({ ...times, attributes, flags, exemplars, asDouble: double }),
  some({ ...times, attributes, flags, exemplars, asInt: int64 }),
);
const histogramPoint = some({
  ...times,
  attributes,
  flags,
  count,
  sum: double,
  min: double,
  max: double,
  bucketCounts: fc.array(count, { maxLength: 4 }),
  explicitBounds: fc.array(double, { maxLength: 3 }),
  exemplars,
});
const buckets = some({ offset: fc.integer(), bucketCounts: fc.array(count, { maxLength: 4 }) });
const exponentialPoint = some({
  ...times,
  attributes,
  flags,
  count,
  sum: double,
  scale: fc.integer({ min: -10, max: 20 }),
  zeroCount: count,
  positive: buckets,
  negative: buckets,
  min: double,
  max: double,
  zeroThreshold: double,
  exemplars,
});
const summaryPoint = some({
  ...times,
  attributes,
  flags,
  count,
  sum: double,
  quantileValues: fc.array(some({ quantile: double, value: double }), { maxLength: 3 }),
});
const temporality = fc.constantFrom(0, 1, 2);
const points = <Point>(point: fc.Arbitrary<Point>) => fc.array(point, { maxLength: 3 });
const described = { name: text, description: text, unit: text, metadata: attributes };
const metric = fc.oneof(
  some({ ...described, gauge: some({ dataPoints: points(numberPoint) }) }),
  some({
    ...described,
    sum: some({ dataPoints: points(numberPoint), aggregationTemporality: temporality, isMonotonic: fc.boolean() }),
  }),
  some({
    ...described,
    histogram: some({ dataPoints: points(histogramPoint), aggregationTemporality: temporality }),
  }),
  some({
    ...described,
    exponentialHistogram: some({ dataPoints: points(exponentialPoint), aggregationTemporality: temporality }),
  }),
  some({ ...described, summary: some({ dataPoints: points(summaryPoint) }) }),
);

function request(resources: string, scopes: string, records: string, record: fc.Arbitrary<object>) {
  const scoped = some({ scope, schemaUrl: text, [records]: fc.array(record, { maxLength: 4 }) });
  const grouped = some({ resource, schemaUrl: text, [scopes]: fc.array(scoped, { maxLength: 3 }) });
  return fc.record({ [resources]: fc.array(grouped, { maxLength: 3 }) });
}

export const documents: Readonly<Record<Signal, fc.Arbitrary<object>>> = {
  traces: request('resourceSpans', 'scopeSpans', 'spans', span),
  metrics: request('resourceMetrics', 'scopeMetrics', 'metrics', metric),
  logs: request('resourceLogs', 'scopeLogs', 'logRecords', logRecord),
};

import { describe, expect, it } from '@jest/globals';
import { recordLimits } from './limits.ts';
import { protobuf } from '../../../test/support/otlp/protobuf.ts';
import { decode, rowsOf } from '../../../test/support/otlp/rows.ts';
import { now } from '../../../test/support/otlp/telemetry.ts';

/* What senders say beside the fields that every record has is kept, and costs nothing where they do not. */

const nano = String(BigInt(now) * 1_000_000n);
const string = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const ids = { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8), startTimeUnixNano: nano };
const parsed = (value: unknown): unknown => JSON.parse(String(value));

function spansOf(resource: object, scope: object, ...spans: readonly object[]) {
  const scopeSpans = [{ ...scope, spans: spans.map((span) => Object.assign({}, ids, span)) }];
  const document = { resourceSpans: [{ ...resource, scopeSpans }] };
  const rows = rowsOf(decode('traces', 'protobuf', protobuf('traces', document), now).batches);
  return rows.map(({ scope_attributes, schema_url, otlp_fields }) => ({
    scope: parsed(scope_attributes),
    url: schema_url,
    fields: parsed(otlp_fields),
  }));
}

function pointsOf(metric: object) {
  const document = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', ...metric }] }] }] };
  const decoded = decode('metrics', 'protobuf', protobuf('metrics', document), now);
  return { rows: rowsOf(decoded.batches), losses: decoded.losses, rejected: decoded.rejected };
}

describe('fields of OTLP that few senders set', () => {
  it('are the attributes of a scope, and the schema URL of the scope, else of the resource', () => {
    const scope = { scope: { name: 'lib', attributes: [string('build', 'ü7')] } };
    const [url, other] = ['https://opentelemetry.io/schemas/1.30.0', 'https://example.com/schemas/1'];
    expect(spansOf({}, scope, {})).toEqual([{ scope: { build: 'ü7' }, url: '', fields: {} }]);
    expect(spansOf({ schemaUrl: url }, {}, {})).toEqual([{ scope: {}, url, fields: {} }]);
    expect(spansOf({ schemaUrl: url }, { schemaUrl: url }, {})).toEqual([{ scope: {}, url, fields: {} }]);
    expect(spansOf({ schemaUrl: url }, { schemaUrl: other }, {})).toEqual([
      { scope: {}, url: other, fields: { resource_schema_url: url } },
    ]);
  });

  it('are the counts of what was dropped, each at its record', () => {
    const resource = { resource: { droppedAttributesCount: 1 } };
    const scope = { scope: { droppedAttributesCount: 2 } };
    const events = [{ name: 'a' }, { name: 'b', droppedAttributesCount: 4 }];
    const links = [{ traceId: 'ff'.repeat(16), droppedAttributesCount: 5, flags: 257 }];
    const shared = { resource_dropped_attributes_count: '1', scope_dropped_attributes_count: '2' };
    const counts = { droppedAttributesCount: 3, droppedEventsCount: 6, droppedLinksCount: 4_294_967_295 };
    const rows = spansOf(resource, scope, {}, { events, links, ...counts }, { events: [{ name: 'c' }] });
    expect(rows.map(({ fields }) => fields)).toEqual([
      shared,
      {
        ...shared,
        dropped_attributes_count: '3',
        dropped_events_count: '6',
        dropped_links_count: '4294967295',
        'events.dropped_attributes_count': '[0,4]',
        'links.dropped_attributes_count': '[5]',
        'links.flags': '[257]',
      },
      shared,
    ]);
    const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ droppedAttributesCount: 9 }, {}] }] }] };
    const decoded = rowsOf(decode('logs', 'protobuf', protobuf('logs', logs), now).batches);
    expect(decoded.map(({ otlp_fields }) => otlp_fields)).toEqual(['{"dropped_attributes_count":"9"}', '{}']);
  });

  it('are exemplars, of every kind of point that has them', () => {
    const exemplar = {
      timeUnixNano: nano,
      asInt: '7',
      traceId: 'a1'.repeat(16),
      spanId: 'b2'.repeat(8),
      filteredAttributes: [string('user.id', '4')],
    };
    const point = { timeUnixNano: nano, exemplars: [exemplar, { asDouble: 'NaN' }] };
    const time = '2026-06-01T00:00:00.000000Z';
    const kept = [
      { time, value: 7, trace_id: exemplar.traceId, span_id: exemplar.spanId, filtered_attributes: { 'user.id': '4' } },
      { time, value: 'NaN', trace_id: '', span_id: '', filtered_attributes: {} },
    ];
    for (const kind of ['gauge', 'sum', 'histogram', 'exponentialHistogram']) {
      const { rows } = pointsOf({ [kind]: { dataPoints: [point, { timeUnixNano: nano }] } });
      expect([kind, parsed(rows[0]?.['exemplars']), rows[1]?.['exemplars']]).toEqual([kind, kept, '[]']);
    }
  });

  it('are exemplars up to a limit: a point is never rejected for them, and what is dropped is said', () => {
    const many = Array.from({ length: recordLimits.exemplars + 5 }, () => ({ asInt: '1' }));
    const one = pointsOf({ gauge: { dataPoints: [{ timeUnixNano: nano, asInt: '1', exemplars: many }] } });
    expect(one).toMatchObject({ rejected: 0, losses: { exemplars: 5 } });
    expect(parsed(one.rows[0]?.['exemplars'])).toHaveLength(recordLimits.exemplars);
    const large = Array.from({ length: 5 }, (_, index) => string(`k${index}`, 'x'.repeat(60_000)));
    const exemplars = [{ asInt: '1', filteredAttributes: large }, { asInt: '2' }];
    const two = pointsOf({ gauge: { dataPoints: [{ timeUnixNano: nano, asInt: '1', exemplars }] } });
    expect(two).toMatchObject({ rejected: 0, losses: { exemplars: 1 } });
    expect(parsed(two.rows[0]?.['exemplars'])).toMatchObject([{ value: 2 }]);
  });

  it('are integers to the digit, the width of the zero bucket, and the metadata of a metric', () => {
    const dataPoints = [
      { timeUnixNano: nano, asInt: '9007199254740993' },
      { timeUnixNano: nano, asInt: '-9223372036854775808' },
      { timeUnixNano: nano, asDouble: 0.5 },
      { timeUnixNano: nano, asInt: '5', flags: 1 },
    ];
    const metadata = [string('prometheus.type', 'gauge "ü"')];
    const { rows } = pointsOf({ gauge: { dataPoints }, metadata });
    expect(rows.map(({ value, as_int }) => [value, as_int])).toEqual([
      [9007199254740992, 9007199254740993n],
      [-9223372036854775808, -9223372036854775808n],
      [0.5, null],
      [null, null],
    ]);
    for (const { otlp_fields, zero_threshold } of rows) {
      expect(parsed(otlp_fields)).toEqual({ metadata: '{"prometheus.type":"gauge \\"ü\\""}' });
      expect(zero_threshold).toBeNull();
    }
    const exponential = { dataPoints: [{ zeroThreshold: 0.25 }, {}] };
    const thresholds = pointsOf({ exponentialHistogram: exponential }).rows.map((row) => row['zero_threshold']);
    expect(thresholds).toEqual([0.25, 0]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { newId } from '../../contract/core/index.ts';
import { Operations } from './operations.ts';
import { Queries } from './instruments.ts';

const millis = ([seconds, nanos]: readonly [number, number]) => seconds * 1_000 + nanos / 1e6;

describe('spans of statements', () => {
  it('are as long as the statements, however short, and lie within their operations', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const [tracer, duration] = [provider.getTracer('test'), metrics.getMeter('test').createHistogram('test')];
    const operations = new Operations(duration, { tracer, sampleRatio: 1 });
    const queries = new Queries(duration, tracer, false);
    const organizationId = newId('org');
    for (let turn = 0; turn < 200; turn += 1) {
      const since = performance.now();
      const operation = operations.begin({
        method: 'tools/call',
        tool: 'query_otel',
        protocolVersion: undefined,
        rpcId: turn,
        sessionId: undefined,
        requestId: 'request',
        organizationId,
        parent: undefined,
        since,
      });
      const sentAt = performance.now();
      while (performance.now() - sentAt < 0.3);
      queries.record({ dialect: 'postgres', sql: 'SELECT 1', organizationId, operation }, sentAt, { rows: 1 });
      operation.end();
    }
    await provider.forceFlush();
    const spans = exporter.getFinishedSpans();
    expect(spans).toHaveLength(400);
    for (const span of spans) expect(millis(span.duration)).toBeGreaterThanOrEqual(0.299);
    const operationsById = new Map(spans.map((span) => [span.spanContext().spanId, span]));
    for (const { parentSpanContext, startTime, endTime } of spans) {
      const parent = operationsById.get(parentSpanContext?.spanId ?? '');
      if (parent === undefined) continue;
      expect(millis(startTime)).toBeGreaterThanOrEqual(millis(parent.startTime));
      expect(millis(endTime)).toBeLessThanOrEqual(millis(parent.endTime));
    }
    await provider.shutdown();
  });
});

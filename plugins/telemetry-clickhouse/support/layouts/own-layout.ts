import { ownTables } from '../../setup/own-tables.ts';
import { logs, points, resourceOf, spans } from './telemetry.ts';

export const ownLayoutTables: readonly string[] = ownTables({ database: 'sightline', prefix: 'sightline_' }).map(
  (sql) => sql.replace('SETTINGS ', 'SETTINGS index_granularity = 64, '),
);

export function ownRows(): Readonly<Record<string, readonly object[]>> {
  const context = (record: { tenant: string; service: string; attributes: object }) => ({
    organization: record.tenant,
    service_name: record.service,
    service_version: '1.2.3',
    deployment_environment: 'production',
    attributes: record.attributes,
    resource_attributes: resourceOf(record),
    scope_name: 'shop',
    scope_version: '2',
  });
  return {
    'sightline.sightline_spans': Array.from(spans, (span) => ({
      time: span.time,
      duration_nano: span.durationNano,
      trace_id: span.traceId,
      span_id: span.spanId,
      parent_span_id: span.parentSpanId,
      name: span.name,
      kind: span.kind,
      status_code: span.status,
      status_message: span.message,
      ...context(span),
      events: [{ time: span.time, name: 'exception', attributes: { 'exception.type': 'Timeout' } }],
      links: [{ trace_id: 'ab', span_id: 'cd', trace_state: '', attributes: {} }],
    })),
    'sightline.sightline_logs': Array.from(logs, (log) => ({
      time: log.time,
      severity_number: log.severity,
      severity_text: log.text,
      body: log.body,
      trace_id: log.traceId,
      span_id: log.spanId,
      flags: 1,
      ...context(log),
    })),
    'sightline.sightline_metrics': Array.from(points, (point) => ({
      time: point.time,
      name: point.name,
      type: point.type,
      unit: 's',
      ...(point.type === 'gauge' || point.type === 'sum' ? { value: point.value } : { count: 4, sum: point.value }),
      ...context(point),
    })),
  };
}

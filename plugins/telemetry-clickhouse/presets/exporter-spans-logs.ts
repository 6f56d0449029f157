import type { TableSource } from '../../../src/contract/telemetry/index.ts';
import {
  attribute,
  environment,
  eventsOf,
  integer,
  kindOfText,
  linksOf,
  pick,
  present,
  statusOfText,
  type Columns,
} from './columns.ts';

/** The traces table of the Collector's exporter and of what was made after it. */
export function spansSource(from: string, columns: Columns): TableSource {
  const duration = pick(columns, 'Duration');
  const kind = pick(columns, 'SpanKind');
  const status = pick(columns, 'StatusCode');
  return {
    from,
    columns: present({
      time: pick(columns, 'Timestamp'),
      end_time: duration && `addNanoseconds(Timestamp, ${duration})`,
      duration_nano: duration,
      trace_id: pick(columns, 'TraceId'),
      span_id: pick(columns, 'SpanId'),
      parent_span_id: pick(columns, 'ParentSpanId'),
      trace_state: pick(columns, 'TraceState'),
      name: pick(columns, 'SpanName'),
      kind: kind && kindOfText(kind),
      status_code: status && statusOfText(status),
      status_message: pick(columns, 'StatusMessage'),
      ...service(columns),
      attributes: pick(columns, 'SpanAttributes'),
      events: eventsOf(columns, 'Events'),
      links: linksOf(columns, 'Links'),
    }),
  };
}

export function logsSource(from: string, columns: Columns): TableSource {
  return {
    from,
    columns: present({
      time: pick(columns, 'Timestamp'),
      observed_time: pick(columns, 'ObservedTimestamp'),
      severity_number: integer(columns, 'SeverityNumber'),
      severity_text: pick(columns, 'SeverityText'),
      body: pick(columns, 'Body'),
      event_name: pick(columns, 'EventName'),
      trace_id: pick(columns, 'TraceId'),
      span_id: pick(columns, 'SpanId'),
      flags: integer(columns, 'TraceFlags'),
      ...service(columns),
      attributes: pick(columns, 'LogAttributes'),
    }),
    // Which of the layouts' sort keys the table has cannot be told from its columns: both are reached.
    timeBounds: [
      'toStartOfFiveMinutes(Timestamp) >= toStartOfFiveMinutes({start})',
      'toStartOfFiveMinutes(Timestamp) <= toStartOfFiveMinutes({end})',
      ...(columns.has('TimestampTime')
        ? ['TimestampTime >= toDateTime({start})', 'TimestampTime <= toDateTime({end})']
        : []),
    ],
  };
}

/** What every table of the exporter has about the sender. */
export function service(columns: Columns): Readonly<Record<string, string | undefined>> {
  return {
    service_name: pick(columns, 'ServiceName'),
    service_version: attribute(columns, 'ResourceAttributes', 'service.version'),
    deployment_environment: environment(columns, 'ResourceAttributes'),
    resource_attributes: pick(columns, 'ResourceAttributes'),
    scope_name: pick(columns, 'ScopeName'),
    scope_version: pick(columns, 'ScopeVersion'),
  };
}

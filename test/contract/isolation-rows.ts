import { randomBytes } from 'node:crypto';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { TableName } from '../../src/contract/telemetry/index.ts';
import type { Row } from './telemetry-rows.ts';

/** How every withheld text begins, for statements that guess at it: `… WHERE body LIKE 'withheld-%'`. */
export const withheldPrefix = 'withheld-';

/** A count that nothing else in a result has. */
export const victimRows = 4_127;
export const attackerRows = 3;

/** Of the victim, in every number it has. */
const number = 7_318_052_946;
const float = 731_805.294_6;

/** What one organization holds and another may not see any of. */
export interface Withheld {
  /** 16 hex digits that are in every text, key and id. */
  readonly marker: string;
  rows(table: TableName): readonly Row[];
}

/** Rows of now, so that no window passes them by. */
export function withheld(now: Date): Withheld {
  const marker = randomBytes(8).toString('hex');
  const text = `${withheldPrefix}${marker}`;
  const attributes = { [`key-${marker}`]: text, secret: text };
  const common = {
    trace_id: `${marker}${marker}`,
    span_id: marker,
    parent_span_id: marker,
    trace_state: `k=${text}`,
    name: text,
    service_name: text,
    service_version: text,
    deployment_environment: text,
    attributes,
    resource_attributes: { 'service.name': text, ...attributes },
    scope_name: text,
    scope_version: text,
    scope_attributes: attributes,
    schema_url: text,
    otlp_fields: attributes,
    exemplars: [
      { time: now.toISOString(), value: float, trace_id: marker, span_id: marker, filtered_attributes: attributes },
    ],
    as_int: number,
    status_message: text,
    kind: 'SERVER',
    status_code: 'OK',
    events: [{ time: now.toISOString(), name: text, attributes }],
    links: [{ trace_id: marker, span_id: marker, trace_state: text, attributes }],
    body: text,
    event_name: text,
    severity_text: text,
    severity_number: 9,
    unit: text,
    description: text,
    duration_nano: number,
    type: 'gauge',
    value: float,
  };
  return { marker, rows: () => Array.from({ length: victimRows }, (_, index) => timed(common, now, index)) };
}

/** What the attacker has itself, so that its statements have something to work on. */
export function ownRows(now: Date): readonly Row[] {
  const attributes = { 'http.route': '/own', secret: 'own' };
  const common = {
    trace_id: '0'.repeat(31) + '1',
    span_id: '0'.repeat(15) + '1',
    name: 'own',
    service_name: 'own',
    attributes,
    resource_attributes: { 'service.name': 'own' },
    kind: 'SERVER',
    status_code: 'OK',
    events: [{ time: now.toISOString(), name: 'own', attributes }],
    links: [{ trace_id: 'aa', span_id: 'bb', trace_state: '', attributes }],
    body: 'own',
    severity_text: 'INFO',
    severity_number: 9,
    duration_nano: 1_000_000,
    type: 'gauge',
    value: 1,
  };
  return Array.from({ length: attackerRows }, (_, index) => timed(common, now, index));
}

function timed(row: Row, now: Date, index: number): Row {
  const time = new Date(now.getTime() - 60_000 - index);
  return { ...row, time, start_time: time, observed_time: time, end_time: new Date(time.getTime() + 1) };
}

/** Traces of the victim in what came back, unless the statement brought them itself. */
export function tracesOf(marker: string, victim: OrganizationId, sql: string, text: string): string[] {
  const needles: readonly (readonly [string, RegExp])[] = [
    ['its marker', new RegExp(marker, 'i')],
    ['its id', new RegExp(victim)],
    ['its number', new RegExp(`${number}|${float}`)],
    ['its row count', new RegExp(`(?<![\\d./])(?:${victimRows}|${victimRows + attackerRows})(?![\\d.])`)],
  ];
  return needles.filter(([, needle]) => needle.test(text) && !needle.test(sql)).map(([name]) => name);
}

/** The part of OTLP/JSON (opentelemetry-proto 1.9) that the generator writes. 64-bit integers are decimal strings. */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface KeyValue {
  readonly key: string;
  readonly value:
    | { readonly stringValue: string }
    | { readonly intValue: string }
    | { readonly doubleValue: number }
    | { readonly boolValue: boolean };
}

export const spanKinds = { INTERNAL: 1, SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 } as const;
export type SpanKind = keyof typeof spanKinds;

export const severities = { DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17, FATAL: 21 } as const;
export type Severity = keyof typeof severities;

export interface OtlpEvent {
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes: readonly KeyValue[];
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events?: readonly OtlpEvent[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface OtlpLogRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName?: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: readonly KeyValue[];
  readonly traceId?: string;
  readonly spanId?: string;
  readonly flags?: number;
}

export interface NumberPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
  readonly asDouble?: number;
}

export interface HistogramPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly sum: number;
  readonly min?: number;
  readonly max?: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
  readonly exemplars?: readonly {
    readonly timeUnixNano: string;
    readonly asDouble: number;
    readonly traceId: string;
    readonly spanId: string;
  }[];
}

export type OtlpMetric = { readonly name: string; readonly unit: string; readonly description: string } & (
  | { readonly gauge: { readonly dataPoints: readonly NumberPoint[] } }
  | {
      readonly sum: {
        readonly dataPoints: readonly NumberPoint[];
        readonly aggregationTemporality: 2;
        readonly isMonotonic: boolean;
      };
    }
  | { readonly histogram: { readonly dataPoints: readonly HistogramPoint[]; readonly aggregationTemporality: 1 | 2 } }
);

export interface Resource {
  readonly attributes: readonly KeyValue[];
}

export interface Scope {
  readonly name: string;
  readonly version?: string;
}

/** At a time in epoch microseconds; read a little later. */
export function logRecord(at: number, severity: Severity, body: string, attributes: Attributes): OtlpLogRecord {
  return {
    timeUnixNano: nanos(at),
    observedTimeUnixNano: nanos(at + 900),
    severityNumber: severities[severity],
    severityText: severity,
    body: { stringValue: body },
    attributes: keyValues(attributes),
  };
}

export interface Ended extends Pick<OtlpSpan, 'traceId' | 'spanId' | 'name'> {
  readonly parentSpanId: string | undefined;
  readonly kind: SpanKind;
  /** Epoch microseconds, as `end`. */
  readonly at: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly failure: string | undefined;
}

export function spanOf(
  { traceId, spanId, parentSpanId, name, kind, at, end, attributes, failure }: Ended,
  more: Pick<OtlpSpan, 'events' | 'links'> = {},
): OtlpSpan {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    flags: 1,
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: nanos(at),
    endTimeUnixNano: nanos(end),
    attributes: keyValues(attributes),
    ...more,
    status: failure === undefined ? {} : { code: 2, message: failure },
  };
}

/** What was sent, and its sender. */
export type From<Item> = readonly [{ readonly resource: Resource; readonly scope: Scope }, Item];

/** A body for `/v1/traces` or `/v1/logs`. */
export function bodyOf(signal: 'traces' | 'logs', list: readonly From<OtlpSpan | OtlpLogRecord>[]): string {
  const [outer, inner, items] =
    signal === 'traces'
      ? (['resourceSpans', 'scopeSpans', 'spans'] as const)
      : (['resourceLogs', 'scopeLogs', 'logRecords'] as const);
  const parts = [...Map.groupBy(list, ([sender]) => sender)].map(([{ resource, scope }, own]) => ({
    resource,
    [inner]: [{ scope, [items]: own.map(([, item]) => item) }],
  }));
  return JSON.stringify({ [outer]: parts });
}

/** Attributes without those that are undefined. Whole numbers become integers, as the SDKs do. */
export function keyValues(attributes: Attributes): KeyValue[] {
  const list: KeyValue[] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'string') list.push({ key, value: { stringValue: value } });
    else if (typeof value === 'boolean') list.push({ key, value: { boolValue: value } });
    else if (typeof value === 'number') {
      list.push({ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } });
    }
  }
  return list;
}

/** Epoch microseconds to OTLP's nanoseconds: a float64 is exact for the former and not for the latter. */
export function nanos(microseconds: number): string {
  return `${Math.round(microseconds)}000`;
}

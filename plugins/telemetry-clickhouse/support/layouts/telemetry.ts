/** The same telemetry that every layout is filled with, in the words of the logical schema. */
export interface SampleSpan {
  readonly tenant: string;
  readonly time: string;
  readonly durationNano: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'SERVER' | 'CLIENT';
  readonly status: 'UNSET' | 'ERROR';
  readonly message: string;
  readonly service: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface SampleLog {
  readonly tenant: string;
  readonly time: string;
  readonly severity: number;
  readonly text: string;
  readonly body: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly service: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface SamplePoint {
  readonly tenant: string;
  readonly time: string;
  readonly type: 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';
  readonly name: string;
  readonly value: number;
  readonly service: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export const firstDay = Date.UTC(2026, 2, 1);
export const tenants = ['acme', 'globex'] as const;
const services = ['cart', 'checkout', 'payment', 'shipping'] as const;
const minute = 60_000;
/** Of each tenant, over three days. */
const howMany = 720;

export function resourceOf(record: { readonly tenant: string; readonly service: string }): Record<string, string> {
  return {
    'service.name': record.service,
    'service.version': '1.2.3',
    'deployment.environment.name': 'production',
    'tenant.id': record.tenant,
  };
}

const at = (index: number) => new Date(firstDay + index * 6 * minute).toISOString().replace('T', ' ').replace('Z', '');
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');

function* each(): Generator<{ tenant: string; index: number; service: string; time: string }> {
  for (const tenant of tenants) {
    for (let index = 0; index < howMany; index++) {
      yield { tenant, index, service: services[index % services.length] ?? '', time: at(index) };
    }
  }
}

const traceOf = (tenant: string, index: number) => hex((tenant === 'acme' ? 1 : 2) * 100_000 + index + 1, 32);
const spanOf = (tenant: string, index: number) => hex((tenant === 'acme' ? 1 : 2) * 100_000 + index + 1, 16);

export const spans: readonly SampleSpan[] = [...each()].map(({ tenant, index, service, time }) => ({
  tenant,
  time,
  durationNano: (index + 1) * 1_000_000,
  traceId: traceOf(tenant, index),
  spanId: spanOf(tenant, index),
  parentSpanId: index % 2 === 0 ? '' : spanOf(tenant, index - 1),
  name: `GET /${service}`,
  kind: index % 2 === 0 ? 'SERVER' : 'CLIENT',
  status: index % 10 === 0 ? 'ERROR' : 'UNSET',
  message: index % 10 === 0 ? `failed for ${tenant}` : '',
  service,
  attributes: { 'http.route': `/${service}`, 'user.email': `${index}@${tenant}.example` },
}));

export const logs: readonly SampleLog[] = [...each()].map(({ tenant, index, service, time }) => ({
  tenant,
  time,
  severity: index % 10 === 0 ? 17 : 9,
  text: index % 10 === 0 ? 'ERROR' : 'INFO',
  body: `SECRET-OF-${tenant}-${index}`,
  traceId: traceOf(tenant, index),
  spanId: spanOf(tenant, index),
  service,
  attributes: { 'http.route': `/${service}`, 'user.email': `${index}@${tenant}.example` },
}));

const types = ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const;

export const points: readonly SamplePoint[] = [...each()].map(({ tenant, index, service, time }) => ({
  tenant,
  time,
  type: types[index % types.length] ?? 'gauge',
  name: `shop.${types[index % types.length]}`,
  value: index / 2,
  service,
  attributes: { host: `h${index % 3}` },
}));

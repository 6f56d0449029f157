import type { Row } from '../../plugins/telemetry-duckdb/support/harness.ts';

/**
 * A small shop's traffic for tests of the investigator: frontend → checkout → payment → a database, frontend → catalog,
 * with a little noise, and one fault that is known.
 */
export interface Fault {
  readonly kind: 'payment-errors' | 'catalog-slow' | 'payment-slow-timeouts' | 'database-down' | 'none';
  readonly from: Date;
  readonly to: Date;
}

export interface Traffic {
  readonly spans: readonly Row[];
  readonly logs: readonly Row[];
}

export function makeTraffic(start: Date, end: Date, fault: Fault, perMinute = 12): Traffic {
  const random = seeded(7);
  const spans: Row[] = [];
  const logs: Row[] = [];
  let count = 0;
  for (let time = start.getTime(); time < end.getTime(); time += 60_000 / perMinute) {
    count += 1;
    request(new Date(time), count, fault, random, spans, logs);
  }
  return { spans, logs };
}

function request(at: Date, index: number, fault: Fault, random: () => number, spans: Row[], logs: Row[]): void {
  const active = fault.kind !== 'none' && at >= fault.from && at < fault.to;
  const hit = active && random() < 0.4;
  const traceId = index.toString(16).padStart(32, 'a');
  let next = 0;
  const id = () => (index * 100 + (next += 1)).toString(16).padStart(16, '0');
  const jitter = (ms: number) => ms * (0.7 + 0.6 * random()) + (random() < 0.03 ? ms * 4 : 0);
  const add = (
    service: string,
    name: string,
    kind: string,
    parent: string,
    ms: number,
    error?: string,
    attributes: object = {},
  ): string => {
    const spanId = id();
    spans.push({
      time: at,
      start_time: at,
      end_time: new Date(at.getTime() + ms),
      duration_nano: Math.round(ms * 1e6),
      trace_id: traceId,
      span_id: spanId,
      parent_span_id: parent,
      name,
      kind,
      status_code: error === undefined ? 'UNSET' : 'ERROR',
      status_message: error ?? '',
      service_name: service,
      service_version: service === 'payment' && active && fault.kind === 'payment-errors' ? '2.4.0' : '2.3.9',
      attributes,
    });
    return spanId;
  };
  const log = (service: string, severity: number, body: string) =>
    logs.push({
      time: at,
      observed_time: at,
      severity_number: severity,
      severity_text: '',
      body,
      service_name: service,
      trace_id: traceId,
    });

  // A catalog that fails now and then, before and after alike: a distractor.
  const catalogFails = random() < 0.02;
  const catalogSlow = hit && fault.kind === 'catalog-slow' ? 900 : 0;
  const paymentSlow = hit && fault.kind === 'payment-slow-timeouts' ? 2_500 : 0;
  const paymentFails = hit && fault.kind === 'payment-errors' ? 'card processor refused key `v2`' : undefined;
  const databaseFails = hit && fault.kind === 'database-down' ? 'connection refused' : undefined;
  const timesOut = paymentSlow > 0 ? 'deadline exceeded' : undefined;
  const failed = paymentFails ?? databaseFails ?? timesOut;

  const [catalog, database] = [jitter(12) + catalogSlow, jitter(6)];
  const payment = database + jitter(20) + paymentSlow;
  const call = timesOut ? 1_000 : payment + jitter(2);
  const checkout = call + jitter(15);
  const root = add(
    'frontend',
    'POST /checkout',
    'SERVER',
    '',
    checkout + catalog + jitter(10),
    failed && 'checkout failed',
  );
  const list = add(
    'frontend',
    'GET catalog',
    'CLIENT',
    root,
    catalog + jitter(1),
    catalogFails ? 'not found' : undefined,
  );
  add('catalog', 'GET /products', 'SERVER', list, catalog, catalogFails ? 'no such product' : undefined);
  const order = add('frontend', 'POST checkout', 'CLIENT', root, checkout + jitter(1), failed && 'status 500');
  const handler = add('checkout', 'PlaceOrder', 'SERVER', order, checkout, failed && 'payment failed');
  const pay = add('checkout', 'payment/Charge', 'CLIENT', handler, call, failed && (timesOut ?? 'status 13'));
  const charge = add('payment', 'Charge', 'SERVER', pay, payment, paymentFails ?? databaseFails);
  add('payment', 'INSERT payments', 'CLIENT', charge, database, databaseFails, {
    'db.system': 'postgresql',
    'server.address': 'payments-db.internal',
  });

  log('frontend', 9, `POST /checkout 200 in ${Math.round(checkout)} ms for user ${index}`);
  if (random() < 0.02) log('checkout', 13, `retrying order ${index} after ${Math.round(random() * 100)} ms`);
  if (paymentFails)
    log('payment', 17, `Charge ${index} failed: processor refused key v2 from 10.0.3.${index % 250}:443`);
  if (databaseFails) log('payment', 17, `could not connect to payments-db.internal:5432 (attempt ${index})`);
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

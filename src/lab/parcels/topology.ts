/** A step of an operation: another service called, a message sent, or a store or somebody outside asked. */
export interface Step {
  readonly how: 'call' | 'send' | 'ask';
  /** `service/operation`, the topic, or the address of what is asked. */
  readonly to: string;
  /** Of a question: the name of its span. */
  readonly name?: string;
  /** Of a question: its usual milliseconds. */
  readonly ms?: number;
  /** The part of the requests that take it; all unless told. */
  readonly share?: number;
  /** How often it is done in turn; once unless told. */
  readonly times?: number;
}

interface Operation {
  /** Milliseconds of its own work. */
  readonly ms: number;
  readonly steps: readonly Step[];
}

/** Work that no request asks for: a trace of its own each time. */
export interface Job {
  /** `service/operation`. */
  readonly runs: string;
  /** Minutes from one to the next. */
  readonly every: number;
  /** How many pieces it has, one after another. */
  readonly pieces: number;
}

export const hosts = [
  { name: 'sort-a1', zone: 'north-a' },
  { name: 'sort-b1', zone: 'north-b' },
  { name: 'sort-c1', zone: 'north-c' },
  { name: 'sort-a2', zone: 'north-a' },
  { name: 'sort-b2', zone: 'north-b' },
  { name: 'sort-c2', zone: 'north-c' },
] as const;

const call = (to: string, rest: Partial<Step> = {}): Step => ({ how: 'call', to, ...rest });
const ask = (to: string, name: string, ms: number, rest: Partial<Step> = {}): Step => ({
  how: 'ask',
  to,
  name,
  ms,
  ...rest,
});
const send = (to: string): Step => ({ how: 'send', to });

/** A carrier of parcels: an entry, a queue with two readers, a database that most share, a cache and jobs. */
export const services: Readonly<Record<string, { readonly pods: number; readonly does: Record<string, Operation> }>> = {
  gateway: {
    pods: 3,
    does: {
      'POST /parcels': { ms: 3, steps: [call('identity/Check'), call('booking/Book')] },
      'GET /parcels/{id}': { ms: 2, steps: [call('tracking/Find')] },
      'GET /prices': { ms: 2, steps: [call('rates/Quote')] },
      'GET /depots': { ms: 2, steps: [call('depots/List')] },
    },
  },
  identity: { pods: 2, does: { Check: { ms: 2, steps: [] } } },
  booking: {
    pods: 3,
    does: {
      Book: {
        ms: 6,
        steps: [call('rates/Quote'), ask('pg-main', 'INSERT parcels', 6), call('labels/Print'), send('parcels')],
      },
    },
  },
  tracking: {
    pods: 3,
    does: {
      Find: {
        ms: 3,
        steps: [ask('redis-tracking', 'GET parcel', 1), ask('pg-main', 'SELECT scans', 8, { share: 0.6 })],
      },
      'process scans': { ms: 2, steps: [ask('pg-main', 'INSERT scans', 4)] },
    },
  },
  rates: {
    pods: 2,
    does: {
      Quote: {
        ms: 3,
        steps: [ask('redis-rates', 'GET tariff', 1), ask('pg-main', 'SELECT tariffs', 5, { share: 0.1 })],
      },
    },
  },
  depots: { pods: 2, does: { List: { ms: 3, steps: [ask('pg-main', 'SELECT depots', 4)] } } },
  labels: { pods: 3, does: { Print: { ms: 25, steps: [] } } },
  scanner: { pods: 2, does: { 'POST /scans': { ms: 2, steps: [send('scans')] } } },
  notifier: { pods: 2, does: { 'process parcels': { ms: 4, steps: [ask('sms.example', 'POST', 60)] } } },
  billing: { pods: 2, does: { 'process parcels': { ms: 5, steps: [ask('pg-main', 'INSERT invoices', 5)] } } },
  planner: {
    pods: 1,
    does: {
      'plan routes': { ms: 40, steps: [ask('pg-main', 'SELECT routes', 20, { times: 3 }), call('depots/List')] },
      'replan parcels': { ms: 2, steps: [call('tracking/Find', { times: 25 })] },
    },
  },
  archive: {
    pods: 1,
    does: {
      'archive parcels': { ms: 30, steps: [ask('pg-main', 'SELECT old parcels', 900, { times: 4 })] },
      'copy parcels': { ms: 30, steps: [ask('pg-replica', 'SELECT old parcels', 900, { times: 4 })] },
    },
  },
};

/** Who asks for what, by weight. */
export const entries = {
  'gateway/POST /parcels': 16,
  'gateway/GET /parcels/{id}': 40,
  'gateway/GET /prices': 14,
  'gateway/GET /depots': 6,
  'scanner/POST /scans': 24,
} as const;

/** Who reads what is sent. */
export const readers: Readonly<Record<string, readonly string[]>> = {
  parcels: ['notifier/process parcels', 'billing/process parcels'],
  scans: ['tracking/process scans'],
};

export const jobs: readonly Job[] = [{ runs: 'planner/plan routes', every: 7, pieces: 4 }];

/** What each pod of a service reports each minute: usual value and how much it scatters. */
export const gauges: readonly {
  readonly service: string;
  readonly metric: string;
  readonly value: number;
  readonly scatter: number;
}[] = [
  ...Object.keys(services).flatMap((service) => [
    { service, metric: 'process.cpu.utilization', value: 0.2, scatter: 0.15 },
    { service, metric: 'process.memory.usage', value: 3e8, scatter: 0.03 },
  ]),
  { service: 'rates', metric: 'cache.hit_ratio', value: 0.94, scatter: 0.01 },
  { service: 'tracking', metric: 'cache.hit_ratio', value: 0.9, scatter: 0.01 },
  { service: 'booking', metric: 'pool.connections.free', value: 17, scatter: 0.06 },
  { service: 'tracking', metric: 'pool.connections.free', value: 14, scatter: 0.08 },
  { service: 'depots', metric: 'pool.connections.free', value: 18, scatter: 0.05 },
  { service: 'notifier', metric: 'queue.lag', value: 2, scatter: 0.4 },
  { service: 'billing', metric: 'queue.lag', value: 2, scatter: 0.4 },
];

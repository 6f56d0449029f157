import type { Random } from '../demo/random.ts';
import type { Job } from './topology.ts';

/** One thing that is about to happen, which a fault may change. */
export interface Site {
  readonly how: 'serve' | 'call' | 'ask';
  readonly service: string;
  readonly operation: string;
  /** What is called or asked. */
  readonly to: string;
  readonly host: string;
  readonly zone: string;
}

export interface Trouble {
  /** Takes so many times as long. */
  readonly factor?: number;
  readonly addMs?: number;
  readonly failure?: string;
}

export interface Scenario {
  /** The service, host or zone with the cause; undefined where nothing is wrong. */
  readonly cause?: string;
  /** As a person would ask. */
  readonly question: string;
  /** What is so after the onset, so many minutes later. */
  trouble?(site: Site, random: Random, minutes: number): Trouble | undefined;
  /** What is so all the time. */
  always?(site: Site, random: Random): Trouble | undefined;
  /** Run after the onset, beside the usual ones. */
  readonly jobs?: readonly Job[];
  /** Run all the time. */
  readonly usualJobs?: readonly Job[];
  /** Requests of all or of one entry are multiplied by this. */
  readonly demand?: number;
  readonly entry?: string;
  /** It takes no more messages and calls, and does nothing any more. */
  readonly silent?: string;
  /** Its counters start again at zero. */
  readonly restarted?: string;
  /** So many of its pods are left. */
  readonly scaled?: { readonly service: string; readonly pods: number };
  /** What a service's gauge reads, by its usual value. */
  readonly gauges?: Readonly<Record<string, (usual: number, minutes: number) => number>>;
  /** The rate of a service's counter is multiplied by this. */
  readonly counters?: Readonly<Record<string, number>>;
}

const onMain = ({ how, to, service }: Site): boolean => how === 'ask' && to === 'pg-main' && service !== 'archive';
const late =
  (ms: number) =>
  (random: Random): Trouble => ({ addMs: random.lognormal(ms, 0.4) });

/** Each kind of fault, followed by what looks like it and is none. */
export const scenarios = {
  'new-job': {
    cause: 'archive',
    question: 'Everything became slow. What is the cause?',
    jobs: [{ runs: 'archive/archive parcels', every: 1, pieces: 10 }],
    trouble: (site, random) => (onMain(site) ? { factor: random.between(6, 14) } : undefined),
  },
  'new-job-elsewhere': {
    question: 'There is a new archive job. Does it slow anything down?',
    jobs: [{ runs: 'archive/copy parcels', every: 1, pieces: 10 }],
  },
  'usual-job': {
    question: 'The archive job is running. Is anything wrong?',
    usualJobs: [{ runs: 'archive/archive parcels', every: 1, pieces: 5 }],
    always: (site, random) => (onMain(site) ? { factor: random.between(2, 4) } : undefined),
  },
  'job-ended': {
    question: 'archive does nothing any more. Is anything wrong?',
    usualJobs: [{ runs: 'archive/copy parcels', every: 60, pieces: 400 }],
  },
  'more-work': {
    cause: 'planner',
    question: 'Tracking a parcel takes very long. Why?',
    jobs: [{ runs: 'planner/replan parcels', every: 1, pieces: 8 }],
    trouble: ({ how, service, operation }, random) =>
      how === 'serve' && service === 'tracking' && operation === 'Find' ? late(120)(random) : undefined,
  },
  'more-work-borne': {
    question: 'planner calls tracking far more often. Does anybody suffer?',
    jobs: [{ runs: 'planner/replan parcels', every: 1, pieces: 8 }],
  },
  'silent-reader': {
    cause: 'notifier',
    question: 'Customers get no messages any more. What is wrong?',
    silent: 'notifier',
    gauges: { 'notifier queue.lag': (usual, minutes) => usual + 4 * minutes },
  },
  'silent-callee': {
    cause: 'rates',
    question: 'Prices and bookings fail. What is the cause?',
    silent: 'rates',
    trouble: ({ how, to }) =>
      how === 'call' && to === 'rates/Quote' ? { addMs: 1_000, failure: 'connection refused' } : undefined,
  },
  'scaled-down': {
    question: 'labels runs on one pod instead of three. Is something wrong?',
    scaled: { service: 'labels', pods: 1 },
    demand: 0.4,
  },
  evening: {
    question: 'Hardly a parcel is booked. Is the system broken?',
    entry: 'gateway/POST /parcels',
    demand: 0,
  },
  'cache-collapse': {
    cause: 'rates',
    question: 'Prices take longer. Which service is to blame?',
    gauges: { 'rates cache.hit_ratio': () => 0.2, 'rates process.cpu.utilization': (usual) => usual * 1.6 },
    trouble: ({ how, service, to }, random) =>
      how === 'ask' && service === 'rates' && to === 'redis-rates' && random.chance(0.8) ? late(30)(random) : undefined,
  },
  'cache-warms-up': {
    question: 'The hit ratio of rates fell. Is anything wrong?',
    gauges: { 'rates cache.hit_ratio': (usual, minutes) => (minutes < 2 ? 0.5 : usual) },
  },
  'few-free-connections': {
    cause: 'depots',
    question: 'The list of depots is slow. What is the cause?',
    gauges: { 'depots pool.connections.free': () => 0 },
    trouble: ({ how, to }, random) =>
      how === 'call' && to === 'depots/List' && random.chance(0.5) ? late(400)(random) : undefined,
  },
  'fewer-free-connections': {
    question: 'booking has fewer free connections than before. Is that a problem?',
    gauges: { 'booking pool.connections.free': (usual) => usual * 0.6 },
    demand: 1.8,
  },
  'more-retries': {
    cause: 'notifier',
    question: 'notifier retries far more than usual and messages come late. What is the cause?',
    counters: { 'notifier app.retries': 25 },
    trouble: ({ how, to }, random) => (how === 'ask' && to === 'sms.example' ? late(500)(random) : undefined),
  },
  restart: {
    question: 'labels was restarted. Is anything wrong since then?',
    restarted: 'labels',
  },
  'more-of-everything': {
    question: 'There are twice as many retries and errors as an hour ago. Is anything wrong?',
    demand: 2,
  },
  'bad-host': {
    cause: 'sort-b2',
    question: 'A part of all requests is slow. What have they in common?',
    trouble: ({ how, host }, random) => (how === 'serve' && host === 'sort-b2' ? late(180)(random) : undefined),
  },
  'slower-host': {
    question: 'Requests on one machine are slower than on the others. Is that new?',
    always: ({ how, host }, random) => (how === 'serve' && host === 'sort-b2' ? late(40)(random) : undefined),
  },
  'bad-zone': {
    cause: 'north-c',
    question: 'A part of all requests fails. Which ones, and why?',
    trouble: ({ how, zone }, random) =>
      how === 'serve' && zone === 'north-c' && random.chance(0.25) ? { failure: 'no route to host' } : undefined,
  },
  'zone-blip': {
    question: 'Requests failed in one zone for a moment. Is it over?',
    trouble: ({ how, zone }, random, minutes) =>
      how === 'serve' && zone === 'north-c' && minutes < 0.5 && random.chance(0.25)
        ? { failure: 'no route to host' }
        : undefined,
  },
  pool: {
    cause: 'rates',
    question: 'Prices take long for some. Why?',
    trouble: ({ how, to, service }, random) =>
      how === 'call' && to === 'rates/Quote' && service === 'gateway' && random.chance(0.4)
        ? late(300)(random)
        : undefined,
  },
  'slow-way': {
    question: 'Calls of rates wait a little before they are answered. Is that new?',
    always: ({ how, to }, random) =>
      how === 'call' && to === 'rates/Quote' && random.chance(0.4) ? late(60)(random) : undefined,
  },
} as const satisfies Record<string, Scenario>;

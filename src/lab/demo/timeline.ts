import { SightlineError } from '../../contract/core/index.ts';
import { type Distractions, planDistractions } from './distractions.ts';
import type { OtlpSpan } from './otlp.ts';
import { type ScenarioName, scenarios } from './quiet.ts';
import { Random } from './random.ts';
import type { Scenario } from './scenario.ts';
import { nextPatch, nodes, type Pod, rollOut, type ServiceName, serviceNames, services } from './shop.ts';
import type { Build } from './world.ts';

export interface DemoOptions {
  readonly scenario: ScenarioName;
  /** Any integer from 0 to 2^53 - 1. */
  readonly seed: number;
  /** How much telemetry, 5 to 10,080 minutes, ending at `end`. */
  readonly minutes: number;
  readonly end: Date;
  /** Requests of visitors a minute, on average; a request makes about ten spans. */
  readonly rate?: number;
  /** What hour of the shop's day it is at `end`, 0 to 24; by default that of UTC. */
  readonly hourAtEnd?: number;
}

interface Release {
  readonly from: number;
  readonly pods: readonly [Pod, ...Pod[]];
}

/** The fixed plan: the start of the fault, the pods, and the distractions. */
export interface Timeline {
  readonly scenario: Scenario;
  /** Epoch milliseconds, as all times here. */
  readonly start: number;
  readonly end: number;
  readonly onset: number;
  readonly rate: number;
  readonly releases: ReadonlyMap<ServiceName, readonly [Release, ...Release[]]>;
  readonly distractions: Distractions;
  /** What the shop of this seed is like. */
  readonly build: Build;
}

const minute = 60_000;

/** Throws `invalid_argument` for options out of range. */
export function planTimeline(options: DemoOptions): Timeline {
  const { seed, minutes, rate = defaultRate } = options;
  check('seed', seed, 0, Number.MAX_SAFE_INTEGER);
  check('minutes', minutes, 5, 7 * 24 * 60);
  check('rate', rate, 1, 20_000);
  const end = options.end.getTime();
  if (!Number.isSafeInteger(end)) throw new SightlineError('invalid_argument', 'end is not a valid time.');

  const scenario: Scenario = scenarios[options.scenario];
  const random = new Random(seed, 1);
  const start = end - minutes * minute;
  const faulty = Math.max(3, Math.round(minutes / 3) + (minutes >= 30 ? random.integer(-2, 2) : 0));
  const onset = end - faulty * minute;

  const guilty = [scenario.service, scenario.alert.service, ...(scenario.restarted?.services ?? [])];
  const distractions = planDistractions(random, { start, onset, end }, guilty);
  const { harmlessRelease } = distractions;
  const build = buildOf(random);

  const releases = new Map<ServiceName, readonly [Release, ...Release[]]>();
  for (const service of serviceNames) {
    const pods = (version: string, from: number) => podsOf({ service, version, from, build }, random);
    const { version } = services[service];
    const first: Release = { from: start, pods: pods(version, start) };
    const later: Release[] = [];
    if (service === harmlessRelease.service) {
      const { version: patched, at } = harmlessRelease;
      later.push({ from: at, pods: pods(patched, at) });
    }
    const from = onset - minute;
    if (scenario.restarted?.services.includes(service) === true) {
      later.push({ from, pods: pods(scenario.restarted.patched ? nextPatch(version) : version, from) });
    }
    if (service === scenario.service && scenario.deployment !== undefined) {
      const [pod, ...rest] = pods(scenario.deployment, from);
      later.push({ from, pods: scenario.canary === true ? [pod] : [pod, ...rest] });
    }
    releases.set(service, [first, ...later]);
  }
  return { scenario, start, end, onset, rate, releases, distractions, build };
}

function buildOf(random: Random): Build {
  const pace = new Map(
    serviceNames.map((service) => [service, Math.min(1.8, Math.max(0.6, random.lognormal(1, 0.2)))]),
  );
  return {
    pace,
    nodeOffset: random.integer(0, nodes.length - 1),
    pricedPages: random.chance(0.5),
    stockedCarts: random.chance(0.5),
  };
}

/** Makes about 23,000 spans in an hour. */
export const defaultRate = 25;

/** The pods that serve at this time; during a release old and new ones. */
export function podsAt(timeline: Timeline, service: ServiceName, at: number): readonly [Pod, ...Pod[]] {
  const [first, ...later] = timeline.releases.get(service) ?? missing(service);
  const latest = later.findLast((release) => at >= release.from);
  if (latest === undefined) return first.pods;
  const alive = first.pods.map((old, index) => {
    const replacement = latest.pods[index];
    return replacement !== undefined && at >= replacement.startedAt ? replacement : old;
  });
  return [alive[0] ?? first.pods[0], ...alive.slice(1)];
}

function podsOf(
  { service, version, from, build }: { service: ServiceName; version: string; from: number; build: Build },
  random: Random,
): readonly [Pod, ...Pod[]] {
  const [first, ...rest] = rollOut(service, version, { from, nodeOffset: build.nodeOffset }, random);
  return first === undefined ? missing(service) : [first, ...rest];
}

function missing(service: ServiceName): never {
  throw new TypeError(`${service} has no pods`);
}

function check(name: string, value: number, low: number, high: number): void {
  if (Number.isSafeInteger(value) && value >= low && value <= high) return;
  throw new SightlineError('invalid_argument', `${name} must be a whole number from ${low} to ${high}.`);
}

export interface Figures {
  readonly requests: number;
  readonly errors: number;
  /** Milliseconds; 0 without requests. */
  readonly p95: number;
}

/** What the alerted service did, as anybody could have read it off a dashboard. */
export interface DemoFigures {
  readonly before: Figures;
  readonly after: Figures;
}

/** Follows the service that the scenario's alert names. */
export class Tally {
  readonly #timeline: Timeline;
  readonly #sides = { before: { errors: 0, ms: new Array<number>() }, after: { errors: 0, ms: new Array<number>() } };

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  add(pod: Pod, span: OtlpSpan): void {
    const { service, operation = span.name } = this.#timeline.scenario.alert;
    if (pod.service !== service || span.name !== operation) return;
    const [start, end] = [Number(span.startTimeUnixNano) / 1e6, Number(span.endTimeUnixNano) / 1e6];
    const side = this.#sides[start < this.#timeline.onset ? 'before' : 'after'];
    side.ms.push(end - start);
    if (span.status.code === 2) side.errors += 1;
  }

  figures(): DemoFigures {
    const sum = ({ errors, ms }: { errors: number; ms: number[] }): Figures => {
      const sorted = ms.toSorted((a, b) => a - b);
      return { requests: ms.length, errors, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0 };
    };
    return { before: sum(this.#sides.before), after: sum(this.#sides.after) };
  }
}

import { SightlineError } from '../contract/index.ts';
import { Random } from './random.ts';
import type { Scenario } from './scenario.ts';
import { scenarios, type ScenarioName } from './scenarios.ts';
import { rollOut, serviceNames, services, type Pod, type ServiceName } from './shop.ts';

export interface DemoOptions {
  readonly scenario: ScenarioName;
  /** Any integer from 0 to 2^53 - 1. */
  readonly seed: number;
  /** How much telemetry, 5 to 10,080 minutes, ending at `end`. */
  readonly minutes: number;
  readonly end: Date;
  /** Requests of visitors a minute, on average; a request makes about ten spans. */
  readonly rate?: number;
}

interface Release {
  readonly from: number;
  readonly pods: readonly [Pod, ...Pod[]];
}

/** Everything decided beforehand: when the fault begins, which pods there are, and what else goes on beside it. */
export interface Timeline {
  readonly scenario: Scenario;
  /** Epoch milliseconds, as all times here. */
  readonly start: number;
  readonly end: number;
  readonly onset: number;
  readonly rate: number;
  readonly releases: ReadonlyMap<ServiceName, readonly [Release, ...Release[]]>;
  /** Errors of two minutes that are over before the fault begins, in a service that has nothing to do with it. */
  readonly blip: { readonly service: ServiceName; readonly from: number; readonly to: number };
  /** A release near the onset that changes nothing. */
  readonly harmlessRelease: { readonly service: ServiceName; readonly version: string; readonly at: number };
  /** A service that warns all the time. */
  readonly noisy: ServiceName;
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
  const beforeOnset = onset - start;

  const innocent = <Name extends ServiceName>(names: readonly [Name, ...Name[]]): Name => {
    const [first = names[0], ...rest] = names.filter(
      (name) => name !== scenario.service && name !== scenario.alert.service,
    );
    return random.pick([first, ...rest]);
  };
  const blipService = innocent(['ad', 'currency', 'recommendation', 'email']);
  const blipFrom = start + Math.floor(beforeOnset * random.between(0.35, 0.65));
  const harmless =
    options.scenario === 'harmless-deploy' ? 'cart' : innocent(['cart', 'recommendation', 'currency', 'shipping']);
  const harmlessAt = Math.max(start + minute, onset - random.integer(1, 4) * minute);
  const harmlessRelease = { service: harmless, version: nextPatch(services[harmless].version), at: harmlessAt };

  const releases = new Map<ServiceName, readonly [Release, ...Release[]]>();
  for (const service of serviceNames) {
    const first: Release = { from: start, pods: podsOf(service, services[service].version, start, random) };
    const later: Release[] = [];
    if (service === harmless) {
      later.push({ from: harmlessAt, pods: podsOf(service, harmlessRelease.version, harmlessAt, random) });
    }
    if (service === scenario.service && scenario.deployment !== undefined) {
      const from = onset - minute;
      later.push({ from, pods: podsOf(service, scenario.deployment, from, random) });
    }
    releases.set(service, [first, ...later]);
  }
  return {
    scenario,
    start,
    end,
    onset,
    rate,
    releases,
    blip: { service: blipService, from: blipFrom, to: Math.min(blipFrom + 2 * minute, onset - minute) },
    harmlessRelease,
    noisy: innocent(['cart', 'currency', 'ad', 'inventory']),
  };
}

/** Makes about 23,000 spans in an hour. */
export const defaultRate = 30;

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

function podsOf(service: ServiceName, version: string, from: number, random: Random): readonly [Pod, ...Pod[]] {
  const [first, ...rest] = rollOut(service, version, from, random);
  return first === undefined ? missing(service) : [first, ...rest];
}

function missing(service: ServiceName): never {
  throw new TypeError(`${service} has no pods`);
}

function nextPatch(version: string): string {
  const [major, minor, patch] = version.split('.');
  return `${major}.${minor}.${Number(patch) + 1}`;
}

function check(name: string, value: number, low: number, high: number): void {
  if (Number.isSafeInteger(value) && value >= low && value <= high) return;
  throw new SightlineError('invalid_argument', `${name} must be a whole number from ${low} to ${high}.`);
}

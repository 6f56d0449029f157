import type { Random } from './random.ts';
import type { Chatter, Reading } from './scenario.ts';
import { nextPatch, services, type ServiceName } from './shop.ts';

/** Epoch milliseconds, `to` exclusive. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Harmless activity beside the fault, each in a service that has no part in it. */
export interface Distractions {
  /** Errors of two minutes that are over before the fault begins. */
  readonly blip: Stretch & { readonly service: ServiceName };
  /** A release near the onset that rewords its log lines and changes nothing else. */
  readonly harmlessRelease: { readonly service: ServiceName; readonly version: string; readonly at: number };
  readonly noisy: ServiceName;
  /** A part of its answers are errors, all the time. */
  readonly steadyErrors: { readonly service: ServiceName; readonly share: number };
  readonly peak: Stretch & { readonly factor: number };
  readonly batch: Stretch & { readonly service: ServiceName; readonly cpu: number };
  /** Its memory goes up and down all the time. */
  readonly wander: { readonly service: ServiceName; readonly minutes: number; readonly phase: number };
  readonly flood: Stretch & Chatter;
}

const minute = 60_000;

export function planDistractions(
  random: Random,
  { start, onset, end }: Readonly<Record<'start' | 'onset' | 'end', number>>,
  guilty: readonly (ServiceName | undefined)[],
): Distractions {
  const innocent = <Name extends ServiceName>(names: readonly [Name, ...Name[]]): Name => {
    const [first = names[0], ...rest] = names.filter((name) => !guilty.includes(name));
    return random.pick([first, ...rest]);
  };
  const blipFrom = start + Math.floor((onset - start) * random.between(0.35, 0.65));
  const released = innocent(['cart', 'recommendation', 'currency', 'shipping']);
  const near = (low: number, high: number): number =>
    Math.min(end, Math.max(start, Math.floor(onset + random.between(low, high) * minute)));
  const peakFrom = near(-8, 6);
  const batchFrom = near(-6, 4);
  const floodFrom = near(-4, 4);
  return {
    blip: {
      service: innocent(['ad', 'currency', 'recommendation', 'email']),
      from: blipFrom,
      to: Math.min(blipFrom + 2 * minute, onset - minute),
    },
    harmlessRelease: {
      service: released,
      version: nextPatch(services[released].version),
      at: Math.max(start + minute, onset - random.integer(0, 4) * minute),
    },
    noisy: innocent(['cart', 'currency', 'ad', 'inventory']),
    steadyErrors: { service: innocent(['ad', 'currency', 'recommendation']), share: random.between(0.02, 0.05) },
    peak: { from: peakFrom, to: peakFrom + random.integer(6, 14) * minute, factor: random.between(1.25, 1.7) },
    batch: {
      service: innocent(['inventory', 'ad', 'accounting', 'email']),
      from: batchFrom,
      to: batchFrom + random.integer(6, 15) * minute,
      cpu: random.between(0.2, 0.9),
    },
    wander: {
      service: innocent(['recommendation', 'ad', 'inventory', 'cart']),
      minutes: random.integer(9, 40),
      phase: random.between(0, 2 * Math.PI),
    },
    flood: {
      service: innocent(['cart', 'ad', 'shipping', 'product-catalog']),
      severity: random.pick(['INFO', 'WARN']),
      body: random.pick([
        'slow consumer of the metrics endpoint, buffer was dropped',
        'evicted an entry of the local cache: key',
        'connection of a peer was closed by keepalive, attempt',
      ]),
      perMinute: random.integer(30, 90),
      from: floodFrom,
      to: end,
    },
  };
}

export function during({ from, to }: Stretch, at: number): boolean {
  return at >= from && at < to;
}

/** What a gauge reads when all that goes on beside the fault is counted in. */
export function distracted({ batch, wander }: Distractions, { metric, value, pod }: Reading, at: number): number {
  if (pod?.service === batch.service && during(batch, at)) {
    if (metric === 'container.cpu.usage') return value + batch.cpu;
    if (metric === 'db.client.connection.count') return value + 2;
  }
  if (pod?.service === wander.service && metric === 'container.memory.usage') {
    const turn = (2 * Math.PI * at) / minute;
    return value * (1.25 + 0.25 * Math.sin(turn / wander.minutes + wander.phase) + 0.1 * Math.sin(turn / 3.7));
  }
  return value;
}

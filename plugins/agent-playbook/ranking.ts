import { reaches, type Calling } from './sql.ts';
import {
  clearlyChanged,
  describe as describeBehaviour,
  distinct,
  gain,
  type Behaviour,
  type Behaviours,
} from './steps/behaviour.ts';
import { describe as describeResource, farFromUsual, type ResourceChange, type Resources } from './steps/resources.ts';
import { suspectOf, type AddedTime, type Suspect } from './suspects.ts';
import { thresholds } from './statistics.ts';

/** Services that run out of something, as a gauge far from the usual says while no other's is, worst first. */
export function starving(resources: Resources | undefined): readonly Suspect[] {
  return far(resources, ({ exhaustible, z }) => exhaustible && z >= farFromUsual);
}

/** The same by any other gauge, which says less. */
export function unsettled(resources: Resources | undefined): readonly Suspect[] {
  return far(resources, ({ exhaustible, z }) => !exhaustible && z >= thresholds.exhausted);
}

function far(resources: Resources | undefined, counts: (change: ResourceChange) => boolean): readonly Suspect[] {
  if (resources === undefined) return [];
  const { evidenceId, changes } = resources;
  return changes
    .filter((change) => change.alone && counts(change))
    .map((change) =>
      suspectOf(change.service, [evidenceId], {
        category: 'resource',
        excess: change.z,
        detail: describeResource(change),
        signal: { kind: 'gauge', resource: change },
      }),
    );
}

/** The most changed behaviour of each service, most changed first. */
export function changedServices({ changes }: Behaviours, least: number): readonly Behaviour[] {
  const seen = new Set<string>();
  return distinct(changes).filter(({ service, g }) => g >= least && !seen.has(service) && seen.add(service));
}

/**
 * Who behaves differently, the cause first: what calls a changed service changes with it, so blame goes to the deepest
 * changed one. Those above it follow.
 */
export function misbehaving(
  behaviours: Behaviours,
  calls: readonly Calling[],
  least = clearlyChanged,
): readonly Suspect[] {
  const changed = changedServices(behaviours, least);
  const moved = (change: Behaviour): boolean =>
    changed.some(
      (other) =>
        other.g >= thresholds.changedAlike * change.g &&
        // What happens to few of an operation's spans explains no change of all.
        Math.abs(gain(other)) >= Math.abs(gain(change)) / 2 &&
        other.g >= clearlyChanged &&
        other.service !== change.service &&
        reaches(calls, change.service, other.service),
    );
  const deepest = changed.filter((change) => !moved(change));
  return [...deepest, ...changed.filter(moved)].map((change) =>
    suspectOf(change.service, [change.evidenceId], {
      category: 'behaviour',
      operation: change.operation,
      excess: change.g,
      detail: describeBehaviour(change),
      seenIn: { service: change.service, operation: change.operation },
      signal: { kind: 'behaviour', behaviour: change },
    }),
  );
}

/** What was found by each kind of evidence, each with its likeliest first. */
export interface Found {
  /** A host or zone, a burden or a silent service that explains what is failing or slow: before these. */
  readonly explaining: readonly Suspect[];
  readonly failing: Suspect | undefined;
  readonly slow: Suspect | undefined;
  readonly starving: readonly Suspect[];
  readonly misbehaving: readonly Suspect[];
  readonly unsettled: readonly Suspect[];
  readonly time: readonly AddedTime[];
  /** A person says that something is wrong. */
  readonly said: boolean;
}

export const nothingFound = { explaining: [], starving: [], misbehaving: [], unsettled: [], time: [] } as const;

/**
 * Gates and no sums: one kind of evidence speaks first, and the next only where it is silent. What explains failures and
 * slowness from outside goes first; a resource that is used up in
 * a service that also became slow or fails explains both; then failures and slowness; then a used-up resource alone; then
 * changed behaviour, which nobody may have noticed; then any other gauge.
 */
export function rank({ failing, slow, time, said, ...found }: Found): readonly Suspect[] {
  const visible = [failing, slow].filter((suspect) => suspect !== undefined);
  const slowed = new Set(time.filter(({ worse }) => worse).map(({ service }) => service));
  const explained = found.starving.filter(
    ({ service, excess }) =>
      excess >= thresholds.exhausted && (slowed.has(service) || visible.some((suspect) => suspect.service === service)),
  );
  // A busy job is no fault: a used-up resource alone counts only if a person reported a problem.
  const exhaustedAlone = said ? found.starving.filter(({ excess }) => excess >= thresholds.exhausted) : [];
  const first = failing && slow && slow.excess > 10 * failing.excess;
  const fuller = explained.map((suspect) => visible.find(({ service }) => service === suspect.service) ?? suspect);
  const ordered = [
    ...found.explaining,
    ...fuller,
    ...(first ? [slow, failing] : visible),
    ...exhaustedAlone,
    ...found.misbehaving,
    ...(said ? found.unsettled : []),
  ];
  return ordered.filter(({ service }, index) => ordered.findIndex((other) => other.service === service) === index);
}

/**
 * All services that any evidence knows, the most unusual first, by their places in each kind of evidence and not by its
 * figures, which do not compare (reciprocal rank fusion).
 */
export function unusual(kinds: readonly (readonly string[])[]): readonly string[] {
  const scores = new Map<string, number>();
  for (const services of kinds) {
    for (const [place, service] of [...new Set(services)].entries()) {
      scores.set(service, (scores.get(service) ?? 0) + 1 / (place + firstPlaces));
    }
  }
  return [...scores].toSorted(([, a], [, b]) => b - a).map(([service]) => service);
}

/** Among so many first places the order counts little, and it counts more in how many kinds of evidence a service is. */
const firstPlaces = 3;

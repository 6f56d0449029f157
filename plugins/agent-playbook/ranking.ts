import { reaches } from './calling.ts';
import type { Calling } from './calling.ts';
import { clearlyChanged, describe as describeBehaviour, distinct } from './steps/behaviour.ts';
import type { Behaviour, Behaviours } from './steps/behaviour.ts';
import { describe as describeResource, farFromUsual } from './steps/resources.ts';
import type { Resources } from './steps/resources.ts';
import type { AddedTime, Suspect } from './suspects.ts';

/** How far a gauge must be from the usual to be a cause on its own. */
export const exhausted = 30;

/** Services whose gauge is far from the usual while no other's is, worst first. */
export function starving(resources: Resources | undefined, least = farFromUsual): readonly Suspect[] {
  if (resources === undefined) return [];
  const { evidenceId } = resources;
  return resources.changes
    .filter(({ z, alone }) => alone && z >= least)
    .map((change) =>
      bare(change.service, evidenceId, {
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

/** Of what it would take to be named by itself, so much of a caller's change moves the blame to the service that it calls. */
const alike = 0.3;

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
        other.g >= alike * change.g &&
        difference(other) >= difference(change) / 2 &&
        other.g >= clearlyChanged &&
        other.service !== change.service &&
        reaches(calls, change.service, other.service),
    );
  const deepest = changed.filter((change) => !moved(change));
  return [...deepest, ...changed.filter(moved)].map((change) =>
    bare(change.service, behaviours.evidenceId, {
      category: 'behaviour',
      operation: change.operation,
      excess: change.g,
      detail: describeBehaviour(change),
      seenIn: { service: change.service, operation: change.operation },
      signal: { kind: 'line', behaviour: change },
    }),
  );
}

/** Of the spans of its operation, how many more or fewer: what happens to few of them explains no change of all. */
function difference({ hits, spans, hitsBefore, spansBefore }: Behaviour): number {
  return Math.abs(hits / spans - hitsBefore / spansBefore);
}

function bare(
  service: string,
  evidenceId: string,
  known: Pick<Suspect, 'category' | 'excess'> & Partial<Suspect>,
): Suspect {
  return {
    service,
    operation: '',
    dependency: '',
    share: 1,
    message: '',
    evidenceIds: [evidenceId],
    seenIn: { service, operation: undefined },
    ...known,
  };
}

/** What was found by each kind of evidence, each with its likeliest first. */
export interface Found {
  readonly failing: Suspect | undefined;
  readonly slow: Suspect | undefined;
  readonly starving: readonly Suspect[];
  readonly misbehaving: readonly Suspect[];
  readonly time: readonly AddedTime[];
}

/**
 * Gates and no sums: one kind of evidence speaks first, and the next only where it is silent. A resource that is used up in
 * a service that also became slow or fails explains both; then failures and slowness; then a used-up resource alone; then
 * changed behaviour, which nobody may have noticed.
 */
export function rank({ failing, slow, starving: starved, misbehaving: changed, time }: Found): readonly Suspect[] {
  const visible = [failing, slow].filter((suspect) => suspect !== undefined);
  const slowed = new Set(time.filter(({ worse }) => worse).map(({ service }) => service));
  const explained = starved.filter(
    ({ service, excess }) =>
      excess >= exhausted && (slowed.has(service) || visible.some((suspect) => suspect.service === service)),
  );
  const exhaustedAlone = starved.filter(({ excess }) => excess >= exhausted);
  const first = failing && slow && slow.service !== failing.service && slow.excess > 10 * failing.excess;
  const fuller = explained.map((suspect) => visible.find(({ service }) => service === suspect.service) ?? suspect);
  const ordered = [...fuller, ...(first ? [slow, failing] : visible), ...exhaustedAlone, ...changed];
  return ordered.filter(({ service }, index) => ordered.findIndex((other) => other.service === service) === index);
}

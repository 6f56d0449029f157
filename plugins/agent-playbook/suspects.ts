import { code, reaches, type Calling } from './sql.ts';
import type { Callees } from './steps/callees.ts';
import type { CountedPlace } from './steps/counted-placement.ts';
import type { CallGap, CallGaps } from './steps/call-gaps.ts';
import { describe as describeLoad, type Load } from './steps/load.ts';
import { describe as describePlace, ofBad, type Placement } from './steps/placement.ts';
import { describe as describeSilent, type Silent } from './steps/silence.ts';
import type { ErrorOrigin, ErrorOrigins } from './steps/error-origins.ts';
import type { LatencyShift } from './steps/latency-shift.ts';
import type { Signal } from './steps/signal-onset.ts';
import type { SelfTime, SelfTimeChange } from './steps/self-time.ts';
import { thresholds } from './statistics.ts';

/** A service that the evidence points at. */
export interface Suspect {
  readonly category: 'errors' | 'latency' | 'resource' | 'behaviour' | 'silence' | 'load' | 'place';
  /** Of a place: the host or the zone. */
  readonly service: string;
  readonly operation: string;
  /** Something outside that sends no telemetry: a database, another company's API. */
  readonly dependency: string;
  /** Of all failures, added time or changes, what this service accounts for. */
  readonly share: number;
  /** Failures or slow spans beyond the usual. */
  readonly excess: number;
  /** What the failing service says, a stranger's words. */
  readonly message: string;
  /** SQL of what a failed span says; its status message unless told. */
  readonly failureText?: string;
  readonly evidenceIds: readonly string[];
  /** Where the spans that show it are, which is not where the cause is when a caller notices first. */
  readonly seenIn: { readonly service: string; readonly operation: string | undefined };
  /**
   * Blame was moved from there: a caller that gave up waiting for a slow service or has calls that are late on the way, or what
   * is called far more often in each request.
   */
  readonly moved?: { readonly from: string; readonly because: 'slow' | 'way' | 'often' };
  /** Of a resource or a behaviour: one sentence without its full stop. */
  readonly detail?: string;
  /** What shows it, where that can be followed through time. */
  readonly signal?: Signal;
  /** When it began, where that is known already. */
  readonly began?: Date;
}

/** One of which nothing else is known. */
export function suspectOf(
  service: string,
  evidenceIds: readonly string[],
  known: Pick<Suspect, 'category' | 'excess'> & Partial<Suspect>,
): Suspect {
  const seenIn = { service, operation: undefined };
  return { service, operation: '', dependency: '', share: 1, message: '', evidenceIds, seenIn, ...known };
}

/** The service in which most of the added failures begin; among services with a significant rise, if any. */
export function mostFailing({ origins }: ErrorOrigins): ErrorOrigin | undefined {
  const risen = origins.filter((origin) => origin.risen);
  const counted = risen.length > 0 ? risen : origins;
  const byService = new Map<string, number>();
  for (const { service, excess } of counted) byService.set(service, (byService.get(service) ?? 0) + excess);
  const [worst] = [...byService].toSorted(([, a], [, b]) => b - a);
  return worst && counted.find(({ service }) => service === worst[0]);
}

/**
 * Failures that begin in an outgoing call begin in what is called, if that shows a change of its own: a caller that gives
 * up waiting fails although the slow service does not.
 */
export function blameForErrors(
  origin: ErrorOrigin,
  origins: ErrorOrigins,
  called: Callees | undefined,
  latency: LatencyShift | undefined,
): Suspect {
  const same = origins.origins.filter(({ service }) => service === origin.service);
  const excess = same.reduce((sum, part) => sum + part.excess, 0);
  const [callee] = called?.callees ?? [];
  const slow = latency?.changes.find(({ service, worse }) => worse && service === callee?.service);
  const found: Omit<Suspect, 'service' | 'operation' | 'seenIn'> = {
    category: 'errors',
    share: origins.excess === 0 ? 0 : excess / origins.excess,
    excess,
    message: origin.message,
    failureText: origins.failureText,
    dependency: callee?.service === '' ? callee.dependency : '',
    evidenceIds: [origins.evidenceId, ...(called ? [called.evidenceId] : [])],
  };
  if (slow && latency) {
    return {
      ...found,
      category: 'latency',
      service: slow.service,
      operation: slow.operation,
      evidenceIds: [...found.evidenceIds, latency.evidenceId],
      seenIn: { service: slow.service, operation: slow.operation },
      moved: { from: origin.service, because: 'slow' },
    };
  }
  const { service, operation } = origin;
  return { ...found, service, operation, seenIn: { service, operation } };
}

/** A service and the time that was added to its own work and to the way to it. */
export interface AddedTime {
  readonly service: string;
  /** Nanoseconds. */
  readonly added: number;
  /** Of all that was added anywhere. */
  readonly share: number;
  /** Part of the time that the requests take in which it has a part. */
  readonly felt: number;
  /** Part of it stands out by size and by chance. */
  readonly worse: boolean;
  /** Where most of its own time is added; undefined where it only comes later. */
  readonly own: SelfTimeChange | undefined;
  /** The caller whose calls lose most on the way, where that is more than is added to the work itself. */
  readonly late: CallGap | undefined;
}

/**
 * Who adds the time, most first. Time that a call takes beyond its answer passes between the two: all of it is held against
 * the called one and half of it against the caller, so that a service whose calls are late both ways leads those it calls.
 */
export function whoAddsTime(time: SelfTime, gaps: CallGaps | undefined): readonly AddedTime[] {
  const byService = new Map<
    string,
    { added: number; worse: boolean; own?: SelfTimeChange; way: number; latest?: CallGap }
  >();
  const of = (service: string) => {
    const known = byService.get(service) ?? { added: 0, worse: false, way: 0 };
    byService.set(service, known);
    return known;
  };
  for (const change of time.changes) {
    const sum = of(change.service);
    sum.added += change.added;
    sum.worse ||= change.worse;
    sum.own ??= change;
  }
  for (const gap of gaps?.gaps ?? []) {
    const { caller, callee, added, worse } = gap;
    const called = of(callee);
    called.latest ??= gap;
    called.way += added;
    called.added += added;
    called.worse ||= worse;
    of(caller).added += added / 2;
  }
  const all = [...byService.values()].reduce((sum, { added }) => sum + added, 0);
  return [...byService]
    .map(([service, { added, worse, own, way, latest }]) => ({
      service,
      added,
      share: all === 0 ? 0 : added / all,
      felt: added / (time.waitedFor.get(service) || time.waited),
      worse,
      own,
      late: way > (own?.added ?? 0) ? latest : undefined,
    }))
    .toSorted((a, b) => b.added - a.added);
}

/** The service that adds most, or what lies beneath it and adds alike. */
export function deepestAdding(adding: readonly AddedTime[], calls: readonly Calling[]): AddedTime | undefined {
  const worse = adding.filter((one) => one.worse && one.felt >= thresholds.noticed);
  return worse.find(
    ({ service, added }) =>
      !worse.some(
        (other) =>
          other.service !== service &&
          other.added >= thresholds.addedAlike * added &&
          reaches(calls, service, other.service),
      ),
  );
}

/** Also names the dependency that a service waits for, if that sends no spans. */
export function blameForLatency(
  { service, share, own, late }: AddedTime,
  latency: LatencyShift | undefined,
  evidenceIds: readonly string[],
  called: Callees | undefined,
): Suspect {
  const slow = latency?.changes.filter((shift) => shift.worse && shift.service === service) ?? [];
  const [callee] = called?.callees ?? [];
  const found = {
    category: 'latency',
    service,
    share,
    excess: slow.reduce((sum, { count, slowShare }) => sum + count * (slowShare - 0.05), 0),
    message: '',
    evidenceIds: [...evidenceIds, ...(called ? [called.evidenceId] : [])],
  } as const;
  if (late) {
    return {
      ...found,
      operation: '',
      dependency: '',
      seenIn: { service, operation: undefined },
      moved: { from: late.caller, because: 'way' },
      signal: { kind: 'gap', gap: late },
    };
  }
  const operation = own?.operation ?? '';
  const dependency = callee?.service === '' ? callee.dependency : '';
  return { ...found, operation, dependency, seenIn: { service, operation } };
}

/** A caller that asks so much more of what is slow that it makes others wait: blame moves from the slow one to it. */
export function blameForLoad(slow: Suspect, load: Load): Suspect {
  return {
    ...slow,
    category: 'load',
    service: load.service,
    operation: '',
    dependency: '',
    share: load.share,
    detail: `${describeLoad(load)}, and ${code(slow.service, 60)} became slow`,
    ...(load.each && { moved: { from: load.on, because: 'often' } }),
    evidenceIds: [load.evidenceId, ...slow.evidenceIds],
  };
}

/** What fell silent and is still called is the cause of what its callers show, if they show anything. */
export function blameForSilence(silent: Silent, failing: Suspect | undefined): Suspect {
  const { service, since, caller, evidenceIds } = silent;
  return suspectOf(service, evidenceIds, {
    category: 'silence',
    excess: failing?.excess ?? 0,
    detail: describeSilent(silent),
    seenIn: failing?.seenIn ?? { service: caller?.service ?? service, operation: undefined },
    began: since,
  });
}

/** Several services that are worse in one place alone: the place is what they share. */
export function blameForPlace({ place, evidenceId }: Placement, visible: Suspect | undefined): Suspect | undefined {
  if (place === undefined || visible === undefined) return undefined;
  return {
    ...visible,
    category: 'place',
    service: place.value,
    operation: '',
    dependency: '',
    share: ofBad(place),
    excess: place.there.hits,
    message: '',
    detail: describePlace(place),
    evidenceIds: [evidenceId],
  };
}

/** The same where only what they count or log tells of it. */
export function blameForCountedPlace({ value, detail, evidenceId }: CountedPlace): Suspect {
  return suspectOf(value, [evidenceId], { category: 'place', excess: 0, detail });
}

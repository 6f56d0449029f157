import { reaches, type Calling } from './sql.ts';
import { burdening } from './steps/load.ts';
import { describe, type Counted, type RequestCounts, type Source } from './steps/request-counts.ts';
import { deepestAdding, blameForLoad, suspectOf, type AddedTime, type Suspect } from './suspects.ts';

/** What counters and histograms say of the causes. */
interface ByCounts {
  readonly explaining: readonly Suspect[];
  readonly failing: Suspect | undefined;
  readonly slow: Suspect | undefined;
  readonly calls: readonly Calling[];
}

/** Failures and added time by what services count themselves: what a caller's calls add is not its own. */
export function suspectsByCounts({ counted, evidenceId }: RequestCounts, source: Source): ByCounts {
  const served = counted.filter(({ peer }) => peer === '');
  const services = [...new Set(counted.map(({ service }) => service))];
  const sent = counted
    .filter(({ peer }) => peer !== '')
    .map((one): Sent => Object.assign({ callee: services.find((name) => isOf(one.peer, name)) }, one));
  const calls = sent.flatMap(({ service: caller, callee }) => (callee === undefined ? [] : [{ caller, callee }]));
  const found = { evidenceId, source, served, sent, calls };
  const slow = slowest(found, services);
  const burden =
    slow &&
    burdening(
      sent
        .filter((one) => (one.callee ?? one.peer) === (slow.dependency || slow.service))
        .map((one) => ({
          service: one.service,
          busy: one.seconds,
          busyBefore: one.secondsBefore,
          calls: one.now.total,
          callsBefore: one.before.total,
        })),
    );
  const on = slow && (slow.dependency || slow.service);
  return {
    explaining:
      slow && burden && on && burden.service !== slow.service
        ? [blameForLoad(slow, { ...burden, on, evidenceId })]
        : [],
    failing: mostFailing(found, services),
    slow,
    calls,
  };
}

interface Sent extends Counted {
  /** The called service, where it counts anything itself. */
  readonly callee: string | undefined;
}

interface Read {
  readonly evidenceId: string;
  readonly source: Source;
  readonly served: readonly Counted[];
  readonly sent: readonly Sent[];
  readonly calls: readonly Calling[];
}

/** `rates`, `rates:8080` and `rates.prod.svc.cluster.local` are of `rates`. */
function isOf(peer: string, service: string): boolean {
  return peer === service || peer.startsWith(`${service}.`) || peer.startsWith(`${service}:`);
}

function added({ now, mean, meanBefore }: Counted): number {
  return meanBefore === 0 ? 0 : (mean - meanBefore) * now.total;
}

function total(of: readonly Counted[], value: (one: Counted) => number): number {
  return of.reduce((sum, one) => sum + value(one), 0);
}

function slowest({ evidenceId, source, served, sent, calls }: Read, services: readonly string[]): Suspect | undefined {
  const adding = services.map(
    (service): AddedTime & { readonly shown: Counted | undefined; readonly dependency: string } => {
      const own = served.filter((one) => one.service === service);
      const outside = sent.filter((one) => one.service === service);
      const toServices = outside.filter(({ callee }) => callee !== undefined);
      const toOthers = outside.filter(({ callee }) => callee === undefined);
      const toIt = sent.filter(({ callee }) => callee === service);
      const work = Math.max(0, total(own, added) - total(toServices, added));
      const way = Math.max(0, total(toIt, added) - Math.max(0, total(own, added)));
      const callers = services.filter(
        (name) => reaches(calls, name, service) && !services.some((other) => reaches(calls, other, name)),
      );
      const waited = total(
        served.filter((one) => (callers.length > 0 ? callers.includes(one.service) : one.service === service)),
        ({ seconds }) => seconds,
      );
      const [most] = toOthers.toSorted((a, b) => added(b) - added(a));
      const [shown] = [...(way > work ? toIt : own)]
        .filter(({ slower }) => slower)
        .toSorted((a, b) => added(b) - added(a));
      return {
        service,
        added: work + way + total(toServices, (one) => Math.max(0, added(one))) / 2,
        share: 1,
        felt: (work + way) / (waited || 1),
        worse: shown !== undefined && work + way > 0,
        own: undefined,
        late: undefined,
        shown,
        dependency: most !== undefined && most.slower && added(most) >= work / 2 && way <= work ? most.peer : '',
      };
    },
  );
  const ordered = adding.toSorted((a, b) => b.added - a.added);
  const first = deepestAdding(ordered, calls);
  const one = ordered.find(({ service }) => service === first?.service);
  if (one?.shown === undefined) return undefined;
  const { shown, dependency } = one;
  return suspect(one.service, 'latency', { evidenceId, source, shown, dependency, excess: shown.now.total });
}

/** Where most of the added failures begin: what a call adds begins in the called one, if that is a service. */
function mostFailing({ evidenceId, source, served, sent }: Read, services: readonly string[]): Suspect | undefined {
  const excess = (of: readonly Counted[]) =>
    total(
      of.filter(({ worse }) => worse),
      (one) => Math.max(0, one.excess),
    );
  const failing = services.map((service) => {
    const own = byDurations(served.filter((one) => one.service === service));
    const outside = sent.filter((one) => one.service === service);
    const toIt = sent.filter(({ callee }) => callee === service);
    const begin = Math.max(0, excess(own) - excess(outside.filter(({ callee }) => callee !== undefined)));
    const unanswered = Math.max(0, excess(toIt) - excess(own));
    const [shown] = [...own, ...toIt].filter(({ worse }) => worse).toSorted((a, b) => b.excess - a.excess);
    const [most] = outside
      .filter(({ callee, worse }) => callee === undefined && worse)
      .toSorted((a, b) => b.excess - a.excess);
    return {
      service,
      excess: begin + unanswered,
      shown,
      dependency: most !== undefined && most.excess >= begin / 2 ? most.peer : '',
    };
  });
  const [first] = failing.toSorted((a, b) => b.excess - a.excess);
  if (first?.shown === undefined || first.excess < 3) return undefined;
  return suspect(first.service, 'errors', { ...first, evidenceId, source, shown: first.shown });
}

/** Counters count the same requests once more. */
function byDurations(of: readonly Counted[]): readonly Counted[] {
  const timed = of.filter(({ mean, meanBefore }) => mean + meanBefore > 0);
  return timed.length > 0 ? timed : of;
}

interface Shown extends Pick<Read, 'evidenceId' | 'source'>, Pick<Suspect, 'dependency' | 'excess'> {
  readonly shown: Counted;
}

function suspect(
  service: string,
  category: 'errors' | 'latency',
  { evidenceId, source, shown, dependency, excess }: Shown,
): Suspect {
  const signal = { kind: 'counted', counted: shown, source } as const;
  return suspectOf(service, [evidenceId], { category, dependency, excess, detail: describe(shown), signal });
}

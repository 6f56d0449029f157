import type { ErrorOrigin, ErrorOrigins } from './steps/error-origins.ts';
import type { Callees } from './steps/callees.ts';
import type { LatencyShift } from './steps/latency-shift.ts';
import type { SelfTime, SelfTimeChange } from './steps/self-time.ts';

/** Whom the evidence points at. */
export interface Suspect {
  readonly category: 'errors' | 'latency';
  readonly service: string;
  readonly operation: string;
  /** Something outside that sends no telemetry: a database, another company's API. */
  readonly dependency: string;
  /** Of all failures or of all added time, what this service accounts for. */
  readonly share: number;
  /** Failures or slow spans beyond the usual. */
  readonly excess: number;
  /** What the failing service says, a stranger's words. */
  readonly message: string;
  readonly evidenceIds: readonly string[];
  /** Where the spans that show it are, which is not where the cause is when a caller notices first. */
  readonly seenIn: { readonly service: string; readonly operation: string };
  /** The caller from which blame was moved: it gave up waiting for a slow service, or its calls are late on the way. */
  readonly moved?: { readonly from: string; readonly because: 'slow' | 'way' };
}

/** The service in which most of the added failures begin. */
export function mostFailing(origins: ErrorOrigins): ErrorOrigin | undefined {
  const byService = new Map<string, number>();
  for (const { service, excess } of origins.origins) byService.set(service, (byService.get(service) ?? 0) + excess);
  const [worst] = [...byService].toSorted(([, a], [, b]) => b - a);
  return worst && origins.origins.find(({ service }) => service === worst[0]);
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

export interface Slowest {
  readonly change: SelfTimeChange;
  /** Of all the added time, what its service accounts for. */
  readonly share: number;
}

/** The service that spends most of the added time itself, with the operation in which it does. */
export function slowest(time: SelfTime): Slowest | undefined {
  const byService = new Map<string, { added: number; worst: SelfTimeChange }>();
  for (const change of time.changes) {
    const sum = byService.get(change.service);
    if (sum) sum.added += change.added;
    else byService.set(change.service, { added: change.added, worst: change });
  }
  const [first] = [...byService.values()].toSorted((a, b) => b.added - a.added);
  return first && { change: first.worst, share: time.added === 0 ? 0 : first.added / time.added };
}

/**
 * Time that a call takes beyond what the called service itself takes passes between the two: on the network, or in a queue
 * or a connection pool in front of the called one. Where nothing answers with spans, it is the dependency's.
 */
export function blameForLatency(
  { change, share }: Slowest,
  time: SelfTime,
  latency: LatencyShift,
  called: Callees | undefined,
): Suspect {
  const { service, operation } = change;
  const slow = latency.changes.filter((shift) => shift.worse && shift.service === service);
  const [callee] = called?.callees ?? [];
  const found = {
    category: 'latency',
    share,
    excess: slow.reduce((sum, { spans, slowShare }) => sum + spans * (slowShare - 0.05), 0),
    message: '',
    operation,
    seenIn: { service, operation },
    evidenceIds: [time.evidenceId, latency.evidenceId, ...(called ? [called.evidenceId] : [])],
  } as const;
  if (callee === undefined || callee.service === '') {
    return { ...found, service, dependency: callee?.dependency ?? '' };
  }
  return { ...found, service: callee.service, dependency: '', moved: { from: service, because: 'way' } };
}

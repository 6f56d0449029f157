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
  /** The service that failed first when blame was moved on to what it called. */
  readonly movedFrom?: string;
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
  const found: Omit<Suspect, 'service' | 'operation'> = {
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
      movedFrom: origin.service,
    };
  }
  return { ...found, service: origin.service, operation: origin.operation };
}

/** The service that spends most of the added time itself. */
export function blameForLatency(time: SelfTime, latency: LatencyShift): Suspect | undefined {
  const byService = new Map<string, { added: number; worst: SelfTimeChange }>();
  for (const change of time.changes) {
    const sum = byService.get(change.service);
    if (sum) sum.added += change.added;
    else byService.set(change.service, { added: change.added, worst: change });
  }
  const [worst] = [...byService.values()].toSorted((a, b) => b.added - a.added);
  if (worst === undefined) return undefined;
  const slow = latency.changes.filter(({ service, worse }) => worse && service === worst.worst.service);
  return {
    category: 'latency',
    service: worst.worst.service,
    operation: worst.worst.operation,
    dependency: '',
    share: time.added === 0 ? 0 : worst.added / time.added,
    excess: slow.reduce((sum, { spans, slowShare }) => sum + spans * (slowShare - 0.05), 0),
    message: '',
    evidenceIds: [time.evidenceId, latency.evidenceId],
  };
}

import { reaches, type Calling } from './sql.ts';
import { unusual } from './ranking.ts';
import { describe as describeLog, type LogPattern, type LogPatterns } from './steps/log-patterns.ts';
import { describe as describeGauge, type Faring, type RequestGauges } from './steps/request-gauges.ts';
import { suspectOf, type Suspect } from './suspects.ts';

/** What speaks where there are too few traces to compare. */
export interface WithoutTraces {
  readonly failing: RequestGauges;
  readonly late: RequestGauges;
  readonly logs: LogPatterns;
  /** A person says that something is wrong: the most unusual service is named, however little it stands out. */
  readonly said: boolean;
  /** Seen in what traces there are. */
  readonly calls: readonly Calling[];
}

/** Failures lead unless so many times more requests became slow. */
const outnumbers = 10;

/**
 * Suspects by gauges of requests and new lines in the logs, whose places are fused, since their figures do not compare. Failures
 * speak first, as where there are traces, and a suspect that only calls another comes after it.
 */
export function suspectsWithoutTraces({ failing, late, logs, said, calls }: WithoutTraces): readonly Suspect[] {
  const counts = (faring: RequestGauges['faring']): RequestGauges['faring'] =>
    said ? faring : faring.map((same) => same.filter(({ worse }) => worse));
  const [failures, delays] = [counts(failing.faring), counts(late.faring)];
  const lines = noisiest(logs.worse);
  const errors = lines.some(({ isError }) => isError);
  const fused = (gauges: readonly (readonly Faring[])[]): readonly string[] =>
    unusual([...gauges, lines].map((kind) => kind.map(({ service }) => service)));
  const inErrors = fused(failures).flatMap((service) =>
    suspect(service, {
      category: 'errors',
      gauges: failures,
      from: failing,
      logs,
      lines: errors || failures.length > 0 ? lines : [],
    }),
  );
  const inLatency = fused(delays).flatMap((service) =>
    suspect(service, { category: 'latency', gauges: delays, from: late, logs, lines: [] }),
  );
  const [failed, slowed] = [affected(failures, false), affected(delays, true)];
  const isSlower = failed !== undefined && slowed !== undefined && !errors && slowed > outnumbers * failed;
  const ordered = isSlower ? [...inLatency, ...inErrors] : [...inErrors, ...inLatency];
  const rest = lines.flatMap(({ service }) =>
    suspect(service, { category: 'errors', gauges: [], from: failing, logs, lines }),
  );
  const all = [...ordered, ...rest];
  const suspects = all.filter(({ service }, index) => all.findIndex((other) => other.service === service) === index);
  const edges = [...calls, ...mentioned(logs.worse, suspects)];
  const onlyCalls = ({ service }: Suspect): boolean =>
    suspects.some((other) => reaches(edges, service, other.service) && !reaches(edges, other.service, service));
  return [...suspects.filter((one) => !onlyCalls(one)), ...suspects.filter(onlyCalls)];
}

/** A new warning or error that names another suspect tells of a call to it. */
function mentioned(worse: readonly LogPattern[], suspects: readonly Suspect[]): readonly Calling[] {
  return worse.flatMap(({ service: caller, example }) =>
    suspects
      .filter(({ service }) => service !== caller && service.length > 3 && example.includes(service))
      .map(({ service: callee }) => ({ caller, callee })),
  );
}

/** Errors before warnings, then the most lines. */
function noisiest(worse: readonly LogPattern[]): readonly LogPattern[] {
  const total = (service: string, isError: boolean): number =>
    worse
      .filter((one) => one.service === service && one.isError === isError)
      .reduce((sum, { count }) => sum + count, 0);
  const loudest = worse.filter((one, index) => worse.findIndex(({ service }) => service === one.service) === index);
  return loudest.toSorted(
    (a, b) => total(b.service, true) - total(a.service, true) || total(b.service, false) - total(a.service, false),
  );
}

/** Of which requests the first service's gauge speaks, about how many; undefined where nothing counts them or it is hardly more. */
function affected([first]: readonly (readonly Faring[])[], isLatency: boolean): number | undefined {
  const [most] = first ?? [];
  if (most?.requests === undefined) return undefined;
  const { value, valueBefore, requests, worse } = most;
  if (isLatency) return worse ? requests * Math.min(1, value / valueBefore - 1) : undefined;
  return (requests * Math.abs(value - valueBefore)) / Math.max(1, Math.abs(valueBefore));
}

interface Basis {
  readonly category: 'errors' | 'latency';
  readonly gauges: readonly (readonly Faring[])[];
  readonly from: RequestGauges;
  readonly logs: LogPatterns;
  readonly lines: readonly LogPattern[];
}

function suspect(service: string, { category, gauges, from, logs, lines }: Basis): readonly Suspect[] {
  const gauge = gauges.flat().find((one) => one.service === service);
  const line = lines.find((one) => one.service === service);
  if (gauge === undefined && line === undefined) return [];
  const evidenceIds = [...(gauge ? [from.evidenceId] : []), ...(line ? [logs.evidenceId] : [])];
  return [
    suspectOf(service, evidenceIds, {
      category,
      excess: 0,
      message: line?.example ?? '',
      detail: gauge ? describeGauge(gauge) : line ? describeLog(line) : '',
      ...(gauge && { signal: { kind: 'gauge', resource: { ...gauge, z: 0, alone: true, exhaustible: false } } }),
    }),
  ];
}

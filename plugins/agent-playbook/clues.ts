import { suspectsByCounts } from './counted.ts';
import { suspectsWithoutTraces } from './few-traces.ts';
import { changedServices, misbehaving, nothingFound, rank, starving, unsettled, unusual } from './ranking.ts';
import {
  blameForCountedPlace,
  blameForErrors,
  blameForLatency,
  blameForLoad,
  blameForPlace,
  blameForSilence,
  deepestAdding,
  mostFailing,
  whoAddsTime,
  type AddedTime,
  type Suspect,
} from './suspects.ts';
import type { Step, Scene } from './scene.ts';
import { usual, type Notebook } from './notebook.ts';
import { tableNames } from '../../src/contract/telemetry/index.ts';
import { type Behaviours, callBehaviour, leastChanged, logBehaviour, withoutRewordings } from './steps/behaviour.ts';
import { callGaps, type CallGaps } from './steps/call-gaps.ts';
import { callees } from './steps/callees.ts';
import { errorOrigins } from './steps/error-origins.ts';
import { errorShift, type ErrorShift } from './steps/error-shift.ts';
import { latencyShift, lightestTraffic, type LatencyShift } from './steps/latency-shift.ts';
import { logMix, withLineKinds } from './steps/line-kinds.ts';
import { load } from './steps/load.ts';
import { beyondGrowth, logPatterns, type LogPatterns } from './steps/log-patterns.ts';
import { placement } from './steps/placement.ts';
import { countedPlacement } from './steps/counted-placement.ts';
import { requestCounts } from './steps/request-counts.ts';
import { requestGauges, type RequestGauges } from './steps/request-gauges.ts';
import { resources, type Resources } from './steps/resources.ts';
import { selfTime, type SelfTime } from './steps/self-time.ts';
import { silence, type Silent } from './steps/silence.ts';
import type { Template } from './templates/drain.ts';
import type { Calling } from './sql.ts';

/** Everything the questions have turned up. */
export interface Clues {
  readonly errors: ErrorShift;
  readonly latency: LatencyShift | undefined;
  readonly time: SelfTime | undefined;
  readonly gaps: CallGaps | undefined;
  readonly resources: Resources | undefined;
  readonly behaviours: Behaviours | undefined;
  readonly logs: LogPatterns;
  /** By which the lines of the logs were counted. */
  readonly templates: readonly Template[];
  /** Gauges or logs, where they rank the suspects for want of traces. */
  readonly basis: string | undefined;
  /** Jobs that have ended, and are blamed for nothing. */
  readonly ended: readonly Silent[];
  /** Likeliest first; empty when nothing is wrong. */
  readonly suspects: readonly Suspect[];
  /** The services of these, and after them those that hardly anything speaks for. */
  readonly named: readonly string[];
}

/** Chance in one of twenty cases: good for the end of the list of suspects and for nothing else. */
const barelyChanged = 3.84;

/**
 * Asks in turn: who fails more and where it begins, who is slower and where the time is spent or lost, who runs out of
 * something, who behaves differently.
 */
export async function* gatherClues(scene: Scene): Step<Clues> {
  const errors = yield* errorShift(scene);
  const latency = yield* latencyShift(scene);
  const failing = errors.changes.some(({ worse }) => worse) ? yield* suspectOfErrors(scene, latency) : undefined;
  const compared = usual(scene.windows).length > 0;
  const time = compared ? yield* selfTime(scene) : undefined;
  const gaps = compared ? yield* callGaps(scene) : undefined;
  const adding = time ? whoAddsTime(time, gaps) : [];
  const slow = yield* suspectOfLatency(scene, { latency, time, gaps, adding });
  const few = compared && !scene.traced && (latency?.changes.length ?? 0) === 0;
  const spans = adding.length > 0 || (latency?.changes.length ?? 0) > 0;
  const used = compared ? yield* resources(scene, { every: few || !spans }) : undefined;
  const least = leastChanged(scene);
  const lined = yield* withLineKinds(scene);
  const behaved = compared ? yield* behaviour(lined) : [];
  const behaviours = mostTelling(behaved, least);
  const { explaining, ended } = compared
    ? yield* explanations(scene, { errors, latency, failing, slow })
    : { explaining: [], ended: [] };
  const warned = yield* logPatterns(lined);
  const logs = few && warned.worse.length > 0 ? yield* beyondGrowth(lined, warned) : warned;
  const untraced = few ? yield* withoutTraces(lined, logs, gaps?.calls ?? []) : [];
  const ranked = rank({
    explaining,
    failing,
    slow,
    starving: starving(used),
    unsettled: unsettled(used),
    misbehaving: behaviours ? misbehaving(told(behaviours, scene), gaps?.calls ?? [], least) : [],
    time: adding,
    said: scene.said,
  });
  const suspects = [...untraced, ...ranked.filter(({ service }) => untraced.every((one) => one.service !== service))];
  const also =
    suspects.length > 0 || scene.said
      ? unusual([
          ...behaved.map((one) => changedServices(one, barelyChanged).map(({ service }) => service)),
          adding.map(({ service }) => service),
          used?.changes.map(({ service }) => service) ?? [],
        ])
      : [];
  return {
    errors,
    latency,
    time,
    gaps,
    resources: used,
    behaviours,
    logs,
    templates: lined.templates,
    basis: few ? basisOf(scene.notebook, suspects) : undefined,
    ended,
    suspects,
    named: [...new Set([...suspects.map(({ service }) => service), ...also])],
  };
}

/** By what other signals say: first what explains them from outside, then what services count, then gauges and lines. */
async function* withoutTraces(scene: Scene, logs: LogPatterns, calls: readonly Calling[]): Step<readonly Suspect[]> {
  const requests = yield* requestCounts(scene, 'metrics');
  const counts = suspectsByCounts(requests, 'metrics');
  // What a service counts says more than its gauges of the same.
  const uncounted = (gauges: RequestGauges): RequestGauges => ({
    ...gauges,
    faring: gauges.faring.map((same) => same.filter((one) => !requests.timed.has(one.service))),
  });
  const lines = suspectsByCounts(yield* requestCounts(scene, 'logs'), 'logs');
  const visible = rank({ ...nothingFound, failing: counts.failing, slow: counts.slow, said: scene.said });
  const late = counts.slow === undefined && lines.slow ? [lines.slow] : [];
  const worse = [...visible, ...late][0];
  const places: Suspect[] = [];
  for (const source of ['metrics', 'logs'] as const) {
    const place = yield* countedPlacement(scene, source);
    if (place) places.push(blameForCountedPlace(place));
  }
  const silent = [
    ...(yield* silence(scene, 'metrics')),
    ...(yield* silence(scene, 'logs')).filter(({ caller }) => caller !== undefined),
  ];
  const ordered = [
    ...places,
    ...silent.map((one) => blameForSilence(one, worse)),
    ...counts.explaining,
    ...visible,
    ...suspectsWithoutTraces({
      failing: uncounted(yield* requestGauges(scene, 'failures')),
      late: uncounted(yield* requestGauges(scene, 'latency')),
      logs,
      said: scene.said,
      calls: [...calls, ...counts.calls],
    }),
    ...late,
  ];
  return ordered.filter(({ service }, index) => ordered.findIndex((other) => other.service === service) === index);
}

/** What explains failures and slowness from outside of who shows them: a place, a caller that does more, who fell silent. */
async function* explanations(
  scene: Scene,
  seen: Pick<Clues, 'errors' | 'latency'> & Readonly<Record<'failing' | 'slow', Suspect | undefined>>,
): Step<Pick<Clues, 'ended'> & { readonly explaining: readonly Suspect[] }> {
  const { errors, latency, failing, slow } = seen;
  const worse = [...errors.changes, ...(latency?.changes ?? [])].filter((change) => change.worse);
  const several = new Set(worse.map(({ service }) => service)).size >= 2;
  const isLight = lightestTraffic(latency) !== undefined;
  const place = several || isLight ? blameForPlace(yield* placement(scene, isLight), failing ?? slow) : undefined;
  const burden = slow && place === undefined ? yield* load(scene, slow) : undefined;
  const silent = yield* silence(scene);
  const isBlamed = ({ caller }: Silent): boolean => caller !== undefined || scene.said;
  return {
    explaining: [
      ...(place ? [place] : []),
      ...silent.filter(isBlamed).map((one) => blameForSilence(one, failing)),
      ...(slow && burden ? [blameForLoad(slow, burden)] : []),
    ],
    ended: silent.filter((one) => one.isOwn && !isBlamed(one)),
  };
}

/** The signals that the suspects were found by. */
function basisOf({ steps }: Notebook, suspects: readonly Suspect[]): string {
  const cited = new Set(suspects.flatMap(({ evidenceIds }) => evidenceIds));
  const asked = steps.filter((step) => cited.has(step.evidence_id));
  return tableNames.filter((table) => asked.some(({ sql }) => sql.includes(`otel.${table}`))).join(' and ');
}

/** Failures beyond the usual that make a suspect. */
const leastExcess = 3;

async function* suspectOfErrors(scene: Scene, latency: LatencyShift | undefined): Step<Suspect | undefined> {
  const { focus } = scene;
  let origins = yield* errorOrigins(scene);
  let origin = mostFailing(origins);
  // A call that never arrives leaves no span in the service that is asked about, and what always fails there is no news.
  if ((origin?.excess ?? 0) < leastExcess && focus.services.length > 0 && !focus.only) {
    origins = yield* errorOrigins({ ...scene, focus: { ...focus, services: [] } });
    origin = mostFailing(origins);
  }
  if (origin === undefined || origin.excess < leastExcess) return undefined;
  const called = isCall(origin.kind) ? yield* callees(scene, { ...origin, failed: true }) : undefined;
  return blameForErrors(origin, origins, called, latency);
}

async function* suspectOfLatency(
  scene: Scene,
  { latency, time, gaps, adding }: Pick<Clues, 'latency' | 'time' | 'gaps'> & { readonly adding: readonly AddedTime[] },
): Step<Suspect | undefined> {
  const first = deepestAdding(adding, gaps?.calls ?? []);
  if (time === undefined || first === undefined) return undefined;
  const { own, late } = first;
  const called = own && !late && isCall(own.kind) ? yield* callees(scene, { ...own, failed: false }) : undefined;
  const ids = [time.evidenceId, ...(gaps ? [gaps.evidenceId] : []), ...(latency ? [latency.evidenceId] : [])];
  return blameForLatency(first, latency, ids, called);
}

function isCall(kind: string): boolean {
  return kind === 'CLIENT' || kind === 'PRODUCER';
}

/** By the lines that spans leave, by the calls that they make, and where no line belongs to a span, by what is logged at all. */
async function* behaviour(scene: Scene): Step<readonly Behaviours[]> {
  const lines = yield* logBehaviour(scene);
  const calls = yield* callBehaviour(scene);
  return lines.changes.length > 0 || lines.failed ? [lines, calls] : [calls, yield* logMix(scene)];
}

/** What services do otherwise than before, as what tells most of it says. */
export async function* behaviourOf(scene: Scene): Step<Behaviours | undefined> {
  return mostTelling(yield* behaviour(scene), leastChanged(scene));
}

/** To who says that something is wrong, `succeeded` that became `failed` is no mere change of words. */
function told(behaviours: Behaviours, { said }: Scene): Behaviours {
  return said ? behaviours : { ...behaviours, changes: withoutRewordings(behaviours.changes) };
}

/** Lines tell more of what a service does than calls; those that tell nothing are joined by the others. */
function mostTelling(behaved: readonly Behaviours[], least: number): Behaviours | undefined {
  const [lines] = behaved;
  if (lines === undefined || lines.changes.some(({ g, kind }) => kind === 'line' && g >= least)) return lines;
  return {
    failed: behaved.every(({ failed }) => failed),
    changes: behaved.flatMap(({ changes }) => changes).toSorted((a, b) => b.g - a.g),
  };
}

import { changedServices, misbehaving, rank, starving, unsettled, unusual } from './ranking.ts';
import { withoutRewordings } from './rewording.ts';
import { blameForErrors, blameForLatency, deepestAdding, mostFailing, whoAddsTime } from './suspects.ts';
import type { AddedTime, Suspect } from './suspects.ts';
import { thresholds } from './thresholds.ts';
import type { Step } from './step.ts';
import type { Scene } from './scene.ts';
import { usual } from './stretches.ts';
import { callBehaviour, clearlyChanged, logBehaviour } from './steps/behaviour.ts';
import type { Behaviours } from './steps/behaviour.ts';
import { callGaps } from './steps/call-gaps.ts';
import type { CallGaps } from './steps/call-gaps.ts';
import { callees } from './steps/callees.ts';
import { errorOrigins } from './steps/error-origins.ts';
import { errorShift } from './steps/error-shift.ts';
import type { ErrorShift } from './steps/error-shift.ts';
import { latencyShift } from './steps/latency-shift.ts';
import type { LatencyShift } from './steps/latency-shift.ts';
import { withLineKinds } from './steps/line-kinds.ts';
import { logMix } from './steps/log-mix.ts';
import { logPatterns } from './steps/log-patterns.ts';
import type { LogPatterns } from './steps/log-patterns.ts';
import { resources } from './steps/resources.ts';
import type { Resources } from './steps/resources.ts';
import { selfTime } from './steps/self-time.ts';
import type { SelfTime } from './steps/self-time.ts';
import type { Template } from './templates/template.ts';

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
  const spans = adding.length > 0 || (latency?.changes.length ?? 0) > 0;
  const used = compared ? yield* resources(scene, { every: !spans }) : undefined;
  const least = leastOf(scene);
  const lined = yield* withLineKinds(scene);
  const behaved = compared ? yield* behaviour(lined) : [];
  const behaviours = mostTelling(behaved, least);
  const suspects = rank({
    failing,
    slow,
    starving: starving(used),
    unsettled: unsettled(used),
    misbehaving: behaviours ? misbehaving(told(behaviours, scene), gaps?.calls ?? [], least) : [],
    time: adding,
    said: scene.said,
  });
  const also =
    suspects.length > 0 || scene.said
      ? unusual([
          ...behaved.map((one) => changedServices(one, barelyChanged).map(({ service }) => service)),
          adding.map(({ service }) => service),
          used?.changes.map(({ service }) => service) ?? [],
        ])
      : [];
  const logs = yield* logPatterns(lined);
  return {
    errors,
    latency,
    time,
    gaps,
    resources: used,
    behaviours,
    logs,
    templates: lined.templates,
    suspects,
    named: [...new Set([...suspects.map(({ service }) => service), ...also])],
  };
}

async function* suspectOfErrors(scene: Scene, latency: LatencyShift | undefined): Step<Suspect | undefined> {
  let origins = yield* errorOrigins(scene);
  // A call that never arrives leaves no span in the service that is asked about.
  if (origins.origins.length === 0 && scene.focus.services.length > 0 && !scene.focus.only) {
    origins = yield* errorOrigins({ ...scene, focus: { ...scene.focus, services: [] } });
  }
  const origin = mostFailing(origins);
  if (origin === undefined || origin.excess < 3) return undefined;
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
  return mostTelling(yield* behaviour(scene), leastOf(scene));
}

function leastOf({ said }: Scene): number {
  return said ? thresholds.changedIfSaid : clearlyChanged;
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

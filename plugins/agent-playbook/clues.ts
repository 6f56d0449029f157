import { changedServices, misbehaving, rank, starving } from './ranking.ts';
import { blameForErrors, blameForLatency, deepestAdding, mostFailing, whoAddsTime } from './suspects.ts';
import type { AddedTime, Suspect } from './suspects.ts';
import type { Scene, Step } from './scene.ts';
import { usual } from './sql.ts';
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
import { logPatterns } from './steps/log-patterns.ts';
import type { LogPatterns } from './steps/log-patterns.ts';
import { resources } from './steps/resources.ts';
import type { Resources } from './steps/resources.ts';
import { selfTime } from './steps/self-time.ts';
import type { SelfTime } from './steps/self-time.ts';

/** Everything the questions have turned up. */
export interface Clues {
  readonly errors: ErrorShift;
  readonly latency: LatencyShift | undefined;
  readonly time: SelfTime | undefined;
  readonly gaps: CallGaps | undefined;
  readonly resources: Resources | undefined;
  readonly behaviours: Behaviours | undefined;
  readonly logs: LogPatterns;
  /** Likeliest first; empty when nothing is wrong. */
  readonly suspects: readonly Suspect[];
  /** The services of these, and after them those that hardly anything speaks for. */
  readonly named: readonly string[];
}

/** Chance in one of twenty cases: good for the end of the list of suspects and for nothing else. */
const barelyChanged = 3.84;
/** What a person who says that something is wrong makes likely before anything was asked: less has to speak for it. */
const changedIfSaid = 8;

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
  const used = compared ? yield* resources(scene) : undefined;
  const behaviours = compared ? yield* behaviour(scene) : undefined;
  const least = scene.said ? changedIfSaid : clearlyChanged;
  const suspects = rank({
    failing,
    slow,
    starving: starving(used),
    misbehaving: behaviours ? misbehaving(behaviours, gaps?.calls ?? [], least) : [],
    time: adding,
  });
  const also = suspects.length > 0 && behaviours ? changedServices(behaviours, barelyChanged) : [];
  const logs = yield* logPatterns(scene);
  return {
    errors,
    latency,
    time,
    gaps,
    resources: used,
    behaviours,
    logs,
    suspects,
    named: [...new Set([...suspects, ...also].map(({ service }) => service))],
  };
}

async function* suspectOfErrors(scene: Scene, latency: LatencyShift | undefined): Step<Suspect | undefined> {
  const origins = yield* errorOrigins(scene);
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

/** By the lines that requests leave; by the calls that they make where lines cannot be told apart by request. */
async function* behaviour(scene: Scene): Step<Behaviours> {
  const lines = yield* logBehaviour(scene);
  return lines.changes.length > 0 || lines.failed ? lines : yield* callBehaviour(scene);
}

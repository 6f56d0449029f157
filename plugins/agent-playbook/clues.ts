import { blameForErrors, blameForLatency, mostFailing, slowest } from './suspects.ts';
import type { Suspect } from './suspects.ts';
import type { Scene, Step } from './scene.ts';
import { callees } from './steps/callees.ts';
import { errorOrigins } from './steps/error-origins.ts';
import { errorShift } from './steps/error-shift.ts';
import type { ErrorShift } from './steps/error-shift.ts';
import { exemplars, traceTree } from './steps/exemplars.ts';
import type { Exemplars } from './steps/exemplars.ts';
import { latencyShift } from './steps/latency-shift.ts';
import type { LatencyShift } from './steps/latency-shift.ts';
import { logPatterns } from './steps/log-patterns.ts';
import type { LogPatterns } from './steps/log-patterns.ts';
import { onset } from './steps/onset.ts';
import type { Onset } from './steps/onset.ts';
import { selfTime } from './steps/self-time.ts';
import { newVersions } from './steps/versions.ts';
import type { Versions } from './steps/versions.ts';

/** Everything the questions have turned up. */
export interface Clues {
  readonly errors: ErrorShift;
  readonly latency: LatencyShift | undefined;
  readonly logs: LogPatterns;
  readonly suspect: Suspect | undefined;
  /** A second change that the suspect does not explain. */
  readonly other: Suspect | undefined;
  readonly versions: Versions | undefined;
  readonly examples: Exemplars | undefined;
  readonly treeId: string | undefined;
  readonly onset: Onset | undefined;
}

/** Asks in turn: who fails more, who is slower, where it begins, what the logs say, what was deployed, and for examples. */
export async function* gatherClues(scene: Scene): Step<Clues> {
  const errors = yield* errorShift(scene);
  const latency = yield* latencyShift(scene);
  const failing = errors.changes.some(({ worse }) => worse) ? yield* suspectOfErrors(scene, latency) : undefined;
  const slow = latency?.changes.some(({ worse }) => worse) ? yield* suspectOfLatency(scene, latency) : undefined;
  const [suspect, other] = weigh(failing, slow);
  const logs = yield* logPatterns(scene);
  if (suspect === undefined) {
    return {
      errors,
      latency,
      logs,
      suspect,
      other,
      versions: undefined,
      examples: undefined,
      treeId: undefined,
      onset: undefined,
    };
  }
  const versions = yield* newVersions(scene);
  const examples = yield* exemplars(scene, {
    services: [suspect.seenIn.service],
    operation: suspect.seenIn.operation,
    by: suspect.category === 'errors' ? 'failures' : 'slowness',
  });
  const [worst] = examples.traces;
  const treeId = worst && (yield* traceTree(scene, worst));
  const began = yield* beginning(scene, suspect, latency);
  return { errors, latency, logs, suspect, other, versions, examples, treeId, onset: began };
}

async function* suspectOfErrors(scene: Scene, latency: LatencyShift | undefined): Step<Suspect | undefined> {
  const origins = yield* errorOrigins(scene);
  const origin = mostFailing(origins);
  if (origin === undefined || origin.excess < 3) return undefined;
  const called = isCall(origin.kind) ? yield* callees(scene, { ...origin, failed: true }) : undefined;
  return blameForErrors(origin, origins, called, latency);
}

async function* suspectOfLatency(scene: Scene, latency: LatencyShift): Step<Suspect | undefined> {
  const time = yield* selfTime(scene);
  const first = slowest(time);
  if (first === undefined) return undefined;
  const called = isCall(first.change.kind) ? yield* callees(scene, { ...first.change, failed: false }) : undefined;
  return blameForLatency(first, time, latency, called);
}

function isCall(kind: string): boolean {
  return kind === 'CLIENT' || kind === 'PRODUCER';
}

/** Failures weigh more than slowness, unless they are few beside it. */
function weigh(
  failing: Suspect | undefined,
  slow: Suspect | undefined,
): readonly [suspect: Suspect | undefined, other: Suspect | undefined] {
  if (failing === undefined || slow === undefined) return [failing ?? slow, undefined];
  if (failing.service === slow.service) return [failing, undefined];
  return slow.excess > 10 * failing.excess ? [slow, failing] : [failing, slow];
}

async function* beginning(
  { notebook, write, windows }: Scene,
  suspect: Suspect,
  latency: LatencyShift | undefined,
): Step<Onset | undefined> {
  const { now, before } = windows;
  if (before === undefined) return undefined;
  const slow = latency?.changes.find(({ service, worse }) => worse && service === suspect.seenIn.service);
  const failed = suspect.category === 'errors';
  if (!failed && slow === undefined) return undefined;
  return yield* onset({
    notebook,
    write,
    range: { start: before.start, end: now.end },
    service: suspect.seenIn.service,
    bad: failed || slow === undefined ? 'failed' : { slowerThan: slow.p95Before },
  });
}

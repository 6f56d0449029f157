import type { Clues } from './clues.ts';
import type { Step, Scene } from './scene.ts';
import { attributeContrast, type BadSpans, type Contrasts } from './steps/attribute-contrast.ts';
import { statusText } from './sql.ts';
import { exemplars, traceTree, type Exemplars } from './steps/exemplars.ts';
import type { TimeRange } from './question/time-range.ts';
import { bucketWidth, firstFailure, onset, type Onset } from './steps/onset.ts';
import { signalOnset } from './steps/signal-onset.ts';
import { tracePaths, type TracePaths } from './steps/trace-paths.ts';
import type { Suspect } from './suspects.ts';
import { usual, type Windows } from './notebook.ts';
import { newVersions, type Versions } from './steps/versions.ts';

/** What is asked about the first suspect alone. */
export interface CloserLook {
  readonly versions: Versions | undefined;
  readonly examples: Exemplars | undefined;
  readonly treeId: string | undefined;
  readonly paths: TracePaths | undefined;
  readonly onset: Onset | undefined;
  /** When it began: as the onset tells, else as the question does, and never after the alert. */
  readonly began: Date | undefined;
  readonly contrasts: Contrasts | undefined;
}

export async function* lookCloser(scene: Scene, suspect: Suspect, clues: Clues): Step<CloserLook> {
  const { operation } = suspect.seenIn;
  const examples = yield* exemplars(scene, {
    services: [suspect.seenIn.service],
    ...(operation !== undefined && { operation }),
    by: suspect.category === 'errors' ? 'failures' : 'slowness',
    ...(suspect.category === 'errors' && { message: suspect.message, failureText: suspect.failureText }),
  });
  const [worst] = examples.traces;
  const treeId = worst && (yield* traceTree(scene, worst));
  const paths = worst && (yield* tracePaths(scene, worst));
  const found = yield* onsetOf(scene, suspect, clues);
  const { alertedAt } = scene;
  const isLate = found?.at !== undefined && alertedAt !== undefined && found.at > alertedAt;
  const bad = badSpans(suspect, clues);
  const contrasts = bad && (yield* attributeContrast(scene, bad));
  const known = isLate ? { onset: undefined, began: alertedAt } : { onset: found, began: found?.at ?? scene.beganAt };
  const versions =
    usual(scene.windows).length === 0
      ? undefined
      : yield* newVersions({ ...scene, windows: since(scene.windows, known.began) });
  return { versions, examples, treeId, paths, ...known, contrasts };
}

/** The same time, cut where it began if that is earlier: what came with it is new. */
function since(windows: Windows, began: Date | undefined): Windows {
  const { now, before, references } = windows;
  if (began === undefined || before === undefined || began >= now.start || began <= before.start) return windows;
  return { now: { start: began, end: now.end }, before: { start: before.start, end: began }, references };
}

/** Which spans show it, where single spans do. */
function badSpans({ category, seenIn }: Suspect, { latency }: Clues): BadSpans | undefined {
  if (category === 'errors') return { ...seenIn, bad: 'failed' };
  const slow = latency?.changes.find((change) => change.worse && change.service === seenIn.service);
  if (category === 'place' && slow === undefined) return { ...seenIn, bad: 'failed' };
  return slow && { service: slow.service, operation: slow.operation, bad: { slowerThan: slow.p95Before } };
}

/** When the suspect's trouble began, most exactly by a failure that is new. */
export async function* onsetOf(scene: Scene, suspect: Suspect, clues: Clues): Step<Onset | undefined> {
  return (yield* firstOfItsKind(scene, suspect)) ?? (yield* beginning(scene, suspect, clues));
}

/** The first failure with a message that is new. */
async function* firstOfItsKind(scene: Scene, suspect: Suspect): Step<Onset | undefined> {
  const { category, service, operation, message, failureText = statusText } = suspect;
  if (category !== 'errors' || message === '' || operation === '') return undefined;
  const failure = { service, operation, message, failureText };
  const first = yield* firstFailure({ ...scene, ...failure, range: rangeOf(scene) });
  return first.at === undefined ? undefined : first;
}

/** A beginning found no more exactly than this is looked at again. */
const coarse = 120;

/** When the suspect's own trouble began, by what shows it. */
export async function* beginning(scene: Scene, suspect: Suspect, clues: Clues): Step<Onset | undefined> {
  const range = rangeOf(scene);
  const found = yield* beginningWithin(scene, suspect, clues, range);
  const width = bucketWidth(range);
  if (found?.at === undefined || width < coarse) return found;
  const at = found.at.getTime();
  const around = {
    start: new Date(Math.max(range.start.getTime(), at - width * 1_000)),
    end: new Date(Math.min(range.end.getTime(), at + 2 * width * 1_000)),
  };
  const finer = yield* beginningWithin(scene, suspect, clues, around);
  return finer?.at === undefined ? found : finer;
}

function rangeOf({ windows: { now, before } }: Scene): TimeRange {
  return { start: before?.start ?? now.start, end: now.end };
}

async function* beginningWithin(
  scene: Scene,
  suspect: Suspect,
  clues: Clues,
  range: TimeRange,
): Step<Onset | undefined> {
  const { notebook, write } = scene;
  if (suspect.began) return { at: suspect.began, z: 10, evidenceId: suspect.evidenceIds[0] ?? '', failed: false };
  if (suspect.signal) return yield* signalOnset(scene, suspect.signal, range);
  const spans = badSpans(suspect, clues);
  return spans && (yield* onset({ notebook, write, range, service: spans.service, bad: spans.bad }));
}

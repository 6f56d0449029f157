import type { Clues } from './clues.ts';
import type { Step } from './step.ts';
import type { Scene } from './scene.ts';
import { attributeContrast } from './steps/attribute-contrast.ts';
import type { BadSpans, Contrasts } from './steps/attribute-contrast.ts';
import { exemplars, traceTree } from './steps/exemplars.ts';
import type { Exemplars } from './steps/exemplars.ts';
import type { TimeRange } from './question/time-range.ts';
import { bucketWidth, onset } from './steps/onset.ts';
import type { Onset } from './steps/onset.ts';
import { signalOnset } from './steps/signal-onset.ts';
import { tracePaths } from './steps/trace-paths.ts';
import type { TracePaths } from './steps/trace-paths.ts';
import { newVersions } from './steps/versions.ts';
import type { Versions } from './steps/versions.ts';
import type { Suspect } from './suspects.ts';

/** What is asked about the first suspect alone. */
export interface CloserLook {
  readonly versions: Versions | undefined;
  readonly examples: Exemplars | undefined;
  readonly treeId: string | undefined;
  readonly paths: TracePaths | undefined;
  readonly onset: Onset | undefined;
  readonly contrasts: Contrasts | undefined;
}

export async function* lookCloser(scene: Scene, suspect: Suspect, clues: Clues): Step<CloserLook> {
  const versions = yield* newVersions(scene);
  const { operation } = suspect.seenIn;
  const examples = yield* exemplars(scene, {
    services: [suspect.seenIn.service],
    ...(operation !== undefined && { operation }),
    by: suspect.category === 'errors' ? 'failures' : 'slowness',
  });
  const [worst] = examples.traces;
  const treeId = worst && (yield* traceTree(scene, worst));
  const paths = worst && (yield* tracePaths(scene, worst));
  const began = yield* beginning(scene, suspect, clues);
  const bad = badSpans(suspect, clues);
  const contrasts = bad && (yield* attributeContrast(scene, bad));
  return { versions, examples, treeId, paths, onset: began, contrasts };
}

/** Which spans show it, where single spans do. */
function badSpans({ category, seenIn }: Suspect, { latency }: Clues): BadSpans | undefined {
  if (category === 'errors') return { ...seenIn, bad: 'failed' };
  const slow = latency?.changes.find((change) => change.worse && change.service === seenIn.service);
  return slow && { service: slow.service, operation: slow.operation, bad: { slowerThan: slow.p95Before } };
}

/** A beginning found no more exactly than this is looked at again. */
const coarse = 120;

/** When the suspect's own trouble began, by what shows it. */
export async function* beginning(scene: Scene, suspect: Suspect, clues: Clues): Step<Onset | undefined> {
  const { now, before } = scene.windows;
  const range = { start: before?.start ?? now.start, end: now.end };
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

async function* beginningWithin(
  scene: Scene,
  suspect: Suspect,
  { latency }: Clues,
  range: TimeRange,
): Step<Onset | undefined> {
  const { notebook, write } = scene;
  if (suspect.signal) return yield* signalOnset(scene, suspect.signal, range);
  const { service } = suspect.seenIn;
  const slow = latency?.changes.find((change) => change.worse && change.service === service);
  if (suspect.category === 'errors') return yield* onset({ notebook, write, range, service, bad: 'failed' });
  if (slow === undefined) return undefined;
  return yield* onset({ notebook, write, range, service, bad: { slowerThan: slow.p95Before } });
}

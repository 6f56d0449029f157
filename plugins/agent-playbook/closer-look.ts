import type { Clues } from './clues.ts';
import type { Scene, Step } from './scene.ts';
import { exemplars, traceTree } from './steps/exemplars.ts';
import type { Exemplars } from './steps/exemplars.ts';
import { onset } from './steps/onset.ts';
import type { Onset } from './steps/onset.ts';
import { signalOnset } from './steps/signal-onset.ts';
import { newVersions } from './steps/versions.ts';
import type { Versions } from './steps/versions.ts';
import type { Suspect } from './suspects.ts';

/** What is asked about the first suspect alone. */
export interface CloserLook {
  readonly versions: Versions | undefined;
  readonly examples: Exemplars | undefined;
  readonly treeId: string | undefined;
  readonly onset: Onset | undefined;
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
  return { versions, examples, treeId, onset: yield* beginning(scene, suspect, clues) };
}

/** When the suspect's own trouble began, by what shows it. */
export async function* beginning(scene: Scene, suspect: Suspect, { latency }: Clues): Step<Onset | undefined> {
  const { notebook, write, windows } = scene;
  const { now, before } = windows;
  const range = { start: before?.start ?? now.start, end: now.end };
  if (suspect.signal) return yield* signalOnset(scene, suspect.signal, range);
  const { service } = suspect.seenIn;
  const slow = latency?.changes.find((change) => change.worse && change.service === service);
  if (suspect.category === 'errors') return yield* onset({ notebook, write, range, service, bad: 'failed' });
  if (slow === undefined) return undefined;
  return yield* onset({ notebook, write, range, service, bad: { slowerThan: slow.p95Before } });
}

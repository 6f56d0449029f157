import { behaviourOf, type Clues } from './clues.ts';
import { beginning } from './closer-look.ts';
import { besides } from './question/windows.ts';
import { placedIn } from './sample.ts';
import type { Step, Scene } from './scene.ts';
import type { Coverage } from './steps/coverage.ts';
import type { Suspect } from './suspects.ts';
import { thresholds } from './statistics.ts';

/** How many suspects are followed through time. */
const followed = 8;

/** Beginnings no further apart than this are one. */
const atOnce = 60_000;

/** When something began, and how clearly. */
interface Begun {
  readonly at: Date;
  readonly z: number;
}

/**
 * The stretch from when the trouble began, against the time right before. What is used up and what people feel go before
 * mere behaviour, and of these two that which came first. Undefined where nothing begins within the stretch.
 */
export async function* sceneOfBeginning(
  scene: Scene,
  clues: Clues,
  { earliest, sent }: { readonly earliest: Date; readonly sent: Coverage },
): Step<Scene | undefined> {
  const from = (at: Date): Scene => {
    const end = new Date(Math.min(scene.windows.now.end.getTime(), at.getTime() + thresholds.aftermath * 1_000));
    const { references } = scene.windows;
    const windows = besides({ start: at, end }, earliest, { references, beganAt: at });
    return placedIn({ ...scene, beganAt: at }, windows, sent);
  };
  const isUsed = ({ category, excess }: Suspect): boolean => category === 'resource' && excess >= thresholds.exhausted;
  const isFelt = ({ category }: Suspect): boolean => category === 'errors' || category === 'latency';
  const used = first(yield* follow(scene, clues, clues.suspects.filter(isUsed)));
  const felt = first(yield* follow(scene, clues, clues.suspects.filter(isFelt)));
  const known = used && felt ? (used < felt ? used : felt) : (used ?? felt);
  if (known !== undefined) return from(known);
  const others = clues.suspects.filter((suspect) => !isUsed(suspect) && !isFelt(suspect));
  return yield* mostTelling(likeliest(yield* follow(scene, clues, others)).map(from));
}

async function* follow(scene: Scene, clues: Clues, suspects: readonly Suspect[]): Step<readonly Begun[]> {
  const begun: Begun[] = [];
  for (const suspect of suspects.slice(0, followed)) {
    const found = yield* beginning(scene, suspect, clues);
    if (found?.at) begun.push({ at: found.at, z: found.z });
  }
  return begun;
}

/** How clearly changes began together at that time: a fault changes many measures at once, drift only one. */
function together(begun: readonly Begun[], at: Date): number {
  return begun.filter((one) => isClose(one.at, at)).reduce((sum, { z }) => sum + z, 0);
}

function isClose(a: Date, b: Date): boolean {
  return Math.abs(a.getTime() - b.getTime()) <= atOnce;
}

/** What follows the first change is its consequence, its end, or another matter. */
function first(begun: readonly Begun[]): Date | undefined {
  const most = Math.max(...begun.map(({ at }) => together(begun, at)));
  const [earliest] = begun
    .filter(({ at }) => together(begun, at) >= most / 2)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return earliest?.at;
}

/** The clearest beginnings, each at its earliest. */
function likeliest(begun: readonly Begun[]): readonly Date[] {
  const found: Date[] = [];
  let left = begun;
  while (found.length < thresholds.beginnings) {
    const at = first(left);
    if (at === undefined) return found;
    found.push(at);
    left = left.filter((one) => !isClose(one.at, at));
  }
  return found;
}

/** Behaviour also changes without a fault: of several candidate beginnings, takes the one that explains most changes. */
async function* mostTelling(scenes: readonly Scene[]): Step<Scene | undefined> {
  const [only] = scenes;
  if (scenes.length < 2) return only;
  let best: { readonly scene: Scene; readonly g: number } | undefined;
  for (const scene of scenes) {
    const g = (yield* behaviourOf(scene))?.changes[0]?.g ?? 0;
    if (best === undefined || g > best.g) best = { scene, g };
  }
  return best?.scene;
}

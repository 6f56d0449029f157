import type { TimeRange } from './question/time-range.ts';
import type { Scene } from './scene.ts';
import { lengthOf, usual, type Windows } from './notebook.ts';
import type { Coverage } from './steps/coverage.ts';

/** Joins of more spans take longer than anybody waits, and say no more about shares and medians. */
const mostJoined = 200_000;
/** What two hexadecimal digits tell apart. */
const parts = 256;

/**
 * How many of 256 parts of the traces are joined; undefined where it is all of them. By the rate of what was sent: in the
 * asked stretch, or over all where that is higher.
 */
export function sampleOf({ services, first, last, recent }: Coverage, windows: Windows): number | undefined {
  if (first === undefined || last === undefined) return undefined;
  const total = services.reduce((sum, { rows }) => sum + rows, 0);
  const inRecent = services.reduce((sum, service) => sum + service.recent, 0);
  const start = Math.max(recent.start.getTime(), first.getTime());
  const end = Math.min(recent.end.getTime(), last.getTime());
  const rate = Math.max(
    total / Math.max(1, lengthOf({ start: first, end: last })),
    end > start ? inRecent / (end - start) : 0,
  );
  const read = [windows.now, ...usual(windows)].reduce((sum, range) => {
    const began = Math.max(range.start.getTime(), first.getTime());
    return sum + Math.max(0, Math.min(range.end.getTime(), last.getTime()) - began);
  }, 0);
  const wanted = Math.ceil((parts * mostJoined) / Math.max(1, rate * read));
  return wanted >= parts ? undefined : wanted;
}

/** The same scene in other stretches, and as much of the traces as can be joined in these. */
export function placedIn(scene: Scene, windows: Windows, sent: Coverage): Scene {
  return { ...scene, windows, sample: sampleOf(sent, windows) };
}

/**
 * ` AND …` for the traces that are joined. Trace ids end in random digits, so their last ones tell whole traces apart in
 * every table alike; an id that is shorter than W3C's counts as taken.
 */
export function joined({ sample }: Pick<Scene, 'sample'>, column = 'trace_id'): string {
  return sample === undefined ? '' : ` AND substr(${column}, 31, 2) < '${sample.toString(16).padStart(2, '0')}'`;
}

/**
 * As much of the time as of the traces is joined, the latest of each stretch: for what reads so many columns that the engine
 * has to leave whole blocks of rows alone.
 */
export function latest(scene: Scene): Scene {
  const { sample, windows } = scene;
  if (sample === undefined) return scene;
  const cut = (range: TimeRange): TimeRange => ({
    start: new Date(range.end.getTime() - Math.ceil((lengthOf(range) * sample) / parts)),
    end: range.end,
  });
  // No stretch touches the next one any more, so all that is compared with stands apart.
  return { ...scene, windows: { now: cut(windows.now), before: undefined, references: usual(windows).map(cut) } };
}

/** For the reader: how much of the whole was joined. */
export function sampleNote(sample: number): string {
  return `There are very many spans: calls and steps were compared on ${Math.max(1, Math.round((sample / parts) * 100))} % of the traces, chosen by the end of their ids.`;
}

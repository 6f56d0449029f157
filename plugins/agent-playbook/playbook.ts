import type { Agent, AgentEvent, AgentHost, Assignment } from '../../src/contract/index.ts';
import { createNotebook } from './notebook.ts';
import type { Notebook } from './notebook.ts';
import { candidateNames, readFocus, readQuestion } from './question/question.ts';
import type { Question } from './question/question.ts';
import { askedRange, besides, compare, lookedAt, placeWindows, split } from './question/windows.ts';
import type { Asked } from './question/windows.ts';
import { beginning, lookCloser } from './closer-look.ts';
import { gatherClues } from './clues.ts';
import type { Clues } from './clues.ts';
import { exhausted } from './ranking.ts';
import type { Scene, Step } from './scene.ts';
import { coverage } from './steps/coverage.ts';
import type { Coverage } from './steps/coverage.ts';
import { exemplars } from './steps/exemplars.ts';
import { onset } from './steps/onset.ts';
import { writeAnswer } from './report/answer.ts';
import { conclude, nothingSent, reportTraces } from './report/conclude.ts';
import { writeDocument } from './report/document.ts';
import type { Report } from './report/findings.ts';

export const engine = 'playbook';

/** A deterministic investigator: asks the telemetry a fixed series of questions and follows what the answers point at. */
export function createPlaybook(host: AgentHost): Agent {
  let started = false;
  return {
    engine,
    async start(signal) {
      signal.throwIfAborted();
      started = true;
    },
    async stop() {
      started = false;
    },
    async health() {
      return started ? { ok: true } : { ok: false, detail: 'not started' };
    },
    investigate: (assignment, signal) => investigate(host, assignment, signal),
  };
}

async function* investigate(host: AgentHost, assignment: Assignment, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const notebook = createNotebook(host, assignment, signal);
  const question = readQuestion(assignment);
  const report = yield* answer(host, notebook, question, assignment);
  yield {
    type: 'conclusion',
    answer: writeAnswer(report, notebook.steps),
    conclusion: report.conclusion,
    // A request for examples is no new finding, so it leaves the document alone.
    ...(assignment.incident && question.wants === 'cause' && { document: writeDocument(report, notebook.steps) }),
  };
}

async function* answer(host: AgentHost, notebook: Notebook, question: Question, assignment: Assignment): Step<Report> {
  const asked = askedRange(question, assignment);
  const sent = yield* whatIsThere(host, notebook, question, assignment, asked);
  const focus = readFocus(
    question,
    sent.services.map(({ name }) => name),
    assignment.incident,
  );
  const placed = placeWindows(asked, sent, question);
  const first = sent.first;
  if (placed === undefined || first === undefined) return nothingSent(asked, sent, notebook);

  const said =
    question.range !== undefined && /\bwrong\b|\bfail|\bbroke|\bslow|\bdown\b/i.test(question.texts.join(' '));
  let scene: Scene = {
    notebook,
    write: host.dialect.write,
    windows: placed.windows,
    focus,
    said,
    beganAt: question.beganAt,
  };
  const notes = [...placed.notes];
  if (question.wants === 'traces') return yield* examplesOnly(scene, question, notes);
  if (scene.windows.before === undefined && scene.windows.references.length === 0) {
    const began = yield* onset({ notebook, write: scene.write, range: scene.windows.now, bad: 'failed' });
    scene = { ...scene, windows: split(scene.windows.now, began.at) };
    notes.push('There is no telemetry from before, so the later part was compared with the earlier one.');
  }
  let clues = yield* gatherClues(scene);
  const began =
    scene.windows.before === undefined && clues.suspects.length > 0 ? yield* earliest(scene, clues) : undefined;
  if (began !== undefined) {
    const now = { start: began, end: new Date(Math.min(scene.windows.now.end.getTime(), began.getTime() + aftermath)) };
    const { references } = scene.windows;
    scene = { ...scene, beganAt: began, windows: besides(now, asked.range.start, { references, beganAt: began }) };
    clues = yield* gatherClues(scene);
  }
  if (clues.suspects.length > 0 || asked.source !== 'default') return yield* close(scene, clues, notes);

  // Nothing new within the hour: what went wrong earlier and still does looks the same in both, so look further back.
  const { end } = scene.windows.now;
  const wider = compare({ start: new Date(end.getTime() - 6 * 3_600_000), end }, first);
  const isWider = wider.now.start < scene.windows.now.start && wider.before !== undefined;
  if (!isWider) return yield* close(scene, clues, notes);
  const widerScene = { ...scene, windows: wider };
  const widerClues = yield* gatherClues(widerScene);
  if (widerClues.suspects.length === 0) return yield* close(scene, clues, notes);
  notes.push('The last hour is like the hour before it, so the last six hours were looked at.');
  return yield* close(widerScene, widerClues, notes);
}

/** How many suspects are followed through time. */
const followed = 8;
/** What a thing looks like is seen soon after it began; later other things happen. */
const aftermath = 10 * 60_000;

/** Beginnings no further apart than this are one. */
const atOnce = 60_000;

/**
 * When the trouble began, by what most of the suspects show: a fault changes many things at once, and what
 * drifts changes by itself. Undefined where nothing begins within the stretch. A
 * used-up resource goes before the others: its few points are never as clear as thousands of spans.
 */
async function* earliest(scene: Scene, clues: Clues): Step<Date | undefined> {
  const used = clues.suspects.filter(({ category, excess }) => category === 'resource' && excess >= exhausted);
  for (const suspects of [used, clues.suspects.filter((suspect) => !used.includes(suspect))]) {
    const begun: { readonly at: Date; readonly z: number }[] = [];
    for (const suspect of suspects.slice(0, followed)) {
      const found = yield* beginning(scene, suspect, clues);
      if (found?.at) begun.push({ at: found.at, z: found.z });
    }
    const together = (at: Date): number =>
      begun.filter((one) => Math.abs(one.at.getTime() - at.getTime()) <= atOnce).reduce((sum, { z }) => sum + z, 0);
    const most = Math.max(...begun.map(({ at }) => together(at)));
    // What follows the first change is its consequence, its end, or another matter.
    const [first] = begun
      .filter(({ at }) => together(at) >= most / 2)
      .toSorted((a, b) => a.at.getTime() - b.at.getTime());
    if (first) return first.at;
  }
  return undefined;
}

async function* close(scene: Scene, clues: Clues, notes: readonly string[]): Step<Report> {
  const [suspect] = clues.suspects;
  const closer = suspect && (yield* lookCloser(scene, suspect, clues));
  return conclude(scene, clues, closer, notes);
}

async function* examplesOnly(scene: Scene, question: Question, notes: readonly string[]): Step<Report> {
  const { services } = scene.focus;
  const by = /\bslow/i.test(question.texts.join(' ')) ? 'slowness' : 'failures';
  const worst = yield* exemplars(scene, { services, by });
  const shown =
    worst.traces.length > 0 || by === 'slowness' ? worst : yield* exemplars(scene, { services, by: 'slowness' });
  return reportTraces(scene, shown, notes);
}

/** Spans first; logs where there are none; a month back where the last day is empty. */
async function* whatIsThere(
  { dialect: { write } }: AgentHost,
  notebook: Notebook,
  question: Question,
  assignment: Assignment,
  asked: Asked,
): Step<Coverage> {
  const candidates = candidateNames(question, assignment.incident);
  const look = (table: 'spans' | 'logs', days: number) =>
    coverage({
      notebook,
      write,
      table,
      range: lookedAt(asked, assignment.askedAt, days),
      recent: asked.range,
      candidates,
    });
  const spans = yield* look('spans', 1);
  if (spans.services.length > 0 || spans.failed) return spans;
  const logs = yield* look('logs', 1);
  if (logs.services.length > 0 || asked.source !== 'default') return logs;
  return yield* look('spans', 30);
}

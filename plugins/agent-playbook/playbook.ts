import {
  heldTo,
  type Agent,
  type AgentEvent,
  type AgentHost,
  type Assignment,
  type EarlierInvestigation,
} from '../../src/contract/agent/index.ts';
import { createNotebook, usual, type Notebook } from './notebook.ts';
import { partOf, readFocus, readQuestion, unknownOnly } from './question/question.ts';
import type { Asks, Question } from './question/asks.ts';
import { compare, isOver, placeWindows, split } from './question/windows.ts';
import { readTimeRange, type TimeRange } from './question/time-range.ts';
import { code, moment } from './sql.ts';
import { sceneOfBeginning } from './beginning.ts';
import { directly, lookAround } from './directly.ts';
import { lookCloser, onsetOf } from './closer-look.ts';
import { gatherClues, type Clues } from './clues.ts';
import { placedIn, sampleNote, sampleOf } from './sample.ts';
import type { Step, Scene } from './scene.ts';
import { changesAround } from './steps/changes.ts';
import { course } from './steps/course.ts';
import { exemplars } from './steps/exemplars.ts';
import { withLineKinds } from './steps/line-kinds.ts';
import { logPatterns } from './steps/log-patterns.ts';
import { lightestTraffic } from './steps/latency-shift.ts';
import { fewerRequests } from './steps/load.ts';
import { newFailures, onset } from './steps/onset.ts';
import { writeAnswer, writeDocument } from './report/answer.ts';
import { conclude, nothingSent } from './report/conclude.ts';
import { reportLogs, reportTraces } from './report/examples.ts';
import { type Report, readingLine } from './report/findings.ts';
import { recall, recount, smallTalk, worseOf, feltBy, gist } from './report/recall.ts';
import { needsFindings } from './report/reply.ts';

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
  const { earlier = [], askedAt, incident } = assignment;
  const { asks, isForeign } = question;
  // A model has more to say to some, and says it in the language of the question.
  const left = (isForeign || betterInProse.has(asks.kind)) && ({ unanswered: true } as const);
  const say = (answer: string): string => inEnglish(question, answer, askedAt);
  const small = smallTalk(asks, earlier);
  if (small !== undefined) return yield { type: 'answer', ...small, answer: say(small.answer) };
  const recalled = recall(asks, earlier, askedAt);
  if (recalled !== undefined) return yield { type: 'answer', answer: say(recalled), ...left };
  const [last] = earlier;
  if (last !== undefined || !needsFindings(asks)) {
    const direct = yield* directly(host, notebook, question, assignment, last);
    if (direct !== undefined) {
      return yield { type: 'answer', answer: say(direct), ...left };
    }
    const isNamed = asks.kind === 'blame' || asks.kind === 'health';
    const unknown = isNamed ? smallTalk({ kind: 'unknown' }, earlier) : undefined;
    if (unknown !== undefined) return yield { type: 'answer', ...unknown, answer: say(unknown.answer) };
  }
  const unheld = yield* answer(host, notebook, question, assignment);
  const { conclusion } = unheld.report;
  const answered = { ...unheld, report: { ...unheld.report, conclusion: heldTo(conclusion, notebook.steps) } };
  const { report, reading, looked } = answered;
  const found = { conclusion: report.conclusion, steps: notebook.steps };
  const isOfOne = asks.kind === 'investigation' && asks.of !== undefined;
  const replied =
    needsFindings(asks) || isOfOne
      ? (recount(asks, found, askedAt) ?? (yield* directly(host, notebook, question, assignment, found)))
      : undefined;
  const isKnown =
    last !== undefined && last.conclusion.service !== '' && last.conclusion.service === found.conclusion.service;
  const alone = last === undefined ? undefined : ofOne(answered, last);
  const standing = last && standsBeside(answered, last);
  const isNothing = standing !== undefined && report.conclusion.service === '';
  const written = writeAnswer(
    isNothing ? { ...report, headline: 'Beside that, nothing stands out' } : report,
    // What it rests on is there for the asking; nobody reads the same list twice.
    last === undefined ? notebook.steps : [],
    question.text,
  );
  const said = say(
    [
      reading,
      replied,
      alone,
      standing,
      written,
      isKnown ? 'The same service was found before. `why?` says what this rests on.' : undefined,
    ]
      .filter((block) => block !== undefined)
      .join('\n\n'),
  );
  const examples = asks.kind === 'traces' || asks.kind === 'logs';
  // Neither is a finding: what was found is what the next question is about.
  if ((examples && earlier.length > 0) || standing !== undefined) return yield { type: 'answer', answer: said };
  const window = looked && { start: looked.start.toISOString(), end: looked.end.toISOString() };
  yield {
    type: 'conclusion',
    answer: said,
    conclusion: { ...report.conclusion, ...(window && { window }) },
    ...(incident && !examples && { document: writeDocument(report, notebook.steps) }),
  };
}

/** Questions to which what was found is only a part of the answer. */
const betterInProse: ReadonlySet<Asks['kind']> = new Set(['summary', 'order']);

/** What the reader has to know about how the message was read. */
function inEnglish({ isForeign, isPasted, text }: Question, answer: string, today: Date): string {
  return [
    ...(isForeign ? ['I answer in English.'] : []),
    ...(isPasted && readTimeRange(text, today) === undefined
      ? ['The times in what was pasted were not taken as the time to look at; say `look at 14:00 to 14:10` for that.']
      : []),
    answer,
  ].join('\n\n');
}

/** `only checkout`, where what was found lies beneath: how it fares itself, and what it was that was found. */
function ofOne({ only, report }: Answered, last: EarlierInvestigation): string | undefined {
  const { service } = last.conclusion;
  if (only === undefined || service === '' || service === only || service === report.conclusion.service)
    return undefined;
  const { failing, slow } = worseOf(last);
  const felt = feltBy({
    failing: failing.filter((one) => one.service === only),
    slow: slow.filter((one) => one.service === only),
  });
  const how = felt.length === 0 ? `${code(only, 60)} was no worse than before.` : `${felt.slice(0, 3).join('; ')}.`;
  return `${how} What was found lies elsewhere: ${gist(last)}`;
}

const confidences = ['none', 'low', 'medium', 'high'];

/** What began earlier than what a follow-up compares shows on both sides of that, so that less or nothing stands out. */
function standsBeside({ report, only }: Answered, last: EarlierInvestigation): string | undefined {
  const { windows, conclusion } = report;
  const { onset, service, confidence } = last.conclusion;
  const isLess = confidences.indexOf(conclusion.confidence) < confidences.indexOf(confidence);
  const isOther = service !== '' && service !== conclusion.service && only === undefined;
  if (onset === undefined || windows === undefined || !isOther || !isLess) return undefined;
  const began = new Date(onset);
  return usual(windows).some(({ end }) => end > began)
    ? `What was found began before that, so it is in both of the times compared: ${gist(last)}`
    : undefined;
}

interface Answered {
  readonly report: Report;
  /** How a follow-up was understood. */
  readonly reading?: string;
  /** The service that alone is wanted. */
  readonly only?: string;
  /** The stretch that the question is about. */
  readonly looked?: TimeRange;
}

async function* answer(
  host: AgentHost,
  notebook: Notebook,
  question: Question,
  assignment: Assignment,
): Step<Answered> {
  const { asked, sent } = yield* lookAround(host, notebook, question, assignment);
  const known = sent.services.map(({ name }) => name);
  const meant = readFocus(question, known, assignment.incident);
  // No operation tells of one that sends no spans.
  const unseen = new Set(sent.services.filter(({ rows }) => rows === 0).map(({ name }) => name));
  const focus = meant.only ? meant : { ...meant, services: meant.services.filter((name) => !unseen.has(name)) };
  const placed = placeWindows(asked, sent, question, assignment.incident);
  const { first, last } = sent;
  if (placed === undefined || first === undefined || last === undefined)
    return { report: nothingSent(asked, sent, notebook) };
  const isFollowUp = question.texts.length > 1;
  const reading = isFollowUp ? readingLine(focus, placed.windows, assignment.askedAt) : undefined;
  if (reading !== undefined) yield { type: 'progress', message: reading };
  const [only] = focus.only ? focus.services : [];
  const about = {
    ...(reading !== undefined && { reading }),
    ...(only !== undefined && { only }),
    looked: placed.windows.now,
  };

  // Whether anything is wrong is asked by those who do not know it.
  const wondering = /\b(?:is|are) (?:any|every|some|all|there any)|^\s*(?:any|did|has|have|was|were)\b/i;
  const wrong = question.texts.some(
    (text) => !wondering.test(text) && /\bwrong\b|\bfail|\bbroke|\bslow|\bdown\b/i.test(text),
  );
  const isNamed = question.range !== undefined && question.range.rough === undefined;
  const said = assignment.incident !== undefined || (isNamed && wrong);
  let scene: Scene = {
    notebook,
    write: host.dialect.write,
    windows: placed.windows,
    focus,
    traced: sent.traced,
    sample: sampleOf(sent, placed.windows),
    templates: [],
    said,
    beganAt: question.beganAt,
    alertedAt: asked.source === 'named' ? undefined : assignment.incident?.detectedAt,
    until: isOver(last, asked.range.end) ? last : undefined,
    environment: assignment.incident?.environment,
  };
  const notes = [...placed.notes];
  const unknown = unknownOnly(question, known);
  if (unknown !== undefined) notes.push(`No service called ${code(unknown, 60)} has sent anything in that time.`);
  if (question.asks.kind === 'logs') {
    const { of } = question.asks;
    const named = known.find((name) => name.toLowerCase() === of) ?? (of && partOf(of, known));
    if (named) scene = { ...scene, focus: { services: [named], only: true } };
    scene = yield* withLineKinds(scene);
    return { ...about, report: reportLogs(scene, yield* logPatterns(scene), notes) };
  }
  if (question.asks.kind === 'traces') {
    return { ...about, report: yield* examplesOnly(scene, question, question.asks.one, notes) };
  }
  let halved: TimeRange | undefined;
  if (scene.windows.before === undefined && scene.windows.references.length === 0) {
    const began = yield* onset({ notebook, write: scene.write, range: scene.windows.now, bad: 'failed' });
    halved = scene.windows.now;
    const lack = first < scene.windows.now.start ? 'too little' : 'no';
    notes.push(`There is ${lack} telemetry from before, so the later part was compared with the earlier one.`);
    scene = placedIn(scene, split(scene.windows.now, began.at), sent);
  }
  let clues = yield* gatherClues(scene);
  if (halved !== undefined && clues.suspects.length === 0) {
    const { at } = yield* newFailures({ notebook, write: scene.write, range: halved });
    const apart = at && placedIn(scene, split(halved, at), sent);
    const found = apart && (yield* gatherClues(apart));
    if (apart && found && found.suspects.length > 0) [scene, clues] = [apart, found];
  }
  const [guilty] = clues.suspects;
  if (halved !== undefined && guilty !== undefined) {
    // All failures together rise later than those of the suspect began, and what came in between would count as usual.
    const at = (yield* onsetOf(scene, guilty, clues))?.at;
    const cut = at && at < scene.windows.now.start ? placedIn(scene, split(halved, at), sent) : scene;
    if (cut.windows.now.start.getTime() === at?.getTime()) {
      const again = yield* gatherClues(cut);
      if (again.suspects[0]?.service === guilty.service) [scene, clues] = [cut, again];
    }
  }
  const began =
    scene.windows.before === undefined && clues.suspects.length > 0
      ? yield* sceneOfBeginning({ ...scene, templates: clues.templates }, clues, { earliest: asked.range.start, sent })
      : undefined;
  if (began !== undefined) {
    scene = began;
    clues = yield* gatherClues(scene);
  }
  const closed = async function* (): Step<Answered> {
    return { ...about, report: yield* close(scene, clues, notes) };
  };
  if (clues.suspects.length > 0 || asked.source !== 'default') return yield* closed();

  // Nothing new within the hour: what went wrong earlier and still does looks the same in both, so look further back.
  const { end } = scene.windows.now;
  const wider = compare({ start: new Date(end.getTime() - 6 * 3_600_000), end }, first);
  const isWider = wider.now.start < scene.windows.now.start && wider.before !== undefined;
  if (!isWider) return yield* closed();
  const widerScene = placedIn(scene, wider, sent);
  const widerClues = yield* gatherClues(widerScene);
  if (widerClues.suspects.length === 0) return yield* closed();
  notes.push('The last hour is like the hour before it, so the last six hours were looked at.');
  return { ...about, looked: wider.now, report: yield* close(widerScene, widerClues, notes) };
}

async function* close(scene: Scene, clues: Clues, notes: readonly string[]): Step<Report> {
  const [suspect] = clues.suspects;
  const closer = suspect && (yield* lookCloser(scene, suspect, clues));
  const changes = yield* changesAround(scene, {
    service: suspect?.service,
    began: closer?.began,
    versions: closer?.versions,
  });
  const { before, now } = scene.windows;
  const isLight = suspect === undefined && lightestTraffic(clues.latency) !== undefined;
  const whole = isLight && before && before.end >= now.start ? { start: before.start, end: now.end } : undefined;
  const rise = whole && (yield* onset({ ...scene, range: whole, bad: 'failed' }));
  const fewer = suspect === undefined ? yield* fewerRequests(scene) : undefined;
  const trend = suspect && (yield* course(scene, clues));
  return conclude(scene, { clues, closer, changes, rise, fewer, trend }, [
    ...notes,
    ...(scene.sample === undefined ? [] : [sampleNote(scene.sample)]),
    ...(suspect === undefined || clues.basis === undefined ? [] : [basisNote(scene, clues.basis)]),
  ]);
}

function basisNote({ windows: { now } }: Scene, basis: string): string {
  return `From ${basis} alone: there are too few traces, or none, from ${moment(now.start)} to ${moment(now.end)}.`;
}

async function* examplesOnly(scene: Scene, question: Question, one: boolean, notes: readonly string[]): Step<Report> {
  const { services } = scene.focus;
  const by = /\bslow/i.test(question.texts.join(' ')) ? 'slowness' : 'failures';
  const worst = yield* exemplars(scene, { services, by });
  const shown =
    worst.traces.length > 0 || by === 'slowness' ? worst : yield* exemplars(scene, { services, by: 'slowness' });
  return reportTraces(scene, one ? { ...shown, traces: shown.traces.slice(0, 1) } : shown, notes);
}

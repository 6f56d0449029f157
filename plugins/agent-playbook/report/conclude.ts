import type { Claim } from '../../../src/contract/storage/index.ts';
import type { CloserLook } from '../closer-look.ts';
import type { Clues } from '../clues.ts';
import type { Notebook } from '../notebook.ts';
import type { Asked } from '../question/windows.ts';
import { between, code, moment } from '../sql.ts';
import type { Scene } from '../scene.ts';
import type { Coverage } from '../steps/coverage.ts';
import { describe as describeContrast } from '../steps/attribute-contrast.ts';
import { describe as describeChange, isLater, type Changes } from '../steps/changes.ts';
import { describe as describeTrace } from '../steps/exemplars.ts';
import { describe as describeLog } from '../steps/log-patterns.ts';
import { interval } from '../steps/onset.ts';
import type { Suspect } from '../suspects.ts';
import { changed, claim, neverChecked, notChecked, nothingFound, type Report, tooLate, undo } from './findings.ts';
import { nothingWrong, type Unsuspected } from './nothing-wrong.ts';
import {
  affected,
  confidenceOf,
  explains,
  headline,
  impact,
  nextSteps,
  ruledOut,
  suspicionsOf,
  unchanged,
  what,
} from './wording.ts';

/** All that was asked. */
export interface Found extends Unsuspected {
  /** At the first suspect. */
  readonly closer: CloserLook | undefined;
  /** How bad it was over time. */
  readonly trend: readonly number[] | undefined;
}

export function conclude(
  scene: Scene,
  { clues, closer, changes, rise, fewer, trend }: Found,
  notes: readonly string[],
): Report {
  const [suspect] = clues.suspects;
  if (suspect === undefined || closer === undefined) {
    return nothingWrong(scene, { clues, changes, rise, fewer }, notes);
  }
  const report = somethingWrong(scene, clues, suspect, closer, changes, notes);
  return trend === undefined ? report : { ...report, conclusion: { ...report.conclusion, trend } };
}

function somethingWrong(
  scene: Scene,
  clues: Clues,
  suspect: Suspect,
  closer: CloserLook,
  changes: Changes,
  notes: readonly string[],
): Report {
  const { windows } = scene;
  const { onset, began, versions, examples, treeId, paths } = closer;
  const [, ...others] = clues.suspects;
  const logs = clues.logs.worse.filter(({ service }) => service === suspect.service);
  const version = versions?.added.find(
    ({ service, first }) => service === suspect.service && !(began !== undefined && isLater(first, began)),
  );
  const events = [...changes.before, ...changes.during];
  const isTold = events.some((change) => change.service === version?.service && change.version === version.version);
  const released = version && `${code(version.version, 60)} of ${code(version.service, 60)}`;
  const claims: Claim[] = [
    claim(what(suspect), suspect.evidenceIds),
    ...unchanged(scene, clues),
    ...affected(clues),
    ...(onset?.at ? [claim(`It began ${interval(onset, onset.at)}`, [onset.evidenceId])] : []),
    ...shared(closer),
    ...logs.slice(0, 3).map((pattern) => claim(describeLog(pattern), [clues.logs.evidenceId])),
    ...changed(changes, began, suspect),
    ...(released && versions && !isTold
      ? [
          claim(
            `Version ${released} is new, first seen at ${moment(version.first)}; it may be the cause`,
            [versions.evidenceId],
            'hypothesis',
          ),
        ]
      : []),
    ...(examples && examples.traces.length > 0
      ? [
          claim(`For example trace ${examples.traces.slice(0, 2).map(describeTrace).join('; ')}`, [
            examples.evidenceId,
            ...(treeId === undefined ? [] : [treeId]),
          ]),
        ]
      : []),
    ...(paths ? [claim(paths.difference, paths.evidenceIds)] : []),
    // Those that it does not explain are suspects of their own.
    ...(explains(suspect) ? others : []).slice(0, 4).map((other) => {
      const status = other.category === 'errors' || other.category === 'latency' ? 'supported' : 'hypothesis';
      return claim(`It shows in this: ${what(other)}`, other.evidenceIds, status);
    }),
  ];
  const confidence = confidenceOf(scene, suspect, {
    corroborated: logs.length > 0 || version !== undefined || began !== undefined,
    traced: clues.basis === undefined,
    refuted: onset !== undefined && !onset.failed && onset.at === undefined,
  });
  return {
    conclusion: {
      root_cause: `${what(suspect)}${began ? `, since about ${moment(began)}` : ''}.`,
      category: suspect.category,
      service: suspect.service,
      confidence,
      claims,
      not_checked: notChecked(scene, changes),
      suspects: clues.named.slice(0, 8),
      suspicions: suspicionsOf(clues),
      ...(began && { onset: began.toISOString() }),
    },
    headline: headline(suspect),
    windows,
    impact: impact(clues),
    timeline: [
      ...(began ? [{ at: began, what: `the change begins: ${headline(suspect)}` }] : []),
      ...[...events, ...changes.after].slice(0, 8).map((change) => ({ at: change.at, what: describeChange(change) })),
      ...(version && !isTold ? [{ at: version.first, what: `version ${released} is first seen` }] : []),
    ].toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ruledOut: [...ruledOut(clues, closer, events.length > 0), ...tooLate(changes, began)],
    nextSteps: [...undo(changes, suspect.service), ...nextSteps(suspect, version !== undefined && !isTold)],
    openQuestions: suspect.message === '' ? [`Why does ${code(suspect.service, 60)} behave so?`] : [],
    notes,
  };
}

/** What the bad spans have in common. */
function shared({ contrasts }: CloserLook): readonly Claim[] {
  if (contrasts === undefined) return [];
  return contrasts.found.slice(0, 3).map((contrast) => claim(describeContrast(contrast), contrasts.evidenceIds));
}

/** What is said first, and what to do about it. */
function whatIsMissing(
  { range, source }: Asked,
  { failed, first, last }: Coverage,
): readonly [headline: string, next: string] {
  if (failed) return ['The telemetry could not be read', 'Ask again.'];
  if (first === undefined || last === undefined) {
    const send = 'Send telemetry first: get_ingest_config says where to and with which token.';
    return ['There is no telemetry to investigate', send];
  }
  // Without a time that was named there is a stretch to look at, but for an incident that nothing was received of.
  const ask = 'Ask again once there is newer telemetry; the Telemetry page says when each service last sent some.';
  if (source !== 'named' && last < range.end) {
    return [`No telemetry has come in since ${moment(last)}, before the incident began`, ask];
  }
  const none = `There is no telemetry ${between(range)}`;
  if (last < range.start) return [`${none}: that of all services ends at ${moment(last)}`, ask];
  return [none, `Name a time ${between({ start: first, end: last })}.`];
}

/** There is nothing to investigate: said plainly, with what there is instead. */
export function nothingSent(asked: Asked, sent: Coverage, notebook: Notebook): Report {
  const { first, last } = sent;
  const [headline, next] = whatIsMissing(asked, sent);
  return {
    ...nothingFound,
    conclusion: {
      root_cause: '',
      category: 'no_telemetry',
      service: '',
      confidence: 'none',
      claims: [claim(headline, sent.failed ? [] : [sent.evidenceId])],
      not_checked: [...notebook.unanswered, ...neverChecked],
    },
    headline,
    windows: undefined,
    nextSteps: [next],
    notes: first && last ? [`There is telemetry from ${moment(first)} to ${moment(last)}.`] : [],
  };
}

import type { Claim, Conclusion } from '../../../src/contract/storage/index.ts';
import type { CloserLook } from '../closer-look.ts';
import type { Clues } from '../clues.ts';
import { usual, type Notebook, type Windows } from '../notebook.ts';
import type { Asked } from '../question/windows.ts';
import { code, moment, names } from '../sql.ts';
import type { Scene } from '../scene.ts';
import type { Coverage } from '../steps/coverage.ts';
import { describe as describeContrast } from '../steps/attribute-contrast.ts';
import { describe as describeChange, isLater, type Changes } from '../steps/changes.ts';
import { describe as describeErrors } from '../steps/error-shift.ts';
import { describe as describeTrace } from '../steps/exemplars.ts';
import { describe as describeLatency } from '../steps/latency-shift.ts';
import { describe as describeLog, type LogPattern } from '../steps/log-patterns.ts';
import { interval } from '../steps/onset.ts';
import { describe as describeGauge } from '../steps/resources.ts';
import type { Suspect } from '../suspects.ts';
import { rate } from '../statistics.ts';
import { changed, tooLate, undo } from './changed.ts';
import { claim, nothingFound, type Report } from './findings.ts';
import { suspicionsOf } from './suspicions.ts';
import { affected, confidenceOf, explains, headline, impact, nextSteps, ruledOut, unchanged, what } from './wording.ts';

/** What this playbook does not look at, said each time. */
export const neverChecked = ['deployments and feature flags beyond service.version'];

/** All that was asked. */
export interface Found {
  readonly clues: Clues;
  /** At the first suspect. */
  readonly closer: CloserLook | undefined;
  readonly changes: Changes;
}

export function conclude(scene: Scene, { clues, closer, changes }: Found, notes: readonly string[]): Report {
  const [suspect] = clues.suspects;
  if (suspect === undefined || closer === undefined) return nothingWrong(scene, clues, changes, notes);
  return somethingWrong(scene, clues, suspect, closer, changes, notes);
}

/** What senders do not tell is not known. */
function notChecked({ notebook }: Scene, { told }: Changes): readonly string[] {
  return [...notebook.unanswered, ...(told ? [] : neverChecked)];
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

/** No service is blamed. That nothing is wrong is said where every operation was seen on both sides, and none has changed. */
function nothingWrong(scene: Scene, clues: Clues, changes: Changes, notes: readonly string[]): Report {
  const { focus, windows } = scene;
  const { errors, latency, logs, resources } = clues;
  const ids = [errors.evidenceId, ...(latency ? [latency.evidenceId] : [])];
  const whose = focus.services.length === 0 ? '' : ` in ${names(focus.services.slice(0, 5))}`;
  const failing = errors.changes.filter(({ worse }) => worse);
  const slower = latency?.changes.filter(({ worse }) => worse) ?? [];
  const compared = latency !== undefined && !latency.failed && latency.changes.length > 0;
  const claims: Claim[] = [...affected(clues)];
  if (!errors.failed && compared && failing.length === 0) {
    claims.push(claim('No operation fails more than before', [errors.evidenceId]));
  }
  if (compared && slower.length === 0) claims.push(claim('No operation is slower than before', [latency.evidenceId]));
  const steady = errors.changes.filter(({ now, before }) => now.hits >= 20 && rate(now) >= 0.05 && before.total > 0);
  for (const change of steady.filter(({ worse }) => !worse).slice(0, 3)) {
    claims.push(claim(`${describeErrors(change)}: high, but not new`, [errors.evidenceId]));
  }
  const gauges = compared || !resources ? [] : resources.changes.slice(0, 3);
  for (const gauge of gauges) claims.push(claim(describeGauge(gauge), [resources?.evidenceId ?? '']));
  const fresh = logs.worse.filter(({ isNew, isError }) => isNew && isError);
  const [log] = fresh.length > 0 ? fresh : logs.worse;
  // Where requests are seen and none fails more or is slower, lines alone are no fault.
  const blamed = log !== undefined && latency?.changes.length === 0;
  for (const pattern of logs.worse.slice(0, 5)) claims.push(claim(describeLog(pattern), [logs.evidenceId]));
  claims.push(...changed(changes, undefined));
  const moved = [
    ...failing.map(describeErrors),
    ...slower.map(describeLatency),
    ...gauges.map(describeGauge),
    ...fresh.map(describeLog),
  ];
  const conclusion: Conclusion = {
    root_cause: log ? `Only the logs have changed: ${describeLog(log)}.` : '',
    category: blamed ? 'log_errors' : 'none',
    service: blamed ? (log?.service ?? '') : '',
    confidence: blamed ? 'low' : 'none',
    claims,
    not_checked: notChecked(scene, changes),
    // Nothing stands out, yet a person reported a problem: name the services to check first.
    ...(clues.named.length > 0 && { suspects: clues.named.slice(0, 8), suspicions: suspicionsOf(clues) }),
  };
  const checked = !errors.failed && compared;
  return {
    ...nothingFound,
    conclusion,
    headline: headlineOf({ whose, log: blamed ? log : undefined, moved, checked, also: log }),
    windows,
    ruledOut: checked && moved.length === 0 ? [`More failures and more slowness than before [${ids.join(', ')}].`] : [],
    nextSteps: log
      ? [`Look at what ${code(log.service, 60)} logs: ${code(log.example)}.`]
      : ['Name a service or another time if you see something that this did not.'],
    openQuestions: moved.length > 0 ? ['What is behind this change?'] : [],
    notes: checked || usual(windows).length === 0 ? notes : [...notes, tooFew(windows)],
  };
}

interface Unblamed {
  readonly whose: string;
  /** Blamed for want of anything else. */
  readonly log: LogPattern | undefined;
  /** What has changed without a cause that was found. */
  readonly moved: readonly string[];
  readonly checked: boolean;
  readonly also: LogPattern | undefined;
}

function headlineOf({ whose, log, moved, checked, also }: Unblamed): string {
  if (log !== undefined) {
    return `${code(log.service, 60)} logs more warnings or errors than before; there are too few traces to say more`;
  }
  const [first] = moved;
  if (first !== undefined) return `Something has changed${whose}, and its cause was not found: ${first}`;
  if (!checked) return `Whether anything is wrong${whose} cannot be told: too little could be compared`;
  const lines = also ? `, though ${code(also.service, 60)} logs more warnings or errors` : '';
  return `Nothing is wrong${whose}: no operation fails more or is slower than before${lines}`;
}

function tooFew({ now }: Windows): string {
  const between = `from ${moment(now.start)} to ${moment(now.end)}`;
  return `No operation has enough traces ${between} and before to be compared: 20 on either side.`;
}

/** There is nothing to investigate: said plainly, with what there is instead. */
export function nothingSent(asked: Asked, sent: Coverage, notebook: Notebook): Report {
  const { first, last } = sent;
  const headline = sent.failed
    ? 'The telemetry could not be read'
    : first && last
      ? `There is no telemetry from ${moment(asked.range.start)} to ${moment(asked.range.end)}`
      : 'There is no telemetry to investigate';
  return {
    ...nothingFound,
    conclusion: {
      root_cause: '',
      category: 'no_telemetry',
      service: '',
      confidence: 'none',
      claims: [claim(headline, [sent.evidenceId])],
      not_checked: [...notebook.unanswered, ...neverChecked],
    },
    headline,
    windows: undefined,
    nextSteps: [
      first && last
        ? 'Name a time within that.'
        : 'Send telemetry first: get_ingest_config says where to and with which token.',
    ],
    notes: first && last ? [`There is telemetry from ${moment(first)} to ${moment(last)}.`] : [],
  };
}

import type { Claim, Conclusion } from '../../../src/contract/storage/index.ts';
import type { CloserLook } from '../closer-look.ts';
import type { Clues } from '../clues.ts';
import type { Notebook } from '../notebook.ts';
import type { Asked } from '../question/windows.ts';
import { code, moment, names } from '../sql.ts';
import type { Scene } from '../scene.ts';
import type { Coverage } from '../steps/coverage.ts';
import { describe as describeContrast } from '../steps/attribute-contrast.ts';
import { describe as describeErrors } from '../steps/error-shift.ts';
import { describe as describeTrace } from '../steps/exemplars.ts';
import { describe as describeLog } from '../steps/log-patterns.ts';
import type { Suspect } from '../suspects.ts';
import { rate } from '../statistics.ts';
import { claim, nothingFound, type Report } from './findings.ts';
import { affected, confidenceOf, headline, impact, nextSteps, ruledOut, unchanged, what } from './wording.ts';

/** What this playbook does not look at, said each time. */
export const neverChecked = ['deployments and feature flags beyond service.version'];

export function conclude(scene: Scene, clues: Clues, closer: CloserLook | undefined, notes: readonly string[]): Report {
  const [suspect] = clues.suspects;
  if (suspect === undefined || closer === undefined) return nothingWrong(scene, clues, notes);
  return somethingWrong(scene, clues, suspect, closer, notes);
}

function somethingWrong(
  scene: Scene,
  clues: Clues,
  suspect: Suspect,
  closer: CloserLook,
  notes: readonly string[],
): Report {
  const { windows } = scene;
  const { onset, versions, examples, treeId, paths } = closer;
  const [, ...others] = clues.suspects;
  const began = onset?.at ?? scene.beganAt;
  const logs = clues.logs.worse.filter(({ service }) => service === suspect.service);
  const version = versions?.added.find(({ service }) => service === suspect.service);
  const released = version && `${code(version.version, 60)} of ${code(version.service, 60)}`;
  const claims: Claim[] = [
    claim(what(suspect), suspect.evidenceIds),
    ...unchanged(scene, clues),
    ...affected(clues),
    ...(onset?.at ? [claim(`It began at about ${moment(onset.at)}`, [onset.evidenceId])] : []),
    ...shared(closer),
    ...logs.slice(0, 3).map((pattern) => claim(describeLog(pattern), [clues.logs.evidenceId])),
    ...(released && versions
      ? [
          claim(
            `Version ${released} is new${version.firstSeen ? `, first seen at ${moment(version.firstSeen)}` : ''}; it may be the cause`,
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
    ...others.slice(0, 4).map((other) => {
      const status = other.category === 'errors' || other.category === 'latency' ? 'supported' : 'hypothesis';
      return claim(`Apart from that: ${what(other)}`, other.evidenceIds, status);
    }),
  ];
  const confidence = confidenceOf(scene, suspect, logs.length > 0 || version !== undefined || began !== undefined);
  return {
    conclusion: {
      root_cause: `${what(suspect)}${began ? `, since about ${moment(began)}` : ''}.`,
      category: suspect.category,
      service: suspect.service,
      confidence,
      claims,
      not_checked: [...scene.notebook.unanswered, ...neverChecked],
      suspects: clues.named.slice(0, 8),
      ...(began && { onset: began.toISOString() }),
    },
    headline: headline(suspect),
    windows,
    impact: impact(clues),
    timeline: [
      { at: windows.now.start, what: 'the time looked at begins' },
      ...(began ? [{ at: began, what: `the change begins: ${headline(suspect)}` }] : []),
      ...(version?.firstSeen ? [{ at: version.firstSeen, what: `version ${released} is first seen` }] : []),
    ].toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ruledOut: ruledOut(clues, closer),
    nextSteps: nextSteps(suspect, version !== undefined),
    openQuestions: suspect.message === '' ? [`Why does ${code(suspect.service, 60)} behave so?`] : [],
    notes,
  };
}

/** What the bad spans have in common. */
function shared({ contrasts }: CloserLook): readonly Claim[] {
  if (contrasts === undefined) return [];
  return contrasts.found.slice(0, 3).map((contrast) => claim(describeContrast(contrast), contrasts.evidenceIds));
}

function nothingWrong(scene: Scene, clues: Clues, notes: readonly string[]): Report {
  const { focus, windows } = scene;
  const checked = !clues.errors.failed && clues.latency !== undefined && !clues.latency.failed;
  const ids = [clues.errors.evidenceId, ...(clues.latency ? [clues.latency.evidenceId] : [])];
  const whose = focus.services.length === 0 ? '' : ` in ${names(focus.services.slice(0, 5))}`;
  const claims: Claim[] = [];
  if (!clues.errors.failed) claims.push(claim('No operation fails more than before', [clues.errors.evidenceId]));
  if (clues.latency && !clues.latency.failed) {
    claims.push(claim('No operation is slower than before', [clues.latency.evidenceId]));
  }
  const steady = clues.errors.changes.filter(
    ({ now, before }) => now.hits >= 20 && rate(now) >= 0.05 && before.total > 0,
  );
  for (const change of steady.slice(0, 3)) {
    claims.push(claim(`${describeErrors(change)}: high, but not new`, [clues.errors.evidenceId]));
  }
  const [log] = clues.logs.worse;
  // Where requests are seen and none fails more or is slower, lines alone are no fault.
  const blamed = log !== undefined && clues.latency?.changes.length === 0;
  for (const pattern of clues.logs.worse.slice(0, 5)) {
    claims.push(claim(describeLog(pattern), [clues.logs.evidenceId]));
  }
  const conclusion: Conclusion = {
    root_cause: log ? `Only the logs have changed: ${describeLog(log)}.` : '',
    category: blamed ? 'log_errors' : 'none',
    service: blamed ? (log?.service ?? '') : '',
    confidence: blamed ? 'low' : 'none',
    claims,
    not_checked: [...scene.notebook.unanswered, ...neverChecked],
    // Nothing stands out, yet a person reported a problem: name the services to check first.
    ...(clues.named.length > 0 && { suspects: clues.named.slice(0, 8) }),
  };
  const headline = blamed
    ? `${code(log.service, 60)} logs more warnings or errors than before; no operation fails more or is slower`
    : checked
      ? `Nothing is wrong${whose}: no operation fails more or is slower than before${log ? `, though ${code(log.service, 60)} logs more warnings or errors` : ''}`
      : `Nothing was found${whose}, but not everything could be checked`;
  return {
    ...nothingFound,
    conclusion,
    headline,
    windows,
    ruledOut: checked ? [`More failures and more slowness than before [${ids.join(', ')}].`] : [],
    nextSteps: log
      ? [`Look at what ${code(log.service, 60)} logs: ${code(log.example)}.`]
      : ['Name a service or another time if you see something that this did not.'],
    notes,
  };
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

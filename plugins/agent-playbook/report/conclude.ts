import type { Claim, Conclusion } from '../../../src/contract/index.ts';
import type { Clues } from '../clues.ts';
import type { Notebook } from '../notebook.ts';
import type { Asked } from '../question/windows.ts';
import { code, moment, percent } from '../quote.ts';
import type { Scene } from '../scene.ts';
import type { Coverage } from '../steps/coverage.ts';
import { describe as describeErrors } from '../steps/error-shift.ts';
import { describe as describeTrace } from '../steps/exemplars.ts';
import type { Exemplars } from '../steps/exemplars.ts';
import { describe as describeLatency } from '../steps/latency-shift.ts';
import { describe as describeLog } from '../steps/log-patterns.ts';
import type { Suspect } from '../suspects.ts';
import { rate } from '../statistics.ts';
import type { Report } from './findings.ts';

/** What this playbook does not look at, said each time. */
const neverChecked = [
  'metrics (CPU, memory, queues)',
  'which attribute values (hosts, customers, routes) the failures share',
  'deployments and feature flags beyond service.version',
];

export function conclude(scene: Scene, clues: Clues, notes: readonly string[]): Report {
  const { suspect } = clues;
  return suspect === undefined ? nothingWrong(scene, clues, notes) : somethingWrong(scene, clues, suspect, notes);
}

function somethingWrong(scene: Scene, clues: Clues, suspect: Suspect, notes: readonly string[]): Report {
  const { windows } = scene;
  const began = clues.onset?.at;
  const logs = clues.logs.worse.filter(({ service }) => service === suspect.service);
  const version = clues.versions?.added.find(({ service }) => service === suspect.service);
  const claims: Claim[] = [
    { text: `${what(suspect)}.`, status: 'supported', evidence_ids: suspect.evidenceIds },
    ...unchanged(scene, clues),
    ...affected(clues),
    ...(began && clues.onset
      ? [
          {
            text: `It began at about ${moment(began)}.`,
            status: 'supported' as const,
            evidence_ids: [clues.onset.evidenceId],
          },
        ]
      : []),
    ...logs.slice(0, 3).map((pattern): Claim => ({
      text: `${describeLog(pattern)}.`,
      status: 'supported',
      evidence_ids: [clues.logs.evidenceId],
    })),
    ...(version && clues.versions
      ? [
          {
            text: `Version ${code(version.version, 60)} of ${code(version.service, 60)} is new${version.firstSeen ? `, first seen at ${moment(version.firstSeen)}` : ''}; it may be the cause.`,
            status: 'hypothesis' as const,
            evidence_ids: [clues.versions.evidenceId],
          },
        ]
      : []),
    ...(clues.examples && clues.examples.traces.length > 0
      ? [
          {
            text: `For example trace ${clues.examples.traces.slice(0, 2).map(describeTrace).join('; ')}.`,
            status: 'supported' as const,
            evidence_ids: [clues.examples.evidenceId, ...(clues.treeId === undefined ? [] : [clues.treeId])],
          },
        ]
      : []),
    ...(clues.other
      ? [
          {
            text: `Apart from that: ${what(clues.other)}.`,
            status: 'supported' as const,
            evidence_ids: clues.other.evidenceIds,
          },
        ]
      : []),
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
    },
    headline: headline(suspect),
    windows,
    impact: impact(clues),
    timeline: [
      { at: windows.now.start, what: 'the time looked at begins' },
      ...(began ? [{ at: began, what: `the change begins: ${headline(suspect)}` }] : []),
      ...(version?.firstSeen
        ? [
            {
              at: version.firstSeen,
              what: `version ${code(version.version, 60)} of ${code(version.service, 60)} is first seen`,
            },
          ]
        : []),
    ].toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ruledOut: ruledOut(clues),
    nextSteps: nextSteps(suspect, version !== undefined),
    openQuestions: suspect.message === '' ? [`Why does ${code(suspect.service, 60)} behave so?`] : [],
    notes,
  };
}

function nothingWrong(scene: Scene, clues: Clues, notes: readonly string[]): Report {
  const { focus, windows } = scene;
  const checked = !clues.errors.failed && clues.latency !== undefined && !clues.latency.failed;
  const ids = [clues.errors.evidenceId, ...(clues.latency ? [clues.latency.evidenceId] : [])];
  const whose =
    focus.services.length === 0
      ? ''
      : ` in ${focus.services
          .slice(0, 5)
          .map((name) => code(name, 60))
          .join(', ')}`;
  const claims: Claim[] = [];
  if (!clues.errors.failed) {
    claims.push({
      text: 'No operation fails more than before.',
      status: 'supported',
      evidence_ids: [clues.errors.evidenceId],
    });
  }
  if (clues.latency && !clues.latency.failed) {
    claims.push({
      text: 'No operation is slower than before.',
      status: 'supported',
      evidence_ids: [clues.latency.evidenceId],
    });
  }
  const steady = clues.errors.changes.filter(
    ({ now, before }) => now.hits >= 20 && rate(now) >= 0.05 && before.total > 0,
  );
  for (const change of steady.slice(0, 3)) {
    claims.push({
      text: `${describeErrors(change)}: high, but not new.`,
      status: 'supported',
      evidence_ids: [clues.errors.evidenceId],
    });
  }
  const [log] = clues.logs.worse;
  for (const pattern of clues.logs.worse.slice(0, 5)) {
    claims.push({ text: `${describeLog(pattern)}.`, status: 'supported', evidence_ids: [clues.logs.evidenceId] });
  }
  const conclusion: Conclusion = {
    root_cause: log ? `Only the logs have changed: ${describeLog(log)}.` : '',
    category: log ? 'log_errors' : 'none',
    service: log?.service ?? '',
    confidence: log ? 'low' : 'none',
    claims,
    not_checked: [...scene.notebook.unanswered, ...neverChecked],
  };
  const headline = log
    ? `${code(log.service, 60)} logs more warnings or errors than before; no operation fails more or is slower`
    : checked
      ? `Nothing is wrong${whose}: no operation fails more or is slower than before`
      : `Nothing was found${whose}, but not everything could be checked`;
  return {
    conclusion,
    headline,
    windows,
    impact: [],
    timeline: [],
    ruledOut: checked ? [`More failures and more slowness than before [${ids.join(', ')}].`] : [],
    nextSteps: log
      ? [`Look at what ${code(log.service, 60)} logs: ${code(log.example)}.`]
      : ['Name a service or another time if you see something that this did not.'],
    openQuestions: [],
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
  const there = first && last ? [`There is telemetry from ${moment(first)} to ${moment(last)}.`] : [];
  return {
    conclusion: {
      root_cause: '',
      category: 'no_telemetry',
      service: '',
      confidence: 'none',
      claims: [{ text: `${headline}.`, status: 'supported', evidence_ids: [sent.evidenceId] }],
      not_checked: [...notebook.unanswered, ...neverChecked],
    },
    headline,
    windows: undefined,
    impact: [],
    timeline: [],
    ruledOut: [],
    nextSteps: [
      first && last
        ? 'Name a time within that.'
        : 'Send telemetry first: get_ingest_config says where to and with which token.',
    ],
    openQuestions: [],
    notes: there,
  };
}

/** Examples, as asked for; no verdict. */
export function reportTraces(scene: Scene, examples: Exemplars, notes: readonly string[]): Report {
  const { traces, evidenceId } = examples;
  return {
    conclusion: {
      root_cause: '',
      category: 'traces',
      service: scene.focus.services[0] ?? '',
      confidence: 'none',
      claims: traces.map((trace) => ({
        text: `${describeTrace(trace)}.`,
        status: 'supported',
        evidence_ids: [evidenceId],
      })),
      not_checked: [...scene.notebook.unanswered, ...neverChecked],
    },
    headline: traces.length === 0 ? 'There is no trace to show' : `The ${traces.length} worst traces`,
    windows: scene.windows,
    impact: [],
    timeline: [],
    ruledOut: [],
    nextSteps: traces.length === 0 ? [] : ['Ask query_otel for all spans of a trace by its trace_id.'],
    openQuestions: [],
    notes,
  };
}

function headline({ service, category, dependency, moved }: Suspect): string {
  const whose = code(service, 60);
  if (moved?.because === 'way') return `Calls from ${code(moved.from, 60)} to ${whose} are slow on the way`;
  if (dependency !== '') {
    return category === 'errors'
      ? `${whose} fails when it calls ${code(dependency, 60)}`
      : `${whose} waits for ${code(dependency, 60)}`;
  }
  return category === 'errors' ? `${whose} is failing` : `${whose} is slow`;
}

/** One sentence without its full stop. */
function what(suspect: Suspect): string {
  const { service, operation, share, message, dependency, moved, category } = suspect;
  const [whose, where] = [code(service, 60), code(operation, 80)];
  if (moved?.because === 'slow') return `Calls from ${code(moved.from, 60)} fail because ${whose} is slow at ${where}`;
  if (moved) {
    return `${percent(share)} of the added time passes in calls ${where} from ${code(moved.from, 60)} to ${whose} that ${whose} itself does not spend: on the network, or in a queue or connection pool in front of it`;
  }
  if (category === 'latency') {
    const outside = dependency === '' ? '' : `, waiting for ${code(dependency, 60)}`;
    return `${percent(share)} of the added time is spent in ${whose}, most of it at ${where}${outside}`;
  }
  const outside = dependency === '' ? '' : `, in its calls to ${code(dependency, 60)}`;
  const says = message === '' ? '' : `, saying ${code(message)}`;
  return `${percent(share)} of the added failures begin in ${whose}, most of them at ${where}${outside}${says}`;
}

/** What was asked about by name and is well itself is said to be. */
function unchanged({ focus }: Scene, { errors, latency, suspect }: Clues): readonly Claim[] {
  if (errors.failed || latency === undefined || latency.failed) return [];
  const changed = new Set(
    [...errors.changes, ...latency.changes].filter(({ worse }) => worse).map(({ service }) => service),
  );
  const well = focus.services.filter((name) => name !== suspect?.service && !changed.has(name)).slice(0, 3);
  return well.map((name) => ({
    text: `${code(name, 60)} itself fails no more and is no slower than before.`,
    status: 'supported',
    evidence_ids: [errors.evidenceId, latency.evidenceId],
  }));
}

function affected({ errors, latency }: Clues): readonly Claim[] {
  const failing = errors.changes.filter(({ worse }) => worse);
  const slow = latency?.changes.filter(({ worse }) => worse) ?? [];
  const list = (lines: readonly string[]) =>
    `${lines.slice(0, 3).join('; ')}${lines.length > 3 ? `; and ${lines.length - 3} more` : ''}.`;
  return [
    ...(failing.length === 0
      ? []
      : [{ text: list(failing.map(describeErrors)), status: 'supported' as const, evidence_ids: [errors.evidenceId] }]),
    ...(slow.length === 0 || latency === undefined
      ? []
      : [{ text: list(slow.map(describeLatency)), status: 'supported' as const, evidence_ids: [latency.evidenceId] }]),
  ];
}

function impact({ errors, latency }: Clues): readonly string[] {
  return [
    ...errors.changes
      .filter(({ worse }) => worse)
      .slice(0, 8)
      .map(describeErrors),
    ...(latency?.changes.filter(({ worse }) => worse) ?? []).slice(0, 8).map(describeLatency),
  ].map((line) => `${line}.`);
}

function ruledOut({ errors, latency, logs, versions }: Clues): readonly string[] {
  const out: string[] = [];
  if (!errors.failed && !errors.changes.some(({ worse }) => worse))
    out.push(`More failures than before [${errors.evidenceId}].`);
  if (latency && !latency.failed && !latency.changes.some(({ worse }) => worse)) {
    out.push(`More slowness than before [${latency.evidenceId}].`);
  }
  if (!logs.failed && logs.worse.length === 0)
    out.push(`New or more frequent warnings and errors in the logs [${logs.evidenceId}].`);
  if (versions && !versions.failed && versions.added.length === 0)
    out.push(`A new version of a service [${versions.evidenceId}].`);
  return out;
}

/** High takes a clear majority, enough cases, something to compare with, and a second kind of evidence. */
function confidenceOf({ windows }: Scene, { share, excess }: Suspect, corroborated: boolean): Conclusion['confidence'] {
  if (windows.before === undefined) return share >= 0.5 ? 'medium' : 'low';
  if (share >= 0.6 && excess >= 15 && corroborated) return 'high';
  return share >= 0.4 && excess >= 8 ? 'medium' : 'low';
}

function nextSteps({ service, category, dependency }: Suspect, deployed: boolean): readonly string[] {
  const whose = code(service, 60);
  return [
    ...(deployed ? [`Compare the new version of ${whose} with the one before; roll back if the times agree.`] : []),
    ...(dependency === '' ? [] : [`Check ${code(dependency, 60)}, which sends no telemetry of its own.`]),
    category === 'errors'
      ? `Read the failing traces and logs of ${whose}.`
      : `See what ${whose} waits for: its database, locks, a queue or the CPU.`,
  ];
}

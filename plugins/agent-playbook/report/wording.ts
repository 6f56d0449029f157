import type { Claim, Conclusion, Suspicion } from '../../../src/contract/storage/index.ts';
import type { CloserLook } from '../closer-look.ts';
import type { Clues } from '../clues.ts';
import { code, percent, reaches } from '../sql.ts';
import type { Scene } from '../scene.ts';
import { usual, type Finding } from '../notebook.ts';
import { clearlyChanged, describe as describeBehaviour } from '../steps/behaviour.ts';
import { describe as describeErrors } from '../steps/error-shift.ts';
import { describe as describeLatency } from '../steps/latency-shift.ts';
import { describe as describeLog } from '../steps/log-patterns.ts';
import { describe as describeGauge, farFromUsual } from '../steps/resources.ts';
import type { Suspect } from '../suspects.ts';
import { claim } from './findings.ts';

/** Who is wrong and how, on one line. */
export function headline({ service, category, dependency, moved }: Suspect): string {
  const whose = code(service, 60);
  if (category === 'resource') return `${whose} is running out of a resource`;
  if (category === 'behaviour') return `${whose} behaves differently`;
  if (category === 'silence') return `${whose} has fallen silent`;
  if (moved?.because === 'often') return `${whose} calls ${code(moved.from, 60)} far more often in each request`;
  if (category === 'load') return `${whose} does far more work than before, and others wait for it`;
  if (category === 'place') return `Several services are slow or fail on ${whose} alone`;
  if (moved?.because === 'way') return `Calls from ${code(moved.from, 60)} to ${whose} are slow on the way`;
  if (dependency !== '') {
    return category === 'errors'
      ? `${whose} fails when it calls ${code(dependency, 60)}`
      : `${whose} waits for ${code(dependency, 60)}`;
  }
  return category === 'errors' ? `${whose} is failing` : `${whose} is slow`;
}

/** One sentence without its full stop. */
export function what(suspect: Suspect): string {
  const { service, operation, share, message, dependency, moved, category, detail } = suspect;
  if (detail !== undefined) return detail;
  const [whose, where] = [code(service, 60), code(operation, 80)];
  if (moved?.because === 'slow') return `Calls from ${code(moved.from, 60)} fail because ${whose} is slow at ${where}`;
  if (moved) {
    return `${percent(share)} of the added time passes in calls from ${code(moved.from, 60)} to ${whose} that ${whose} itself does not spend: on the network, or in a queue or connection pool in front of it`;
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
export function unchanged({ focus }: Scene, { errors, latency, suspects }: Clues): readonly Claim[] {
  const [suspect] = suspects;
  if (errors.failed || latency === undefined || latency.failed) return [];
  const changed = new Set(
    [...errors.changes, ...latency.changes].filter(({ worse }) => worse).map(({ service }) => service),
  );
  const well = focus.services.filter((name) => name !== suspect?.service && !changed.has(name)).slice(0, 3);
  return well.map((name) =>
    claim(`${code(name, 60)} itself fails no more and is no slower than before`, [
      errors.evidenceId,
      latency.evidenceId,
    ]),
  );
}

export function affected({ errors, latency }: Clues): readonly Claim[] {
  const failing = errors.changes.filter(({ worse }) => worse);
  const slow = latency?.changes.filter(({ worse }) => worse) ?? [];
  const list = (lines: readonly string[]) =>
    `${lines.slice(0, 3).join('; ')}${lines.length > 3 ? `; and ${lines.length - 3} more` : ''}`;
  return [
    ...(failing.length === 0 ? [] : [claim(list(failing.map(describeErrors)), [errors.evidenceId])]),
    ...(slow.length === 0 || !latency ? [] : [claim(list(slow.map(describeLatency)), [latency.evidenceId])]),
  ];
}

export function impact({ errors, latency }: Clues): readonly string[] {
  const failing = errors.changes.filter(({ worse }) => worse).slice(0, 8);
  const slow = latency?.changes.filter(({ worse }) => worse).slice(0, 8) ?? [];
  return [...failing.map(describeErrors), ...slow.map(describeLatency)].map((line) => `${line}.`);
}

/** `told`: senders told of deploys in that time, which a version that was there shortly before does not rule out. */
export function ruledOut(
  { errors, latency, logs, resources }: Clues,
  { versions }: CloserLook,
  told: boolean,
): readonly string[] {
  const gauges = resources?.changes ?? [];
  const usedUp = gauges.length === 0 || gauges.some(({ alone, z }) => alone && z >= farFromUsual);
  const asked: readonly (readonly [what: string, finding: Finding | undefined, found: boolean | undefined])[] = [
    ['More failures than before', errors, errors.changes.some(({ worse }) => worse)],
    ['More slowness than before', latency, latency?.changes.some(({ worse }) => worse)],
    ['New or more frequent warnings and errors in the logs', logs, logs.worse.length > 0],
    ['A resource that is used up', resources, usedUp],
    ['A new version of a service', versions, told || (versions && versions.added.length > 0)],
  ];
  return asked.flatMap(([what, finding, found]) =>
    finding === undefined || finding.failed || found ? [] : [`${what} [${finding.evidenceId}].`],
  );
}

/** Whether it is the cause of what others show, from outside of them. */
export function explains({ category }: Suspect): boolean {
  return category === 'silence' || category === 'load' || category === 'place';
}

/**
 * High takes a clear majority, enough cases, something to compare with, a second kind of evidence and a beginning that was found
 * where one was looked for.
 */
export function confidenceOf(
  { windows }: Scene,
  { share, excess, category, signal, evidenceIds }: Suspect,
  { corroborated, refuted, traced }: Readonly<Record<'corroborated' | 'refuted' | 'traced', boolean>>,
): Conclusion['confidence'] {
  if (!traced) return signal?.kind === 'gauge' && evidenceIds.length > 1 ? 'medium' : 'low';
  if (category === 'behaviour') return excess >= 2 * clearlyChanged && corroborated ? 'medium' : 'low';
  if (category === 'resource') return corroborated ? 'medium' : 'low';
  // That others are slow because of it, or that it ought to send something, is concluded and not seen.
  if (category === 'load' || category === 'silence') return corroborated ? 'medium' : 'low';
  if (usual(windows).length === 0) return share >= 0.5 ? 'medium' : 'low';
  if (share >= 0.6 && excess >= 15 && corroborated && !refuted) return 'high';
  return share >= 0.4 && excess >= 8 ? 'medium' : 'low';
}

export function nextSteps({ service, category, dependency, moved }: Suspect, deployed: boolean): readonly string[] {
  const whose = code(service, 60);
  if (moved?.because === 'often')
    return [
      `See what makes ${whose} call ${code(moved.from, 60)} so often: a loop, a cache that is gone, a new version.`,
    ];
  if (category === 'silence') return [`Check whether ${whose} still runs, and whether its telemetry still arrives.`];
  if (category === 'load') return [`Stop or slow down what ${whose} does more of, and see whether the others recover.`];
  if (category === 'place')
    return [`Take ${whose} out of service, and look at what runs on it and how it is connected.`];
  return [
    ...(deployed ? [`Compare the new version of ${whose} with the one before; roll back if the times agree.`] : []),
    ...(dependency === '' ? [] : [`Check ${code(dependency, 60)}, of which no span belongs to these calls.`]),
    category === 'errors'
      ? `Read the failing traces and logs of ${whose}.`
      : `See what ${whose} waits for: its database, locks, a queue or the CPU.`,
  ];
}

const most = 5;

/** The likeliest services with what speaks for and against each; who nothing speaks for is left out. */
export function suspicionsOf(clues: Clues): readonly Suspicion[] {
  const [first] = clues.suspects;
  return clues.named
    .flatMap((service) => {
      const suspect = clues.suspects.find((one) => one.service === service);
      const [why] = suspect ? [{ text: what(suspect), ids: suspect.evidenceIds }] : seen(service, clues);
      if (why === undefined) return [];
      const not = first === undefined ? undefined : against(service, first, clues);
      const reasons = { why: `${why.text}.`, ...(not !== undefined && { why_not: `${not}.` }) };
      return [{ service, ...reasons, evidence_ids: why.ids }];
    })
    .slice(0, most);
}

interface Reason {
  /** One sentence without its full stop. */
  readonly text: string;
  readonly ids: readonly string[];
}

function seen(name: string, { errors, latency, resources, behaviours, logs }: Clues): readonly Reason[] {
  const isIts = ({ service }: { readonly service: string }): boolean => service === name;
  const said = (texts: readonly string[], ids: readonly string[]) => texts.map((text): Reason => ({ text, ids }));
  return [
    ...said(errors.changes.filter((one) => one.worse && isIts(one)).map(describeErrors), [errors.evidenceId]),
    ...said(latency?.changes.filter((one) => one.worse && isIts(one)).map(describeLatency) ?? [], [
      latency?.evidenceId ?? '',
    ]),
    ...said(resources?.changes.filter(isIts).map(describeGauge) ?? [], [resources?.evidenceId ?? '']),
    ...(behaviours?.changes ?? [])
      .filter(isIts)
      .map((one): Reason => ({ text: describeBehaviour(one), ids: [one.evidenceId] })),
    ...said(logs.worse.filter(isIts).map(describeLog), [logs.evidenceId]),
  ];
}

/** Why this service is rather not the cause; undefined of the first and where nothing speaks against it. */
function against(service: string, first: Suspect, { errors, latency, gaps }: Clues): string | undefined {
  if (service === first.service) return undefined;
  const isWorse = [...errors.changes, ...(latency?.changes ?? [])].some((one) => one.worse && one.service === service);
  const compared = !errors.failed && latency !== undefined && !latency.failed;
  if (!isWorse && compared) return 'None of its operations fails more or is slower';
  const calls = reaches(gaps?.calls ?? [], service, first.service);
  const share = first.category === 'errors' ? 'added failures' : 'added time';
  if (first.category === 'errors' || first.category === 'latency') {
    const accounts = `${code(first.service, 60)} accounts for ${percent(first.share)} of the ${share}`;
    return calls ? `It calls ${code(first.service, 60)}, and ${accounts}` : accounts;
  }
  return calls ? `It calls ${code(first.service, 60)}, which changed too` : undefined;
}
